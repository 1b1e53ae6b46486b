// Who may order an agent that has no keys: a controller of its own user's on a unix socket, and
// nobody else, whatever the address says.

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/unique_fd.h"
#include "tests/unit/agent/agent_process.h"

namespace muster::agent {
namespace {

constexpr uid_t kMallory = 61002;

class KeylessTest : public AgentProcessTest {
 protected:
  // The one line with which an agent that has been started ends; its exit status is `code`.
  std::string ExpectEnd(int code) {
    const int status = AwaitAgentExit();
    EXPECT_TRUE(WIFEXITED(status)) << status;
    EXPECT_EQ(WEXITSTATUS(status), code);
    const std::string log = ReadFile(LogPath()).value_or("");
    const std::size_t line = log.rfind("muster-agent: ");
    EXPECT_NE(line, std::string::npos) << log;
    const std::string last = line == std::string::npos ? "" : log.substr(line);
    EXPECT_EQ(last.find('\n'), last.size() - 1) << last;
    return last;
  }
  bool HasEpoch() const { return ReadFile(state() + "/epoch").ok(); }
};

TEST_F(KeylessTest, WhoHoldsAPortIsNotBelievedToBeTheController) {
  TestController fake("127.0.0.1:0");
  for (const char* host : {"127.0.0.1", "localhost", "127.0.0.1.", "127.evil.example"}) {
    StartAgent({{"--controller", absl::StrCat(host, ":", fake.port())}});
    EXPECT_THAT(ExpectEnd(2), ::testing::HasSubstr("muster keys agent node1")) << host;
  }
  EXPECT_FALSE(fake.HasRegistration());
  EXPECT_FALSE(HasEpoch());
}

TEST_F(KeylessTest, ItsOwnUsersControllerIsTaken) {
  StartAttached();
  EXPECT_TRUE(Eventually([this] { return controller_->heartbeats() >= 1; }));
  LaunchOrder order = Order(1, "short");
  order.spec.user.uid = geteuid() == 0 ? kMallory : geteuid() + 1;
  controller_->Launch(order);
  EXPECT_EQ(controller_->AwaitEnd().cause, EndCause::kLaunchFailed) << "it becomes nobody else";
  EXPECT_EQ(Starts(), 0U);
}

TEST_F(KeylessTest, AControllerThatIsNotThereYetIsWaitedFor) {
  controller_.reset();
  StartAgent();
  EXPECT_TRUE(Eventually([this] { return HasLogged("cannot reach the controller"); }));
  controller_ = std::make_unique<TestController>(address());
  EXPECT_EQ(controller_->AwaitRegistration().name(), "node1");
}

// Another user's process that listens there, and takes connections.
class Squatter {
 public:
  explicit Squatter(const std::string& path) : path_(path) {
    int ready[2] = {-1, -1};
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const bool listens = Listen();
      _exit(listens && write(ready[1], "y", 1) == 1 ? pause() : 1);
    }
    close(ready[1]);
    char word = 0;
    EXPECT_EQ(read(ready[0], &word, 1), 1);
    close(ready[0]);
  }
  ~Squatter() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  bool Listen() const {
    sockaddr_un name = {};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path_.c_str(), path_.size());
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return setresgid(kMallory, kMallory, kMallory) == 0 &&
           setresuid(kMallory, kMallory, kMallory) == 0 &&
           bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof(name)) == 0 &&
           listen(fd, 8) == 0;
  }
  const std::string path_;
  pid_t pid_ = 0;
};

TEST_F(KeylessTest, AnotherUsersSocketIsNotTheControllers) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root can become another user";
  }
  ASSERT_EQ(chmod(temp_.path().c_str(), 0777), 0);
  const std::string place = temp_ / "theirs.sock";
  const Squatter mallory(place);
  StartAgent({{"--controller", "unix:" + place}});
  EXPECT_THAT(ExpectEnd(1), ::testing::HasSubstr(absl::StrCat("uid ", kMallory)));
  // Nor does it help to have the file in another's name.
  ASSERT_EQ(chown(place.c_str(), 0, 0), 0);
  StartAgent({{"--controller", "unix:" + place}});
  EXPECT_THAT(ExpectEnd(1), ::testing::HasSubstr(absl::StrCat("uid ", kMallory)));
  EXPECT_FALSE(HasEpoch());
}

// As systemd opens one for the controller's user: root listens, and somebody else serves.
TEST_F(KeylessTest, ASocketThatRootOpenedForAnotherUserIsNotRoots) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "SKIPPED: only root can open a socket for another user";
  }
  ASSERT_EQ(chown((temp_ / "controller.sock").c_str(), kMallory, kMallory), 0);
  StartAgent();
  EXPECT_THAT(ExpectEnd(1), ::testing::HasSubstr("muster keys agent node1"));
  EXPECT_FALSE(controller_->HasRegistration());
  EXPECT_FALSE(HasEpoch());
}

}  // namespace
}  // namespace muster::agent
