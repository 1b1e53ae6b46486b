// A supervisor for tests of the agent: what it does is the job's name in its order.
//
//   exits    ends at once, without a claim, saying why on its standard error
//   short    claims, starts, ends
//   serves   claims, starts, ends as cancelled when told to end
//   deaf     claims and never listens
//   family   claims, starts two ranks (one of which detaches a grandchild), records them, waits
//
// Each claim adds a line to <work dir>/starts; each rank its pid to <work dir>/ranks.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/runtime/clock.h"

namespace muster::agent {
namespace {

void AddLine(const std::string& path, const std::string& line) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const std::string text = line + "\n";
  if (write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    std::abort();
  }
}

class Script {
 public:
  Script(AttemptDirectory directory, SupervisorOrder order)
      : directory_(std::move(directory)),
        order_(std::move(order)),
        journal_(JournalWriter::Open(directory_.Journal(), order_.launch.job, order_.launch.attempt)
                     .value()) {}

  int Run() {
    const std::string script = order_.launch.spec.name;
    if (script == "exits") {
      std::fprintf(stderr, "no use for this\n");
      return 3;
    }
    if (!TakeClaim(directory_, ReadIdentity(getpid()).value()).ok()) {
      return 4;
    }
    AddLine(order_.launch.program.work_dir + "/starts", directory_.Name());
    Append(RunStarted{.time = Now(), .pid = static_cast<std::uint32_t>(getpid()), .limits = ""});
    if (script == "short") {
      End(EndCause::kExited);
    } else if (script == "serves") {
      Serve();
    } else if (script == "family") {
      StartFamily();
    }
    while (script != "short" && script != "serves") {
      pause();
    }
    return 0;
  }

 private:
  Time Now() const { return SystemClock().Now(); }

  void Append(const Fact& fact) {
    if (!journal_.Append(fact).ok()) {
      std::abort();
    }
    NotifyAgent(order_.agent_socket, directory_.Name());
  }

  void End(EndCause cause) {
    RunEnded ended;
    ended.time = Now();
    ended.cause = cause;
    Append(ended);
  }

  void Serve() {
    const UniqueFd listener = BindUnix(directory_.Control(), SOCK_SEQPACKET).value();
    const UniqueFd connection(accept(listener.get(), nullptr, nullptr));
    std::array<char, 65536> packet = {};
    if (recv(connection.get(), packet.data(), packet.size(), 0) <= 0 ||
        send(connection.get(), "ok", 2, MSG_NOSIGNAL) != 2) {
      std::abort();
    }
    End(EndCause::kCancelled);
  }

  // A rank: a session of its own whose environment names the job, as the real ones' do.
  pid_t StartRank(const std::string& command) {
    SpawnRequest request;
    request.program = "/bin/sh";
    request.arguments = {"sh", "-c", command};
    request.environment = {"PATH=/usr/bin:/bin",
                           absl::StrCat("SLURM_JOB_ID=", order_.launch.job.value()),
                           absl::StrCat("RANKS=", order_.launch.program.work_dir, "/ranks")};
    request.new_session = true;
    return Spawn(request).value();
  }

  void StartFamily() {
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    BindingRead read;
    for (const char* command :
         {"echo $$ >> $RANKS; exec sleep 1000",
          "sh -c 'echo $$ >> $RANKS; exec sleep 1000' & echo $$ >> $RANKS; wait"}) {
      RankBinding rank;
      rank.pid = static_cast<std::uint32_t>(StartRank(command));
      read.ranks.push_back(rank);
    }
    read.time = Now();
    Append(read);
  }

  const AttemptDirectory directory_;
  const SupervisorOrder order_;
  JournalWriter journal_;
};

}  // namespace
}  // namespace muster::agent

int main(int argc, char** argv) {
  if (argc != 3 || std::string_view(argv[1]) == "--prepared") {
    return 2;  // each one is executed
  }
  const muster::agent::AttemptDirectory directory(argv[2]);
  return muster::agent::Script(directory, muster::agent::ReadOrder(directory.Order()).value())
      .Run();
}
