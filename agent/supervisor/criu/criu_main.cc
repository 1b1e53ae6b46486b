// muster-criu dump|restore|try CRIU …: see criu_run.h. Only the supervisor and the agent call it.
// Exit status: 0 done, 1 CRIU failed, 2 bad usage, 3 the ids of the saved processes are taken.
#include <sys/stat.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "agent/supervisor/criu/criu_run.h"
#include "agent/supervisor/criu/criu_trial.h"

namespace {

constexpr int kBadUsage = 2;

int Fail(const absl::Status& status) {
  std::printf("%s\n", std::string(status.message()).c_str());
  return muster::agent::kCriuFailed;
}

int Dump(const std::string& criu, const std::string& directory, pid_t leader,
         std::string_view after) {
  const absl::StatusOr<muster::agent::DumpReport> report = muster::agent::DumpTree(
      criu, directory, leader,
      after == "stop" ? muster::agent::AfterDump::kStop : muster::agent::AfterDump::kRun);
  if (!report.ok()) {
    return Fail(report.status());
  }
  std::printf("%s\n", muster::agent::ToText(*report).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string verb = words.empty() ? "" : words[0];
  umask(077);
  pid_t leader = 0;
  if (verb == "dump" && words.size() == 5 && absl::SimpleAtoi(words[3], &leader) && leader > 1 &&
      (words[4] == "run" || words[4] == "stop")) {
    return Dump(words[1], words[2], leader, words[4]);
  }
  if (verb == "restore" && words.size() == 4) {
    return muster::agent::BecomeRestore(words[1], words[2], words[3]);
  }
  if (verb == "try" && (words.size() == 2 || (words.size() == 3 && words[2] == "as-user"))) {
    const absl::Status works = muster::agent::TryCriu(words[1], words.size() == 3);
    return works.ok() ? 0 : Fail(works);
  }
  std::fputs(
      "usage: muster-criu dump CRIU DIRECTORY PID run|stop\n"
      "       muster-criu restore CRIU DIRECTORY GENERATION\n"
      "       muster-criu try CRIU [as-user]\n",
      stderr);
  return kBadUsage;
}
