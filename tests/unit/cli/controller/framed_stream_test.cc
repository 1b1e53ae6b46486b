#include "cli/controller/framed_stream.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "cli/controller/connection.h"
#include "cli/controller/job_watch.h"
#include "proto/controller.pb.h"
#include "tests/unit/cli/controller/framed_peer.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using testing::FramedAnswer;
using testing::FramedPeer;
using State = FramedStream::State;

constexpr std::size_t kMoreComes = 1000;

class FramedStreamTest : public ::testing::Test {
 protected:
  FramedStreamTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    peer_.reset(ends[0]);
    stream_.emplace(UniqueFd(ends[1]), false);
  }
  void Send(const std::string& bytes) {
    ASSERT_EQ(send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  State Read() {
    return stream_->Read([this](std::string_view message) { messages_.emplace_back(message); });
  }

  UniqueFd peer_;
  std::optional<FramedStream> stream_;
  std::vector<std::string> messages_;
};

TEST_F(FramedStreamTest, MessagesComeInTheirOrderAndThenTheLastWord) {
  Send("MUSTER1\n" + FramedAnswer(kMoreComes, "", "one") + FramedAnswer(kMoreComes, "", "two"));
  EXPECT_EQ(Read(), State::kMore);
  EXPECT_EQ(messages_, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(Read(), State::kMore) << "nothing came, and nothing is waited for";
  Send(FramedAnswer(5, "no such job", ""));
  EXPECT_EQ(Read(), State::kEnded);
  EXPECT_EQ(stream_->code(), 5U);
  EXPECT_EQ(stream_->text(), "no such job");
}

TEST_F(FramedStreamTest, AMessageThatComesInPiecesIsOneMessage) {
  for (const char byte : "MUSTER1\n" + FramedAnswer(kMoreComes, "", "slow")) {
    Send(std::string(1, byte));
    EXPECT_EQ(Read(), State::kMore);
  }
  EXPECT_EQ(messages_, std::vector<std::string>{"slow"});
}

TEST_F(FramedStreamTest, AConnectionThatEndsIsBroken) {
  Send("MUSTER1\n" + FramedAnswer(kMoreComes, "", "one"));
  peer_.reset();
  EXPECT_EQ(Read(), State::kMore);
  EXPECT_EQ(Read(), State::kBroken);
}

TEST_F(FramedStreamTest, ALengthThatCannotBeIsBroken) {
  Send("MUSTER1\n" + testing::FrameNumber(3) + "abc");
  EXPECT_EQ(Read(), State::kBroken);
}

TEST_F(FramedStreamTest, WhoSpeaksNoFramesIsForeign) {
  Send("HTTP/1.1 400");
  EXPECT_EQ(Read(), State::kForeign);
}

// A job of a controller that tells `states` each time that it is watched.
class JobWatchTest : public ::testing::Test {
 protected:
  static std::string News(const std::string& state) {
    wire::WatchJobReply reply;
    reply.mutable_job()->set_id(3);
    reply.mutable_job()->set_state(state);
    return FramedAnswer(kMoreComes, "", reply.SerializeAsString());
  }
  std::unique_ptr<Connection> Open() {
    return Connection::Open(ParseAddress("unix:" + path_).value()).value();
  }

  const TempDirectory directory_;
  const std::string path_ = directory_ / "c.sock";
};

TEST_F(JobWatchTest, NewsInFramesAreToldOnTheLoopUntilTheEnd) {
  const FramedPeer peer(path_, [](const std::string& method, const std::string&) {
    EXPECT_EQ(method, "WatchJob");
    return std::optional<std::string>(News("PENDING") + News("RUNNING") + News("COMPLETED") +
                                      News("PENDING") + FramedAnswer(0, "", ""));
  });
  const std::unique_ptr<Connection> connection = Open();
  const std::unique_ptr<EventLoop> loop = EventLoop::Create().value();
  std::vector<std::string> states;
  const JobWatch watch(
      *connection, JobId(3), *loop, [&](const JobNews& news) { states.push_back(news.job.state); },
      [&](const absl::Status& status) { ADD_FAILURE() << status; });
  loop->RunAfter(milliseconds(200), [&] { loop->Stop(); });
  ASSERT_TRUE(loop->Run().ok());
  EXPECT_EQ(states, (std::vector<std::string>{"PENDING", "RUNNING", "COMPLETED"}));
}

TEST_F(JobWatchTest, AStreamThatBreaksIsOpenedAgain) {
  int times = 0;
  const FramedPeer peer(path_, [&times](const std::string&, const std::string&) {
    switch (++times) {
      case 1:
        return std::optional<std::string>(News("RUNNING") + FramedAnswer(14, "restarting", ""));
      case 2:
        return std::optional<std::string>("");
      default:
        return std::optional<std::string>(News("FAILED") + FramedAnswer(0, "", ""));
    }
  });
  const absl::StatusOr<JobView> last = WaitForEnd(*Open(), JobId(3));
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->state, "FAILED");
  EXPECT_EQ(times, 3);
}

TEST_F(JobWatchTest, AControllerThatComesLaterIsFound) {
  std::optional<FramedPeer> peer;
  std::thread later([&] {
    std::this_thread::sleep_for(milliseconds(250));
    peer.emplace(path_, [](const std::string&, const std::string&) {
      return std::optional<std::string>(News("COMPLETED"));
    });
  });
  const absl::StatusOr<JobView> last = WaitForEnd(*Open(), JobId(3));
  later.join();
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_EQ(last->state, "COMPLETED");
}

TEST_F(JobWatchTest, ARefusalIsToldAndEndsTheWatch) {
  const FramedPeer peer(path_, [](const std::string&, const std::string&) {
    return std::optional<std::string>(FramedAnswer(5, "no such job", ""));
  });
  const absl::StatusOr<JobView> last = WaitForEnd(*Open(), JobId(3));
  EXPECT_TRUE(absl::IsNotFound(last.status())) << last.status();
  EXPECT_EQ(last.status().message(), "no such job");
}

TEST_F(JobWatchTest, AWatchCanEndBeforeItsJob) {
  const FramedPeer peer(path_, [](const std::string&, const std::string&) {
    return std::optional<std::string>(News("RUNNING"));
  });
  const std::unique_ptr<Connection> connection = Open();
  const std::unique_ptr<EventLoop> loop = EventLoop::Create().value();
  std::string state;
  {
    const JobWatch watch(
        *connection, JobId(3), *loop,
        [&](const JobNews& news) {
          state = news.job.state;
          loop->Stop();
        },
        [&](const absl::Status&) { loop->Stop(); });
    ASSERT_TRUE(loop->Run().ok());
  }
  EXPECT_EQ(state, "RUNNING");
}

}  // namespace
}  // namespace muster::cli
