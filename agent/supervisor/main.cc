// muster-supervisor --dir ATTEMPT_DIRECTORY: owns one job attempt on one node until nothing of it
// is left. With --epilog instead of --dir: runs the site's epilog of one whose supervisor died.
// --sweep DIRECTORY: removes what attempts left there; --pmix DIRECTORY: serves PMIx (pmix_host.h).
// --prepared ROOM: makes copies of itself for the agent at its descriptor 3 (prepared.h); the word
// is only room for what the copies show as their arguments.
// Exit status: 0 recorded, 1 cannot work, 2 bad usage, 3 somebody else does it.
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/pmix/pmix_host.h"
#include "agent/supervisor/prepared.h"
#include "agent/supervisor/process_title.h"
#include "agent/supervisor/rehearsal.h"
#include "agent/supervisor/scripts/lost_epilog.h"
#include "agent/supervisor/supervise.h"
#include "agent/supervisor/user_space/remove_tree.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/signals.h"

namespace muster::agent {
namespace {

constexpr int kCannotWork = 1;
constexpr int kBadUsage = 2;
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

// A session of its own; every orphan of the job becomes our child; nobody debugs us but root.
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

// Leaves the agent's control group for the one that it names, if it names one: what stays in the
// agent's would be in the way of the next agent.
void JoinOtherSupervisors() {
  const char* group = getenv(kSupervisorsGroup);  // NOLINT(concurrency-mt-unsafe): before threads.
  if (group != nullptr) {
    WriteCgroupFile(group, "cgroup.procs", "0").IgnoreError();  // then it is in the way
  }
}

int Main(const AttemptDirectory& directory, bool epilog) {
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

// A copy is in the control group of the process that it is a copy of, and leaves without the
// handlers that others have left for its end: it shares their memory, and has nothing to undo.
int MakeCopies(int argc, char** argv) {
  constexpr int kAgent = STDERR_FILENO + 1;
  close_range(kAgent + 1, ~0U, 0);
  umask(077);
  HideMemory();
  IgnoreBrokenPipes();
  JoinOtherSupervisors();
  const std::string program = argv[0];
  const ProcessTitle title(argc, argv);
  title.Show({program, "--prepared"});
  if (const absl::Status status = Rehearse(); !status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return kCannotWork;
  }
  const std::optional<CopyPurpose> purpose = ServeCopies(kAgent);
  if (!purpose.has_value()) {
    return 0;
  }
  title.Show({program, purpose->what, purpose->directory});
  _exit(Main(AttemptDirectory(purpose->directory), purpose->what == "--epilog"));
}

}  // namespace
}  // namespace muster::agent

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  if (what == "--pmix") {
    return muster::agent::ServePmix(STDERR_FILENO + 1, argv[2]);
  }
  if (what == "--prepared") {
    return muster::agent::MakeCopies(argc, argv);
  }
  if ((what != "--dir" && what != "--epilog" && what != "--sweep") || *argv[2] == '\0') {
    std::fputs("usage: muster-supervisor --dir|--epilog|--sweep DIRECTORY\n", stderr);
    return muster::agent::kBadUsage;
  }
  if (what == "--sweep") {
    muster::agent::Detach();
    muster::agent::JoinOtherSupervisors();
    return muster::agent::SweepForParent(argv[2]) ? 0 : muster::agent::kCannotWork;
  }
  muster::agent::JoinOtherSupervisors();
  return muster::agent::Main(muster::agent::AttemptDirectory(argv[2]), what == "--epilog");
}
