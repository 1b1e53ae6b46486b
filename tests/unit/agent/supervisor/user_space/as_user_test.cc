// Work in a user's own space: whose it is to those who are asked, and what becomes of it when it
// hangs.

#include "agent/supervisor/user_space/as_user.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/step_opening.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::Le;

constexpr Duration kLong{20000};

class AsUserTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) {
      GTEST_SKIP() << "SKIPPED: only root can become another user";
    }
    const passwd* const entry = getpwnam("nobody");  // NOLINT(concurrency-mt-unsafe): one thread
    if (entry == nullptr) {
      GTEST_SKIP() << "SKIPPED: there is no user nobody";
    }
    user_ = {
        .uid = entry->pw_uid, .gid = entry->pw_gid, .groups = {entry->pw_gid}, .name = "nobody"};
    ASSERT_EQ(chmod(place_.path().c_str(), 0755), 0);
  }
  // What the file says to the user's child, or why he may not read it.
  absl::StatusOr<std::string> Read(const std::string& path) {
    ASSIGN_OR_RETURN(const Brought brought,
                     RunAsUser(&user_, kLong, [&path]() -> absl::StatusOr<Brought> {
                       ASSIGN_OR_RETURN(std::string text, ReadFile(path));
                       return Brought{.descriptors = {}, .text = std::move(text)};
                     }));
    return brought.text;
  }
  JobUser user_;
  TempDirectory place_;
};

ucred PeerOf(int listener) {
  const UniqueFd peer(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  ucred credentials = {};
  socklen_t size = sizeof(credentials);
  EXPECT_EQ(getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size), 0);
  return credentials;
}

TEST_F(AsUserTest, ASocketSeesTheUserAsItsPeer) {
  const std::string path = place_ / "socket";
  const UniqueFd listener = BindUnix(path, SOCK_STREAM).value();
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  absl::StatusOr<Brought> brought = RunAsUser(
      &user_, kLong, [&] { return OpenStep({.address = "unix:" + path, .refused = true}); });
  ASSERT_TRUE(brought.ok()) << brought.status();
  ASSERT_EQ(brought->descriptors.size(), 1U);
  const ucred peer = PeerOf(listener.get());
  EXPECT_EQ(peer.uid, user_.uid);
  EXPECT_EQ(peer.gid, user_.gid);
  EXPECT_NE(peer.pid, getpid());
  EXPECT_NE(fcntl(brought->descriptors[0].get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(AsUserTest, ASocketOfRootsIsNotConnectedTo) {
  const std::string path = place_ / "socket";
  const UniqueFd listener = BindUnix(path, SOCK_STREAM).value();
  const absl::StatusOr<Brought> brought = RunAsUser(
      &user_, kLong, [&] { return OpenStep({.address = "unix:" + path, .refused = true}); });
  EXPECT_TRUE(absl::IsPermissionDenied(brought.status())) << brought.status();
  EXPECT_THAT(std::string(brought.status().message()), HasSubstr(path));
}

TEST_F(AsUserTest, TheChildHasTheUsersIdentityAndNothingElse) {
  const std::string text = Read("/proc/self/status").value();
  const std::string uid = absl::StrCat(user_.uid);
  EXPECT_THAT(text, HasSubstr(absl::StrCat("Uid:\t", uid, "\t", uid, "\t", uid, "\t", uid, "\n")));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("Groups:\t", user_.gid)));
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat(set, ":\t0000000000000000\n")));
  }
  EXPECT_THAT(text, HasSubstr("NoNewPrivs:\t1\n"));
  EXPECT_THAT(text, HasSubstr("SigBlk:\t0000000000000000\n"));
}

TEST_F(AsUserTest, AUserWhoIsYetToBeFoundIsLookedUpByTheChild) {
  const User named{user_.uid, 0, "nobody"};
  user_ = *UserToFind(named);
  EXPECT_THAT(Read("/proc/self/status").value(),
              HasSubstr(absl::StrCat("Uid:\t", named.uid, "\t", named.uid)));
  user_ = *UserToFind(User{named.uid, 0, "somebody"});
  EXPECT_THAT(std::string(Read("/proc/self/status").status().message()),
              HasSubstr("is nobody here, and somebody to the controller"));
  EXPECT_FALSE(UserToFind(User{0, 0, "root"}).has_value()) << "root's is done as we are";
}

TEST_F(AsUserTest, NoneOfOurDescriptorsReachesTheChild) {
  const UniqueFd secret(open("/etc/hostname", O_RDONLY));  // not even close-on-exec
  const absl::StatusOr<Brought> brought = RunAsUser(&user_, kLong, []() -> absl::StatusOr<Brought> {
    Brought found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      found.text += entry.path().filename().string() + " ";
    }
    return found;
  });
  ASSERT_TRUE(brought.ok()) << brought.status();
  EXPECT_EQ(std::count(brought->text.begin(), brought->text.end(), ' '), 2) << brought->text;
}

// The supervisor's memory is laid out as the child's was.
TEST_F(AsUserTest, AFileOfTheChildsInProcIsEmptyOnceItIsHandedOver) {
  absl::StatusOr<Brought> brought = RunAsUser(&user_, kLong, [] {
    return OpenStep({.work_dir = "/", .files = {{.path = "/proc/self/maps"}}});
  });
  ASSERT_TRUE(brought.ok() && brought->descriptors.size() == 1) << brought.status();
  std::array<char, 4096> bytes = {};
  EXPECT_THAT(read(brought->descriptors[0].get(), bytes.data(), bytes.size()), Le(0));
}

TEST_F(AsUserTest, AnErrorComesWithItsCodeAndItsText) {
  const absl::StatusOr<std::string> shadow = Read("/etc/shadow");
  EXPECT_TRUE(absl::IsPermissionDenied(shadow.status())) << shadow.status();
  EXPECT_THAT(std::string(shadow.status().message()), HasSubstr("/etc/shadow"));
  EXPECT_TRUE(absl::IsNotFound(Read("/no/such/file").status()));
}

TEST_F(AsUserTest, HundredsOfDescriptorsComeInTheirOrder) {
  constexpr std::size_t kMany = 300;
  absl::StatusOr<Brought> brought = RunAsUser(&user_, kLong, [] {
    StepOpening opening = {.work_dir = "/tmp"};
    for (std::size_t i = 0; i < kMany; ++i) {
      opening.files.push_back({.path = i % 2 == 0 ? "/dev/null" : "/dev/zero"});
    }
    return OpenStep(opening);
  });
  ASSERT_TRUE(brought.ok()) << brought.status();
  ASSERT_EQ(brought->descriptors.size(), kMany) << brought->text;
  for (std::size_t i = 0; i < kMany; ++i) {
    char byte = 0;
    EXPECT_EQ(read(brought->descriptors[i].get(), &byte, 1), static_cast<ssize_t>(i % 2));
  }
}

TEST_F(AsUserTest, AChildThatHangsIsEndedInTime) {
  ASSERT_EQ(mkfifo((place_ / "fifo").c_str(), 0666), 0);
  ASSERT_EQ(chmod((place_ / "fifo").c_str(), 0666), 0);
  const auto before = std::chrono::steady_clock::now();
  const absl::StatusOr<Brought> brought =
      RunAsUser(&user_, Duration(200), [&]() -> absl::StatusOr<Brought> {
        ASSIGN_OR_RETURN(const std::string text, ReadFile(place_ / "fifo"));  // waits for a writer
        return Brought{.descriptors = {}, .text = text};
      });
  EXPECT_TRUE(absl::IsDeadlineExceeded(brought.status())) << brought.status();
  EXPECT_THAT(std::string(brought.status().message()),
              HasSubstr("no answer within 0.2 s as user nobody"));
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "it is gone and was reaped";
}

TEST_F(AsUserTest, AChildThatIsKilledIsAnError) {
  const absl::StatusOr<Brought> brought = RunAsUser(&user_, kLong, []() -> absl::StatusOr<Brought> {
    kill(getpid(), SIGTERM);
    return Brought();
  });
  EXPECT_TRUE(absl::IsAborted(brought.status())) << brought.status();
}

TEST_F(AsUserTest, WhoCannotBecomeTheUserDoesNothing) {
  const pid_t pid = fork();
  if (pid == 0) {
    const bool other = setresgid(user_.gid, user_.gid, user_.gid) == 0 &&
                       setresuid(user_.uid, user_.uid, user_.uid) == 0;
    const JobUser third = {.uid = user_.uid - 1, .gid = user_.gid, .groups = {}, .name = "third"};
    const absl::StatusOr<Brought> brought =
        RunAsUser(&third, kLong, [] { return absl::StatusOr<Brought>(Brought()); });
    _exit(other && !brought.ok() &&
                  std::string(brought.status().message()).find("cannot become user third") == 0
              ? 0
              : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(status, 0);
}

class UserTaskTest : public AsUserTest {
 protected:
  // Has the loop do it, and counts how often it turned meanwhile.
  absl::Status Do(Duration limit, const UserWork& work) {
    absl::Status outcome = absl::UnknownError("never called");
    UserTask task(*loop_, &user_, limit, work, [&](absl::StatusOr<Brought> brought) {
      outcome = brought.status();
      loop_->Stop();
    });
    Tick();
    EXPECT_TRUE(loop_->Run().ok());
    return outcome;
  }
  void Tick() {
    ++ticks_;
    loop_->RunAfter(std::chrono::milliseconds(10), [this] { Tick(); });
  }
  std::unique_ptr<EventLoop> loop_ = EventLoop::Create().value();
  int ticks_ = 0;
};

TEST_F(UserTaskTest, TheLoopTurnsWhileTheChildHangs) {
  const absl::Status status = Do(Duration(300), []() -> absl::StatusOr<Brought> {
    pause();
    return Brought();
  });
  EXPECT_TRUE(absl::IsDeadlineExceeded(status)) << status;
  EXPECT_GT(ticks_, 5);
}

TEST_F(UserTaskTest, AnAnswerComesOnce) {
  EXPECT_TRUE(Do(kLong, [] { return absl::StatusOr<Brought>(Brought()); }).ok());
  EXPECT_TRUE(absl::IsNotFound(
      Do(kLong, [] { return absl::StatusOr<Brought>(absl::NotFoundError("x")); })));
}

TEST_F(UserTaskTest, AChildThatWasStoppedIsWaitedFor) {
  const std::string go = place_ / "go";
  const pid_t waker = fork();
  if (waker == 0) {  // wakes our stopped child once its limit has passed
    usleep(600'000);
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      const std::string stat = ReadFile(entry.path().string() + "/stat").value_or("");
      if (stat.find(absl::StrCat(") T ", getppid(), " ")) != std::string::npos) {
        kill(std::stoi(entry.path().filename().string()), SIGCONT);
      }
    }
    _exit(0);
  }
  const absl::Status status = Do(Duration(200), []() -> absl::StatusOr<Brought> {
    raise(SIGSTOP);
    return Brought();
  });
  EXPECT_TRUE(status.ok()) << status;
  waitpid(waker, nullptr, 0);
}

TEST_F(UserTaskTest, WhatGoesBeforeTheAnswerEndsTheChild) {
  bool called = false;
  {
    UserTask task(
        *loop_, &user_, kLong,
        []() -> absl::StatusOr<Brought> {
          pause();
          return Brought();
        },
        [&](const absl::StatusOr<Brought>&) { called = true; });
  }
  int status = 0;
  pid_t pid = 0;
  while ((pid = waitpid(-1, &status, 0)) < 0 && errno == EINTR) {
  }
  EXPECT_TRUE(pid < 0 || WIFSIGNALED(status));
  EXPECT_FALSE(called);
}

TEST(OwnUserTest, WorkOfOurOwnIsDoneHereWithoutAChild) {
  const absl::StatusOr<Brought> brought =
      RunAsUser(nullptr, kLong, [] { return absl::StatusOr<Brought>(BringValue(getpid())); });
  ASSERT_TRUE(brought.ok());
  EXPECT_EQ(ValueIn<pid_t>(*brought), getpid());
  EXPECT_EQ(ValueIn<char>(*brought), std::nullopt);
}

}  // namespace
}  // namespace muster::agent
