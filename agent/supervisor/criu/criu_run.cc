#include "agent/supervisor/criu/criu_run.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/criu/criu_images.h"
#include "checkpoint/store/admission.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr const char* kProgram = "muster-criu";
constexpr int kCannotRun = 127;

// CRIU finds the directory by our descriptor: whatever becomes of its name meanwhile, it is the one
// that was checked. Cgroups and the session are the supervisor's to choose: the tree comes back in
// those of the CRIU that restores it.
std::vector<std::string> Arguments(const std::string& criu, const char* verb, int images,
                                   const char* log) {
  std::vector<std::string> arguments = {criu,           verb,
                                        "--images-dir", absl::StrCat("/proc/self/fd/", images),
                                        "--log-file",   log,
                                        "-v2",          "--shell-job",
                                        "--file-locks", "--manage-cgroups=ignore"};
  if (geteuid() != 0) {
    arguments.emplace_back("--unprivileged");
  }
  return arguments;
}

void Execute(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));  // exec's old signature
  }
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
}

void Inherit(int fd) {
  fcntl(fd, F_SETFD, 0);
}

// An error says how it ended.
absl::Status RunToEnd(const std::vector<std::string>& arguments) {
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) {
    return absl::ErrnoToStatus(errno, "cannot fork");
  }
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = open("/dev/null", O_WRONLY);  // what it says is in its log; output is ours
    if (getppid() == parent && dup2(null, STDOUT_FILENO) == STDOUT_FILENO) {
      Execute(arguments);
    }
    _exit(kCannotRun);
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return absl::OkStatus();
  }
  const bool killed = WIFSIGNALED(status);
  return absl::InternalError(absl::StrCat(killed ? "signal " : "exit code ",
                                          killed ? WTERMSIG(status) : WEXITSTATUS(status)));
}

// One that does not know its options leaves no log.
absl::Status WithReason(const absl::Status& status, const std::string& reason) {
  const char* const hint =
      geteuid() != 0 ? ": it may be too old to work for ordinary users (--unprivileged)" : "";
  return absl::InternalError(absl::StrCat(
      "criu dump: ", reason.empty() ? absl::StrCat(std::string(status.message()), hint) : reason));
}

// How many generations stay with the one that was just written, where the site limits what a user's
// checkpoints take. ResourceExhausted: it may not.
absl::StatusOr<std::size_t> Admit(const CriuImages& images, int next) {
  const std::string program = checkpoint::AdmissionProgram();
  if (program.empty()) {
    return CriuImages::kKept;
  }
  // The site's program works for the user, who has no such right.
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  checkpoint::KeptBeside kept;
  for (const std::uint64_t bytes : images.SizesBesideNext()) {
    kept.bytes += bytes;
    ++kept.count;
  }
  const std::string line = checkpoint::AskAdmission(program, SizeOf(next), kept, images.path());
  if (absl::StartsWith(line, checkpoint::kRefusal)) {
    return absl::ResourceExhaustedError(line.substr(std::strlen(checkpoint::kRefusal)));
  }
  return line == checkpoint::kAlone ? 1 : CriuImages::kKept;
}

}  // namespace

absl::StatusOr<DumpReport> DumpTree(const std::string& criu, const std::string& directory,
                                    pid_t leader, AfterDump after) {
  ASSIGN_OR_RETURN(CriuImages images, CriuImages::Open(directory, geteuid()));
  ASSIGN_OR_RETURN(const UniqueFd next, images.BeginNext());
  Inherit(next.get());
  std::vector<std::string> arguments = Arguments(criu, "dump", next.get(), kDumpLog);
  arguments.insert(arguments.end(),
                   {"--tree", absl::StrCat(leader), "--ghost-limit", "64M",
                    after == AfterDump::kStop ? "--leave-stopped" : "--leave-running"});
  const auto begun = std::chrono::steady_clock::now();
  const absl::Status dumped = RunToEnd(arguments);
  DumpReport report;
  report.stopped_us =
      static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                     std::chrono::steady_clock::now() - begun)
                                     .count());
  if (!dumped.ok()) {
    const std::string reason = ReasonIn(next.get(), kDumpLog);
    images.DropNext(next.get(), kDumpLog);
    return WithReason(dumped, reason);
  }
  const absl::StatusOr<std::size_t> keep = Admit(images, next.get());
  const absl::StatusOr<SavedGeneration> saved =
      keep.ok() ? images.CommitNext(next.get(), leader, *keep) : keep.status();
  if (!saved.ok()) {
    images.DropNext(next.get(), kDumpLog);
    return saved.status();
  }
  report.generation = saved->number;
  report.bytes = saved->bytes;
  return report;
}

std::string ToText(const DumpReport& report) {
  return absl::StrCat(report.generation, " ", report.bytes, " ", report.stopped_us);
}

absl::StatusOr<DumpReport> ParseDumpReport(const std::string& text) {
  const std::vector<std::string> words =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  DumpReport report;
  if (words.size() != 3 || !absl::SimpleAtoi(words[0], &report.generation) ||
      !absl::SimpleAtoi(words[1], &report.bytes) ||
      !absl::SimpleAtoi(words[2], &report.stopped_us)) {
    return absl::InternalError("it gave no reason");
  }
  return report;
}

int BecomeRestore(const std::string& criu, const std::string& directory, const std::string& name) {
  const auto say = [](const std::string& line) {
    std::fprintf(stderr, "muster-criu: %s\n", line.c_str());
  };
  const absl::StatusOr<CriuImages> images = CriuImages::Open(directory, geteuid());
  absl::StatusOr<UniqueFd> generation =
      absl::NotFoundError(absl::StrCat("no checkpoint ", directory, "/", name));
  if (!images.ok()) {
    generation = images.status();
  } else {
    for (const RestorableGeneration& each : images->Restorable()) {
      if (each.Name() == name) {
        generation = images->OpenGeneration(each);
      }
    }
  }
  if (!generation.ok()) {
    say(std::string(generation.status().message()));
    return kCriuFailed;
  }
  const std::vector<pid_t> taken = CriuImages::TakenIds(generation->get());
  if (!taken.empty()) {
    say(absl::StrCat("other processes have the ids of its processes: ",
                     absl::StrJoin(taken, ", ")));
    return kCriuIdsTaken;
  }
  Inherit(generation->get());
  std::vector<std::string> arguments = Arguments(criu, "restore", generation->get(), kRestoreLog);
  arguments.insert(arguments.end(), {"--restore-detached", "--restore-sibling"});
  Execute(arguments);
  say(std::string(absl::ErrnoToStatus(errno, absl::StrCat("cannot run ", criu)).message()));
  return kCriuFailed;
}

std::string FindCriuProgram(const std::string& ours) {
  const std::string folder = ours.substr(0, ours.rfind('/'));
  for (const char* place : {"/", "/../libexec/muster/"}) {
    std::string path = absl::StrCat(folder, place, kProgram);
    if (access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return "";
}

}  // namespace muster::agent
