#include "cli/service/replica/health_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "cli/connect/target.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

const ServiceProbe kHealth{ProbeKind::kHttp, "/health"};

class HealthProbeTest : public ::testing::Test {
 protected:
  HealthProbeTest() {
    auto socket = TakeOnLoopback(0);
    EXPECT_TRUE(socket.ok());
    listener_ = *std::move(socket);
    EXPECT_TRUE(Listen(listener_).ok());
  }

  // What came of a question that is answered so; "" closes at once.
  absl::Status Ask(const std::string& answer) {
    std::thread server([this, &answer] {
      pollfd comes = {listener_.get(), POLLIN, 0};
      EXPECT_EQ(poll(&comes, 1, 10'000), 1);
      const UniqueFd caller(accept(listener_.get(), nullptr, nullptr));
      std::array<char, 4096> asked{};
      const ssize_t got = recv(caller.get(), asked.data(), asked.size(), 0);
      asked_.assign(asked.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
      EXPECT_EQ(send(caller.get(), answer.data(), answer.size(), MSG_NOSIGNAL),
                static_cast<ssize_t>(answer.size()));
    });
    const absl::Status said = AskHealth("127.0.0.1", PortOf(listener_), kHealth, seconds(10), -1);
    server.join();
    return said;
  }

  UniqueFd listener_;
  std::string asked_;
};

TEST_F(HealthProbeTest, AGoodStatusIsWell) {
  EXPECT_TRUE(Ask("HTTP/1.1 200 OK\r\n\r\n").ok());
  EXPECT_THAT(asked_, ::testing::StartsWith("GET /health HTTP/1.1\r\nHost: 127.0.0.1:"));
  EXPECT_TRUE(Ask("HTTP/1.0 302 Found\r\nLocation: /\r\n\r\n").ok());
}

TEST_F(HealthProbeTest, ABadStatusOrNoHttpOrNoAnswerIsNot) {
  EXPECT_THAT(std::string(Ask("HTTP/1.1 500 Oh\r\n\r\n").message()), HasSubstr("status 500"));
  EXPECT_THAT(std::string(Ask("SSH-2.0-x\r\n").message()), HasSubstr("no HTTP: \"SSH-2.0-x"));
  EXPECT_THAT(std::string(Ask("").message()), HasSubstr("without an answer"));
  const absl::Status late =
      AskHealth("127.0.0.1", PortOf(listener_), kHealth, milliseconds(100), -1);
  EXPECT_THAT(std::string(late.message()), HasSubstr("no answer within 0.1 s"));
}

TEST_F(HealthProbeTest, APortIsAskedForAConnectionOnly) {
  const std::uint16_t port = PortOf(listener_);
  EXPECT_TRUE(AskHealth("127.0.0.1", port, {}, seconds(10), -1).ok());
  listener_.reset();
  EXPECT_EQ(AskHealth("127.0.0.1", port, {}, seconds(10), -1).code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(HealthProbeTest, ASignalInterruptsIt) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const UniqueFd out(ends[0]);
  const UniqueFd in(ends[1]);
  ASSERT_EQ(write(in.get(), "x", 1), 1);
  EXPECT_TRUE(absl::IsCancelled(
      AskHealth("127.0.0.1", PortOf(listener_), kHealth, seconds(60), out.get())));
}

}  // namespace
}  // namespace muster::cli
