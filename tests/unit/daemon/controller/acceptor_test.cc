#include "daemon/door/acceptor.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/door/listening_socket.h"
#include "daemon/door/socket_facts.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr int kPatienceMs = 20'000;

UniqueFd ConnectTo(int port) {
  UniqueFd caller(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(caller.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    caller.reset();
  }
  return caller;
}

UniqueFd ConnectTo(const std::string& path) {
  UniqueFd caller(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  if (connect(caller.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    caller.reset();
  }
  return caller;
}

void Say(const UniqueFd& caller, std::string_view text) {
  EXPECT_EQ(send(caller.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

// What can be read within the wait: the text, or "closed", or "nothing".
std::string Hear(const UniqueFd& caller, int wait_ms) {
  pollfd ready{caller.get(), POLLIN, 0};
  if (poll(&ready, 1, wait_ms) == 0) {
    return "nothing";
  }
  char text[64];
  const ssize_t got = recv(caller.get(), text, sizeof(text), 0);
  return got <= 0 ? "closed" : std::string(text, static_cast<std::size_t>(got));
}

std::string PeerOf(const UniqueFd& caller) {
  sockaddr_storage own{};
  socklen_t size = sizeof(own);
  getsockname(caller.get(), reinterpret_cast<sockaddr*>(&own), &size);
  return "ipv4:" + PeerText(own);
}

class AcceptorTest : public ::testing::Test {
 protected:
  void Open(const ConnectionLimits& limits, Acceptor::Kind kind = Acceptor::Kind::kPlain) {
    acceptor_ = std::make_unique<Acceptor>(log_, clock_, limits);
    std::vector<UniqueFd> sockets = ListenOn("127.0.0.1:0").value();
    port_ = PortOf(sockets.front());
    acceptor_->Add(std::move(sockets.front()), kind, [this](UniqueFd caller) {
      const MutexLock lock(&mutex_);
      taken_.push_back(std::move(caller));
    });
    ASSERT_TRUE(acceptor_->Start().ok());
  }
  void TearDown() override { acceptor_->Stop(); }

  UniqueFd Call(std::string_view first = kPreface) {
    UniqueFd caller = ConnectTo(port_);
    EXPECT_TRUE(caller.valid());
    Say(caller, first);
    return caller;
  }
  std::size_t Taken() {
    const MutexLock lock(&mutex_);
    return taken_.size();
  }
  bool AwaitTaken(std::size_t count) {
    for (int i = 0; i < kPatienceMs / 5 && Taken() < count; ++i) {
      usleep(5'000);
    }
    return Taken() == count;
  }
  // What gRPC would read of a connection that it was given.
  std::string Read(std::size_t index) {
    const MutexLock lock(&mutex_);
    char text[256];
    const ssize_t got = recv(taken_[index].get(), text, sizeof(text), MSG_DONTWAIT);
    return got <= 0 ? "" : std::string(text, static_cast<std::size_t>(got));
  }

  const SystemClock clock_;
  const Logger log_{clock_, STDERR_FILENO, LogLevel::kError, false};
  Mutex mutex_;
  std::vector<UniqueFd> taken_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Acceptor> acceptor_;
  int port_ = 0;
};

ConnectionLimits Short() {
  ConnectionLimits limits;
  limits.deadline = milliseconds(400);
  return limits;
}

TEST_F(AcceptorTest, WhoSaysNothingIsGivenToNobodyAndClosedAtTheDeadline) {
  Open(Short());
  const UniqueFd silent = ConnectTo(port_);
  EXPECT_EQ(Hear(silent, kPatienceMs), "closed");
  EXPECT_EQ(Taken(), 0U);
  EXPECT_EQ(acceptor_->counts().turned_away, 1U);
}

TEST_F(AcceptorTest, ACallersFirstBytesAreGivenOnUnread) {
  Open({});
  const UniqueFd caller = Call();
  ASSERT_TRUE(AwaitTaken(1));
  EXPECT_EQ(Read(0), kPreface);
  EXPECT_THAT(acceptor_->Strangers(), ElementsAre(PeerOf(caller).substr(5)));
}

TEST_F(AcceptorTest, FirstBytesThatComeInPiecesAreWaitedFor) {
  Open({}, Acceptor::Kind::kTls);
  const std::string record = std::string("\x16\x03\x01\x01\x00", 5) + std::string(256, 'h');
  const UniqueFd caller = Call(record.substr(0, 3));
  EXPECT_EQ(Hear(caller, 50), "nothing");
  Say(caller, record.substr(3, 100));
  EXPECT_EQ(Hear(caller, 50), "nothing");
  EXPECT_EQ(Taken(), 0U);
  Say(caller, record.substr(103));
  ASSERT_TRUE(AwaitTaken(1));
  EXPECT_EQ(Read(0), record.substr(0, 256));
}

TEST_F(AcceptorTest, WhoDoesNotSpeakTheLanguageOfTheAddressIsClosedAtOnce) {
  Open({}, Acceptor::Kind::kTls);
  for (const char* first :
       {"GET / HTTP/1.1\r\n", kPreface, "\x16\x02xxxx", "\x16\x03\x01\xff\xff"}) {
    EXPECT_EQ(Hear(Call(first), kPatienceMs), "closed") << first;
  }
  EXPECT_EQ(Taken(), 0U);
}

TEST_F(AcceptorTest, WhoWaitedLongestMakesRoomForTheNextOfHisSource) {
  ConnectionLimits limits;
  limits.strangers_of_source = 8;
  Open(limits);
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 20; ++i) {
    silent.push_back(ConnectTo(port_));
    ASSERT_TRUE(silent.back().valid());
  }
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(Hear(silent[i], kPatienceMs), "closed") << i;
  }
  for (std::size_t i = 12; i < 20; ++i) {
    EXPECT_EQ(Hear(silent[i], 0), "nothing") << i;
  }
  const UniqueFd caller = Call();
  EXPECT_TRUE(AwaitTaken(1)) << "and a caller is served among them";
}

TEST_F(AcceptorTest, AKnownCallerStaysAndTakesNoStrangersPlace) {
  ConnectionLimits limits = Short();
  limits.greeted_of_source = 2;
  limits.failures_at_once = 2;
  limits.failures_per_second = 0;
  Open(limits);
  std::vector<UniqueFd> callers;
  for (std::size_t i = 1; i <= 6; ++i) {
    callers.push_back(Call());
    ASSERT_TRUE(AwaitTaken(i));
    EXPECT_TRUE(acceptor_->Know(PeerOf(callers.back()), "uid 1"));
  }
  EXPECT_THAT(acceptor_->Strangers(), IsEmpty());
  Say(callers[0], std::string(100'000, 'x'));
  usleep(800'000);
  for (const UniqueFd& caller : callers) {
    EXPECT_EQ(Hear(caller, 0), "nothing");
  }
  EXPECT_EQ(acceptor_->counts().turned_away, 0U);
}

TEST_F(AcceptorTest, OneCallerHasSoManyConnectionsAndKeepsNoOtherOut) {
  ConnectionLimits limits;
  limits.of_caller = 3;
  Open(limits);
  std::vector<UniqueFd> callers;
  const auto call = [&](const std::string& who) {
    callers.push_back(Call());
    EXPECT_TRUE(AwaitTaken(callers.size()));
    return acceptor_->Know(PeerOf(callers.back()), who);
  };
  EXPECT_TRUE(call("uid 1") && call("uid 1") && call("uid 1"));
  EXPECT_FALSE(call("uid 1"));
  EXPECT_EQ(Hear(callers[3], kPatienceMs), "closed") << "a moment later";
  EXPECT_TRUE(call("uid 2"));
  EXPECT_EQ(Hear(callers[0], 0), "nothing");
  callers[0].reset();
  {
    const MutexLock lock(&mutex_);
    taken_[0].reset();  // as gRPC does
  }
  bool again = false;
  for (int i = 0; i < 100 && !again; ++i) {
    usleep(50'000);
    again = call("uid 1");
  }
  EXPECT_TRUE(again) << "one of the three has ended";
}

TEST_F(AcceptorTest, WhoIsNotKnownByTheDeadlineIsClosedForGrpcToo) {
  Open(Short());
  const UniqueFd caller = Call();
  ASSERT_TRUE(AwaitTaken(1));
  EXPECT_EQ(Hear(caller, kPatienceMs), "closed");
  EXPECT_EQ(Read(0), kPreface);
  EXPECT_EQ(Read(0), "") << "the end";
  EXPECT_THAT(acceptor_->Strangers(), IsEmpty());
}

TEST_F(AcceptorTest, AStrangerWhoSendsTooMuchIsClosed) {
  Open({});
  const UniqueFd modest = Call();
  ASSERT_TRUE(AwaitTaken(1));
  const UniqueFd caller = Call();
  ASSERT_TRUE(AwaitTaken(2));
  Say(modest, std::string(60'000, 'x'));
  Say(caller, std::string(70'000, 'x'));
  EXPECT_EQ(Hear(caller, kPatienceMs), "closed");
  EXPECT_EQ(Read(1), "") << "what was too much is not read any more";
  EXPECT_EQ(Hear(modest, 100), "nothing");
}

TEST_F(AcceptorTest, ASourceWhoseCallersTurnOutToBeNobodyWaits) {
  ConnectionLimits limits;
  limits.failures_at_once = 3;
  limits.failures_per_second = 0.001;
  Open(limits);
  for (std::size_t i = 1; i <= 3; ++i) {
    const UniqueFd caller = Call();
    ASSERT_TRUE(AwaitTaken(i));
  }
  const UniqueFd fourth = Call();
  EXPECT_EQ(Hear(fourth, 300), "nothing");
  EXPECT_EQ(Taken(), 3U);
  if (geteuid() != 0) {
    return;  // only root can become the other source
  }
  const pid_t other = fork();
  if (other == 0) {
    const bool is = setresuid(61'002, 61'002, 61'002) == 0;
    const UniqueFd caller = Call();
    _exit(is && Hear(caller, kPatienceMs) == "closed" ? 0 : 1);
  }
  EXPECT_TRUE(AwaitTaken(4)) << "another user of this machine is another source";
  acceptor_->Stop();
  int status = -1;
  waitpid(other, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(AcceptorTest, WhoWasGreetedLongAgoMakesRoomForWhoWaits) {
  ConnectionLimits limits;
  limits.greeted_of_source = 2;
  limits.patience = milliseconds(200);
  Open(limits);
  const UniqueFd first = Call();
  const UniqueFd second = Call();
  ASSERT_TRUE(AwaitTaken(2));
  const UniqueFd third = Call();
  ASSERT_TRUE(AwaitTaken(3));
  EXPECT_EQ(Hear(first, kPatienceMs), "closed");
  EXPECT_EQ(Hear(second, 0), "nothing");
}

// A process with few descriptors that answers everybody with "hi".
class FewDescriptorsTest : public ::testing::Test {
 protected:
  static constexpr rlim_t kFew = 64;

  void Serve(const ConnectionLimits& limits) {
    std::vector<UniqueFd> tcp = ListenOn("127.0.0.1:0").value();
    std::vector<UniqueFd> local = ListenOn(absl::StrCat("unix:", path_)).value();
    port_ = PortOf(tcp.front());
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ != 0) {
      return;
    }
    const rlimit few{kFew, kFew};
    setrlimit(RLIMIT_NOFILE, &few);
    const SystemClock clock;
    const Logger log(clock, STDERR_FILENO, LogLevel::kError, false);
    Acceptor acceptor(log, clock, limits);
    const auto answer = [](UniqueFd caller) {
      [[maybe_unused]] const ssize_t sent = send(caller.get(), "hi", 2, MSG_NOSIGNAL);
      shutdown(caller.get(), SHUT_WR);
    };
    acceptor.Add(std::move(tcp.front()), Acceptor::Kind::kPlain, answer);
    acceptor.Add(std::move(local.front()), Acceptor::Kind::kUnix, answer);
    if (!acceptor.Start().ok()) {
      _exit(1);
    }
    pause();
  }
  void TearDown() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  std::size_t Descriptors() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(absl::StrCat("/proc/", child_, "/fd"))) {
      ++count;
    }
    return count;
  }
  void FloodAndLook() {
    for (int round = 0; round < 3; ++round) {
      std::vector<UniqueFd> silent;
      for (int i = 0; i < 300; ++i) {
        silent.push_back(ConnectTo(port_));
      }
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(Hear(ConnectTo(path_), kPatienceMs), "hi") << "round " << round;
      }
      const UniqueFd caller = ConnectTo(port_);
      Say(caller, kPreface);
      EXPECT_EQ(Hear(caller, kPatienceMs), "hi") << "round " << round;
    }
    const UniqueFd caller = ConnectTo(port_);
    Say(caller, kPreface);
    EXPECT_EQ(Hear(caller, kPatienceMs), "hi") << "after the flood";
    for (int i = 0; i < kPatienceMs / 10 && Descriptors() > kFew / 2; ++i) {
      usleep(10'000);
    }
    EXPECT_LE(Descriptors(), kFew / 2);
  }

  const TempDirectory directory_;
  const std::string path_ = directory_ / "s";
  int port_ = 0;
  pid_t child_ = -1;
};

TEST_F(FewDescriptorsTest, TheUnixSocketIsServedDuringAFloodAndEverybodyAfterIt) {
  Serve({});
  FloodAndLook();
}

TEST_F(FewDescriptorsTest, RunningOutOfDescriptorsPassesToo) {
  ConnectionLimits none;
  none.strangers = 100'000;
  none.strangers_of_source = 100'000;
  none.descriptors_kept = 0;
  none.descriptors_of_unix = 0;
  Serve(none);
  FloodAndLook();
}

TEST(SocketFactsTest, AnAddressIsWrittenAsGrpcsIsRead) {
  for (const auto& [grpc, plain] : std::vector<std::pair<std::string, std::string>>{
           {"ipv4:192.0.2.7:4711", "192.0.2.7:4711"},
           {"ipv6:%5B2001:db8::1%5D:4711", "[2001:db8::1]:4711"},
           {"unix:/run/s", ""},
           {"unix:", ""}}) {
    EXPECT_EQ(PeerText(grpc), plain);
  }
  sockaddr_storage address{};
  auto& six = reinterpret_cast<sockaddr_in6&>(address);
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(4711);
  ASSERT_EQ(inet_pton(AF_INET6, "::ffff:192.0.2.7", &six.sin6_addr), 1);
  EXPECT_EQ(PeerText(address), "192.0.2.7:4711");
  ASSERT_EQ(inet_pton(AF_INET6, "2001:db8:1:2:3:4:5:6", &six.sin6_addr), 1);
  EXPECT_EQ(SourceOf(-1, address), "2001:db8:1:2::") << "a network of one subscriber";
}

}  // namespace
}  // namespace muster::daemon
