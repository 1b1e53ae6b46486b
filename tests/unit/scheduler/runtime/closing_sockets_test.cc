#include "scheduler/runtime/closing_sockets.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace muster {
namespace {

using std::chrono::milliseconds;

struct Pair {
  UniqueFd ours;
  UniqueFd peers;
};

Pair UnixPair() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// The peer's kernel holds little for it: the rest waits at our end until the peer reads.
Pair TcpPair() {
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  EXPECT_EQ(listen(listener.get(), 1), 0);
  EXPECT_EQ(getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  Pair pair;
  pair.peers.reset(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int little = 4096;
  setsockopt(pair.peers.get(), SOL_SOCKET, SO_RCVBUF, &little, sizeof(little));
  EXPECT_EQ(connect(pair.peers.get(), reinterpret_cast<const sockaddr*>(&address), size), 0);
  pair.ours.reset(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  return pair;
}

// Writes until the kernel takes no more.
void Flood(const UniqueFd& fd) {
  const std::vector<char> much(65536, 'i');
  while (send(fd.get(), much.data(), much.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0) {
  }
}

struct Heard {
  std::string bytes;
  int error = 0;  // of what came last; 0: the end of the stream
};

Heard ReadAll(const UniqueFd& fd) {
  Heard heard;
  std::vector<char> buffer(65536);
  while (true) {
    const ssize_t got = recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (got <= 0) {
      heard.error = got < 0 ? errno : 0;
      return heard;
    }
    heard.bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

class ClosingSocketsTest : public ::testing::TestWithParam<Pair (*)()> {
 protected:
  ClosingSocketsTest() : loop_(EventLoop::Create().value()) {
    loop_->RunAfter(std::chrono::seconds(20), [this] {
      ADD_FAILURE() << "a socket was not closed";
      loop_->Stop();
    });
  }
  void RunUntilClosed(ClosingSockets& closing) {
    closing.WhenEmpty([this] { loop_->Stop(); });
    if (!closing.Empty()) {
      ASSERT_TRUE(loop_->Run().ok());
    }
  }

  const std::unique_ptr<EventLoop> loop_;
};

TEST_P(ClosingSocketsTest, APeerThatWroteMuchAndReadsLateHearsEverything) {
  Pair pair = GetParam()();
  Flood(pair.peers);
  const std::string last(1'000'000, 'w');
  ClosingSockets closing(*loop_);
  closing.Take(std::move(pair.ours), last);
  Heard heard;
  std::thread late([&] {
    std::this_thread::sleep_for(milliseconds(100));
    Flood(pair.peers);
    heard = ReadAll(pair.peers);
    pair.peers.reset();
  });
  RunUntilClosed(closing);
  late.join();
  EXPECT_EQ(heard.bytes.size(), last.size());
  EXPECT_EQ(heard.error, 0) << "the end of the stream, and no reset";
}

TEST_P(ClosingSocketsTest, ASocketIsClosedOnceItsPeerHasClosed) {
  Pair pair = GetParam()();
  ClosingSockets closing(*loop_);
  closing.Take(std::move(pair.ours), "bye");
  EXPECT_FALSE(closing.Empty());
  loop_->RunAfter(milliseconds(20), [&] {
    EXPECT_FALSE(closing.Empty()) << "its peer has not closed";
    pair.peers.reset();
  });
  RunUntilClosed(closing);
  EXPECT_TRUE(closing.Empty());
}

TEST_P(ClosingSocketsTest, APeerThatHasShutDownItsSideStillHearsTheRest) {
  Pair pair = GetParam()();
  shutdown(pair.peers.get(), SHUT_WR);
  const std::string last(1'000'000, 'w');
  ClosingSockets closing(*loop_);
  closing.Take(std::move(pair.ours), last);
  Heard heard;
  std::thread reader([&] { heard = ReadAll(pair.peers); });
  RunUntilClosed(closing);
  reader.join();
  EXPECT_EQ(heard.bytes.size(), last.size());
  EXPECT_EQ(heard.error, 0);
}

TEST_P(ClosingSocketsTest, APeerThatIsGoneIsNotWaitedFor) {
  Pair pair = GetParam()();
  pair.peers.reset();
  ClosingSockets closing(*loop_);
  closing.Take(std::move(pair.ours), std::string(1'000'000, 'w'));
  RunUntilClosed(closing);
  EXPECT_TRUE(closing.Empty());
}

TEST_P(ClosingSocketsTest, APeerThatNeverClosesIsGivenUp) {
  Pair pair = GetParam()();
  ClosingSockets closing(*loop_, milliseconds(50));
  closing.Take(std::move(pair.ours), std::string(10'000'000, 'w'));
  RunUntilClosed(closing);
  EXPECT_TRUE(closing.Empty());
}

INSTANTIATE_TEST_SUITE_P(Sockets, ClosingSocketsTest, ::testing::Values(&UnixPair, &TcpPair),
                         [](const auto& each) { return each.index == 0 ? "Unix" : "Tcp"; });

}  // namespace
}  // namespace muster
