#include "agent/supervisor/supervise.h"

#include <fcntl.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/checkpoint/checkpoint_flush.h"
#include "agent/supervisor/mpirun/host_file.h"
#include "agent/supervisor/scripts/lost_epilog.h"
#include "agent/supervisor/supervisor.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/journald.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/signals.h"

namespace muster::agent {
namespace {

constexpr int kCannotWork = 1;
constexpr int kClaimedAlready = 3;

// Standard input is nothing, standard output and error are the attempt's log.
absl::Status TakeLog(const AttemptDirectory& directory) {
  const UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd log(
      open(directory.Log().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!null.valid() || !log.valid() || dup2(null.get(), STDIN_FILENO) < 0 ||
      dup2(log.get(), STDOUT_FILENO) < 0 || dup2(log.get(), STDERR_FILENO) < 0) {
    return absl::InternalError("cannot open the log " + directory.Log());
  }
  return absl::OkStatus();
}

// An order that nobody can read is an end too: the controller must hear of it.
absl::Status RecordUnreadable(const AttemptDirectory& directory, const Clock& clock,
                              const absl::Status& why) {
  JobId job;
  AttemptNumber attempt;
  RETURN_IF_ERROR(AttemptDirectory::ParseName(directory.Name(), &job, &attempt));
  ASSIGN_OR_RETURN(JournalWriter journal, JournalWriter::Open(directory.Journal(), job, attempt));
  RunEnded fact;
  fact.time = clock.Now();
  fact.cause = EndCause::kLaunchFailed;
  fact.text = std::string(why.message());
  return journal.Append(std::move(fact));
}

}  // namespace

absl::Status Supervise(const AttemptDirectory& directory, const Clock& clock, const Logger& log) {
  absl::StatusOr<SupervisorOrder> order = ReadOrder(directory.Order());
  if (!order.ok()) {
    RETURN_IF_ERROR(RecordUnreadable(directory, clock, order.status()));
    return order.status();
  }
  ASSIGN_OR_RETURN(UniqueFd signals, BlockSignals({SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT,
                                                   SIGUSR1, SIGUSR2, SIGALRM}));
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  loop->WhenHeldUp(EventLoop::kHeldUp, [&log](std::chrono::milliseconds took) {
    log.Warning("supervisor", absl::StrCat("was held up for ", took.count() / 1000,
                                           " s: the disk of the attempt is slow, or this machine"));
  });
  ASSIGN_OR_RETURN(
      JournalWriter journal,
      JournalWriter::Open(directory.Journal(), order->launch.job, order->launch.attempt));
  order->checkpoint_hints = directory.CheckpointHints();
  order->checkpoint_progress = directory.CheckpointProgress();
  std::error_code unknown;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", unknown).string();
  order->flush_program = FindFlushProgram(self);
  order->command = FindCommand(self);
  order->remote_shell = FindRemoteShell(self);
  order->hostfile = directory.Hostfile();
  order->report_socket = directory.ReportSocket();
  const LaunchOrder& launch = order->launch;
  if (launch.spec.progress_timeout > Duration(0) && launch.program.progress_path.empty() &&
      order->node_name == launch.allocation.nodes.front().name) {
    order->progress_file = directory.Progress();
  }
  Supervisor supervisor(*loop, clock, log,
                        {directory, *std::move(order), std::move(journal), std::move(signals)});
  return supervisor.Run();
}

void Detach() {
  close_range(STDERR_FILENO + 1, ~0U, 0);
  setsid();  // refused when the agent has made us a session already
  umask(077);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  HideMemory();
  IgnoreBrokenPipes();
  // The agent's session keyring would be all users': root's attempts have one each, until PAM's.
  if (geteuid() == 0) {
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  }
}

void JoinOtherSupervisors() {
  const char* group = getenv(kSupervisorsGroup);  // NOLINT(concurrency-mt-unsafe): before threads.
  if (group != nullptr) {
    WriteCgroupFile(group, "cgroup.procs", "0").IgnoreError();  // then it is in the way
  }
}

int RunAttempt(const AttemptDirectory& directory, bool epilog) {
  Detach();
  const absl::Status logged = TakeLog(directory);
  const absl::StatusOr<ProcessIdentity> self = ReadIdentity(getpid());
  const auto take = epilog ? TakeEpilogClaim : TakeClaim;
  absl::Status claimed = logged.ok() ? self.status() : logged;
  if (claimed.ok()) {
    claimed = take(directory, *self);
  }
  if (absl::IsAlreadyExists(claimed)) {
    return kClaimedAlready;
  }
  const SystemClock clock;
  Logger log(clock, STDERR_FILENO, LogLevel::kInfo, /*colour=*/false);
  JobId job;
  AttemptNumber attempt;
  std::optional<Journald> journald = Journald::OfParent();
  if (journald.has_value() && AttemptDirectory::ParseName(directory.Name(), &job, &attempt).ok()) {
    log.AlsoTo(*std::move(journald), ToString(job));
  }
  const auto work = epilog ? RunLostEpilog : Supervise;
  const absl::Status status = claimed.ok() ? work(directory, clock, log) : claimed;
  if (!status.ok()) {
    log.Error("supervisor", std::string(status.message()));
    return kCannotWork;
  }
  return 0;
}

}  // namespace muster::agent
