// Jobs of another user than root's supervisor: what runs, and what is opened, is his.

#include "agent/supervisor/user_space/job_user.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include "agent/supervisor/launch/launch.h"
#include "agent/supervisor/limits/process_tree.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/agent/supervisor/attempt_fixture.h"

namespace muster::agent {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr const char* kName = "nobody";

class JobUserTest : public AttemptFixture {
 protected:
  void SetUp() override {
    if (geteuid() != 0) {
      GTEST_SKIP() << "SKIPPED: only root can run jobs as another user";
    }
    const passwd* const entry = getpwnam(kName);  // NOLINT(concurrency-mt-unsafe): one thread
    if (entry == nullptr) {
      GTEST_SKIP() << "SKIPPED: there is no user " << kName;
    }
    uid_ = entry->pw_uid;
    gid_ = entry->pw_gid;
    order_.launch.spec.user = {.uid = uid_, .gid = 0, .name = kName};
    ASSERT_EQ(chown(work_.path().c_str(), uid_, gid_), 0);
  }
  std::string Identity() const { return std::to_string(uid_) + " " + std::to_string(gid_); }
  uid_t uid_ = 0;
  gid_t gid_ = 0;
};

TEST_F(JobUserTest, ABatchScriptIsItsUsersForGood) {
  Batch(
      "echo $(id -u) $(id -g) $(id -ru) $(id -rg); id -G; grep NoNewPrivs /proc/self/status\n"
      "ls /proc/self/fd | wc -l; touch mine; cat " +
      directory_.Order() + "; ls " + directory_.path());
  const RunEnded ended = RunToEnd();
  EXPECT_EQ(ended.cause, EndCause::kExited) << ended.text;
  EXPECT_THAT(Output(), HasSubstr(Identity() + " " + Identity() + "\n" + std::to_string(gid_) +
                                  "\nNoNewPrivs:\t1\n4\n"));  // ls has its directory open
  EXPECT_THAT(Output(), HasSubstr("order: Permission denied"));
  EXPECT_THAT(Output(), HasSubstr("cannot open directory"));
  struct stat found = {};
  ASSERT_EQ(stat((work_ / "muster-7.out").c_str(), &found), 0);
  EXPECT_EQ(found.st_uid, uid_);
  EXPECT_EQ(found.st_gid, gid_);
}

TEST_F(JobUserTest, ARankIsItsUsersToo) {
  RunJob({"id", "-u"}, 2);
  order_.launch.program.stdout_path = "ranks.out";
  EXPECT_EQ(RunToEnd().status.code, 0);
  const std::string line = std::to_string(uid_) + "\n";
  EXPECT_EQ(Slurp(work_ / "ranks.out"), line + line);
}

TEST_F(JobUserTest, WhatTheUserMayNotWriteIsNotWrittenForHim) {
  TempDirectory roots;
  Batch("true");
  order_.launch.program.stdout_path = roots / "out";
  const RunEnded ended = RunToEnd();
  EXPECT_EQ(ended.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(ended.text, HasSubstr("Permission denied"));
  EXPECT_NE(access((roots / "out").c_str(), F_OK), 0);
}

TEST_F(JobUserTest, ALinkToAFileOfRootsIsNotWrittenThrough) {
  TempDirectory roots;
  Batch("true");
  ASSERT_EQ(symlink((roots / "secret").c_str(), (work_ / "muster-7.out").c_str()), 0);
  EXPECT_EQ(RunToEnd().cause, EndCause::kLaunchFailed);
  EXPECT_NE(access((roots / "secret").c_str(), F_OK), 0);
}

TEST_F(JobUserTest, TheWorkingDirectoryIsEnteredAsTheUser) {
  TempDirectory roots;
  Batch("pwd");
  order_.launch.program.work_dir = roots.path();
  order_.launch.program.stdout_path = work_ / "out";
  const RunEnded ended = RunToEnd();
  EXPECT_EQ(ended.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(ended.text, HasSubstr("cannot enter the working directory"));
}

TEST_F(JobUserTest, AUserWhomTheNodeDoesNotKnowStartsNothing) {
  order_.launch.spec.user = {.uid = 3999999, .gid = 0, .name = "gone"};
  Batch("touch ran");
  const RunEnded ended = RunToEnd();
  EXPECT_EQ(ended.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(ended.text, EndsWith("user 3999999 (gone) is not known here: add him, or drain the "
                                   "node"));
  EXPECT_NE(access((work_ / "ran").c_str(), F_OK), 0);
}

TEST_F(JobUserTest, AUserOfAnotherNameStartsNothing) {
  order_.launch.spec.user.name = "somebody";
  Batch("touch ran");
  const RunEnded ended = RunToEnd();
  EXPECT_EQ(ended.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(ended.text, HasSubstr(" is nobody here, and somebody to the controller"));
  EXPECT_NE(access((work_ / "ran").c_str(), F_OK), 0);
}

// The sockets that a job's user names are connected to as him: `mode` is the listener's, root's.
class WatcherOfAnotherUserTest : public JobUserTest {
 protected:
  void Listen(mode_t mode) {
    listener_ = BindUnix(work_ / "io", SOCK_STREAM | SOCK_NONBLOCK).value();
    ASSERT_EQ(chmod((work_ / "io").c_str(), mode), 0);
    RunJob({"true"}, 1);
    order_.launch.program.io = {.address = "unix:" + (work_ / "io"), .token = std::string(32, 'a')};
  }
  UniqueFd Accept() const {
    return UniqueFd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  UniqueFd listener_;
};

TEST_F(WatcherOfAnotherUserTest, SeesTheUserAndNotRoot) {
  Listen(0666);
  Start();
  UniqueFd peer;
  ASSERT_TRUE(Eventually([&] {
    peer = Accept();
    return peer.valid();
  })) << Slurp(directory_.Log());
  ucred seen = {};
  socklen_t size = sizeof(seen);
  ASSERT_EQ(getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &seen, &size), 0);
  EXPECT_EQ(seen.uid, uid_);
  EXPECT_EQ(seen.gid, gid_);
  peer.reset();
  EXPECT_EQ(Wait(), 0);
}

TEST_F(WatcherOfAnotherUserTest, IsNotReachedWhereOnlyRootMayReachIt) {
  Listen(0600);
  const RunEnded ended = RunToEnd();
  EXPECT_EQ(ended.cause, EndCause::kLaunchFailed);
  EXPECT_THAT(ended.text, HasSubstr("Permission denied"));
  EXPECT_FALSE(Accept().valid());
}

TEST_F(JobUserTest, ItsInputShowsNothingOfTheSupervisorsMemory) {
  Batch("cat 2>/dev/null");
  order_.launch.program.stdin_path = "/proc/self/maps";
  EXPECT_EQ(RunToEnd().cause, EndCause::kExited);
  EXPECT_EQ(Output(), "");
}

TEST_F(JobUserTest, AWatchedFileOfProgressIsLookedAtAsTheUser) {
  TempDirectory roots;
  ASSERT_EQ(mkdir((roots / "closed").c_str(), 0700), 0);
  order_.launch.spec.progress_timeout = Duration(1000);
  order_.launch.program.progress_path = roots / "closed/beat";
  Batch("while :; do sleep 0.1; done");
  Start();
  // It moves, but where he may not look: that is no progress.
  int beat = 0;
  EXPECT_TRUE(Eventually([&] {
    EXPECT_TRUE(WriteFileAtomically(roots / "closed/beat", std::to_string(beat++)).ok());
    return !Journal().empty() && std::holds_alternative<RunEnded>(Journal().back().fact);
  }));
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().at(0).cause, EndCause::kHung);
}

TEST_F(JobUserTest, AnMpiStepOfAnotherUserIsOneWorld) {
  if (access(MUSTER_MPI_RING, X_OK) != 0) {
    GTEST_SKIP() << "SKIPPED: no " << MUSTER_MPI_RING;
  }
  const std::string program = work_ / "mpi_ring";
  ASSERT_EQ(std::system(("cp " MUSTER_MPI_RING " " + program).c_str()), 0);  // NOLINT
  RunJob({program}, 2);
  order_.module_dir = MUSTER_PMIX_DIRECTORY;
  order_.launch.program.mpi = MpiFlavour::kPmix;
  order_.launch.program.stdout_path = "ring.out";
  const RunEnded ended = RunToEnd();
  EXPECT_EQ(ended.status.code, 0) << ended.text << Slurp(work_ / "ring.out");
  EXPECT_THAT(Slurp(work_ / "ring.out"), HasSubstr("2"));
}

// The supervisor's pid and those below it that have loaded libpmix.
std::vector<std::string> WithLibpmix(pid_t supervisor) {
  std::vector<std::string> pids = {std::to_string(supervisor)};
  for (const pid_t pid : Descendants(supervisor)) {
    pids.push_back(std::to_string(pid));
  }
  std::erase_if(pids, [](const std::string& pid) {
    const absl::StatusOr<std::string> maps = ReadFile("/proc/" + pid + "/maps");
    return !maps.ok() || maps->find("libpmix") == std::string::npos;
  });
  return pids;
}

TEST_F(JobUserTest, WhatRanksSayToPmixIsReadByTheirUserAndNotByRoot) {
  if (access(MUSTER_MPI_RING, X_OK) != 0) {
    GTEST_SKIP() << "SKIPPED: no " << MUSTER_MPI_RING;
  }
  const std::string program = work_ / "mpi_ring";
  ASSERT_EQ(std::system(("cp " MUSTER_MPI_RING " " + program).c_str()), 0);  // NOLINT
  RunJob({"sh", "-c", "echo $$ > pid$RANK; exec " + program + " --hang"}, 2);
  order_.module_dir = MUSTER_PMIX_DIRECTORY;
  order_.launch.program.mpi = MpiFlavour::kPmix;
  order_.launch.program.stdout_path = "ring.out";
  Start();
  ASSERT_TRUE(Eventually([&] {
    const std::string said = Slurp(work_ / "ring.out");
    return said.find("rank 0") != std::string::npos && said.find("rank 1") != std::string::npos;
  }));
  const std::vector<std::string> speakers = WithLibpmix(supervisor_);
  EXPECT_EQ(speakers.size(), 3U) << "two ranks, and who serves them";
  const std::string ids = std::to_string(uid_);
  for (const std::string& pid : speakers) {
    const absl::StatusOr<std::string> status = ReadFile("/proc/" + pid + "/status");
    ASSERT_TRUE(status.ok()) << status.status();
    EXPECT_THAT(*status, HasSubstr("Uid:\t" + ids + "\t" + ids + "\t" + ids + "\t" + ids + "\n"));
    for (const char* set : {"CapPrm", "CapEff", "CapInh", "CapAmb"}) {
      EXPECT_THAT(*status, HasSubstr(std::string(set) + ":\t0000000000000000"));
    }
    EXPECT_THAT(*status, HasSubstr("NoNewPrivs:\t1"));
  }
  kill(static_cast<pid_t>(std::stoi(Slurp(work_ / "pid1"))), SIGKILL);
  EXPECT_EQ(Wait(), 0);
  EXPECT_EQ(Facts<RunEnded>().at(0).status.signal, SIGKILL);
}

// A child that is not root tries to start one as another user; what it hears of it is its code.
int StageOfAFailedChange(uid_t uid) {
  const pid_t pid = fork();
  if (pid == 0) {
    const JobUser other{.uid = uid + 1, .gid = 1, .groups = {}, .name = "other"};
    LaunchRequest request;
    request.programs = {"/bin/true"};
    request.arguments = {"true"};
    request.work_dir = "/";
    request.standard_input = request.standard_output = request.standard_error = STDERR_FILENO;
    request.user = &other;
    const bool is_other = setgid(uid) == 0 && setuid(uid) == 0;
    absl::StatusOr<LaunchedChild> child = Launch(request);
    if (!is_other || !child.ok()) {
      _exit(99);
    }
    waitpid(child->pid, nullptr, 0);
    std::string said(4096, '\0');
    const ssize_t got = read(child->said.get(), said.data(), said.size());
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    _exit(static_cast<int>(ParseOutcome(said).failed_at));
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WEXITSTATUS(status);
}

TEST_F(JobUserTest, WhoCannotBecomeTheUserRunsNothing) {
  EXPECT_EQ(StageOfAFailedChange(uid_), static_cast<int>(LaunchStage::kUser));
}

// Has the kernel answer one call with `error` (0: as if it had been done) from now on.
bool Refuse(int call, int error) {
  std::array<sock_filter, 4> filter = {
      {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Whether a child of ours believes that it became the user, where the kernel answers so.
bool BecomesWhere(int call, int error, const JobUser& user) {
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(!Refuse(call, error) ? 2 : BecomeForGood(user) ? 1 : 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_NE(WEXITSTATUS(status), 2) << "no seccomp here";
  return WEXITSTATUS(status) == 1;
}

TEST_F(JobUserTest, NoFailedOrPretendedChangeOfIdentityIsTakenForOne) {
  const JobUser user{.uid = uid_, .gid = gid_, .groups = {gid_}, .name = kName};
  EXPECT_TRUE(BecomesWhere(SYS_getcpu, EPERM, user)) << "nothing of it was refused";
  for (const int call : {SYS_setgroups, SYS_setresgid, SYS_setresuid}) {
    EXPECT_FALSE(BecomesWhere(call, EPERM, user)) << call;
    EXPECT_FALSE(BecomesWhere(call, EAGAIN, user)) << call;
  }
  EXPECT_FALSE(BecomesWhere(SYS_setresgid, 0, user));
  EXPECT_FALSE(BecomesWhere(SYS_setresuid, 0, user));
}

TEST_F(JobUserTest, WhereTheUserHasTooManyProcessesNothingRunsAsRootInstead) {
  const pid_t pid = fork();
  if (pid == 0) {
    const rlimit none = {0, 0};
    const JobUser user{.uid = uid_, .gid = gid_, .groups = {gid_}, .name = kName};
    LaunchRequest request;
    request.programs = {"/usr/bin/test"};
    request.arguments = {"test", "-O", work_.path()};  // is it ours: whose are we?
    request.work_dir = "/";
    request.standard_input = request.standard_output = request.standard_error = STDERR_FILENO;
    request.user = &user;
    absl::StatusOr<LaunchedChild> child =
        setrlimit(RLIMIT_NPROC, &none) == 0 ? Launch(request) : absl::UnknownError("no limit");
    if (!child.ok()) {
      _exit(99);
    }
    int status = -1;
    waitpid(child->pid, &status, 0);
    std::string said;  // in as many writes as the child had to say things
    std::array<char, 4096> part = {};
    for (ssize_t got = 0; (got = read(child->said.get(), part.data(), part.size())) > 0;) {
      said.append(part.data(), static_cast<std::size_t>(got));
    }
    // Some kernels refuse the exec; those that do not have it run as the user.
    _exit(ParseOutcome(said).error == EAGAIN || status == 0 ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace muster::agent
