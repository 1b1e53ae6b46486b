#include "agent/pam/job_doors.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "agent/supervisor/user_space/unix_socket.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr uid_t kUser = 61001;

// Answers whoever asks with the same packet and descriptors, as a supervisor would; without a
// packet it never answers.
class Door {
 public:
  Door(const std::string& state, const std::string& attempt, std::string packet,
       int descriptor = -1)
      : packet_(std::move(packet)), descriptor_(descriptor) {
    const std::string place = state + "/attempts/" + attempt;
    std::filesystem::create_directories(place);
    listener_ = BindUnix(place + "/" + SessionSocketName(kUser), SOCK_SEQPACKET).value();
    if (!packet_.empty()) {
      thread_ = std::thread([this] { Serve(); });
    }
  }
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;
  ~Door() {
    shutdown(listener_.get(), SHUT_RDWR);
    if (thread_.joinable()) {
      thread_.join();
    }
  }

 private:
  void Serve() {
    while (true) {
      const UniqueFd peer(accept(listener_.get(), nullptr, nullptr));
      std::array<char, 64> question{};
      if (!peer.valid()) {
        return;
      }
      if (recv(peer.get(), question.data(), question.size(), 0) <= 0) {
        continue;
      }
      iovec part = {packet_.data(), packet_.size()};
      alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> space = {};
      msghdr message = {};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      if (descriptor_ >= 0) {
        message.msg_control = space.data();
        message.msg_controllen = space.size();
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &descriptor_, sizeof(int));
      }
      sendmsg(peer.get(), &message, MSG_NOSIGNAL);
    }
  }

  std::string packet_;
  const int descriptor_;
  UniqueFd listener_;
  std::thread thread_;
};

class JobDoorsTest : public ::testing::Test {
 protected:
  JobDoorsTest() { std::filesystem::create_directories(state_ / "attempts"); }
  JobDoors Find(std::chrono::milliseconds within = std::chrono::seconds(20)) const {
    return FindJobDoors(state_.path(), kUser, std::chrono::steady_clock::now() + within);
  }
  static std::string Welcome(const std::string& job, std::int64_t started) {
    return ToPacket(SessionAnswer{"", job, started, {"A=1"}});
  }
  const TempDirectory state_;
};

TEST_F(JobDoorsTest, TheNewestAttemptComesFirstWhateverItsNumber) {
  const Door old(state_.path(), "9.1", Welcome("9", 10));
  const Door young(state_.path(), "10.1", Welcome("10", 5));
  const Door youngest(state_.path(), "3.2", Welcome("3", 20));
  const Door closed(state_.path(), "11.1", ToPacket(SessionAnswer{"it ends", "11", 30, {}}));
  const JobDoors doors = Find();
  EXPECT_EQ(doors.failure, "");
  ASSERT_THAT(doors.open, SizeIs(3));
  EXPECT_EQ(doors.open[0].attempt, "3.2");
  EXPECT_EQ(doors.open[1].attempt, "9.1");
  EXPECT_EQ(doors.open[2].attempt, "10.1");
  ASSERT_THAT(doors.closed, SizeIs(1));
  EXPECT_EQ(doors.closed[0].answer.refusal, "it ends");
  EXPECT_EQ(doors.silent, 0U);
}

TEST_F(JobDoorsTest, OneThatHangsCostsTheDeadlineAndNoOthersAnswer) {
  const Door hanging(state_.path(), "12.1", "");
  const Door other(state_.path(), "11.1", Welcome("11", 1));
  const Door broken(state_.path(), "10.1", "what is this");
  const auto begun = std::chrono::steady_clock::now();
  const JobDoors doors = Find(std::chrono::milliseconds(300));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(300));
  EXPECT_THAT(doors.open, SizeIs(1));
  EXPECT_EQ(doors.silent, 2U);
}

TEST_F(JobDoorsTest, OtherUsersJobsAndWhatIsNoAttemptAreNotAsked) {
  const Door other(state_.path(), "12.x", Welcome("12", 1));
  std::filesystem::create_directories(state_ / "attempts/13.1");
  { const Door gone(state_.path(), "14.1", ""); }  // its supervisor is dead
  const UniqueFd theirs =
      BindUnix(state_ / ("attempts/13.1/" + SessionSocketName(kUser + 1)), SOCK_SEQPACKET).value();
  const JobDoors doors = Find();
  EXPECT_THAT(doors.open, IsEmpty());
  EXPECT_EQ(doors.silent, 0U);
  EXPECT_EQ(RefusalText(doors, "n1"), "no job of yours runs on n1; submit one: muster alloc -w n1");
}

TEST_F(JobDoorsTest, WithoutAStateDirectoryNobodyCanTell) {
  const JobDoors doors = FindJobDoors(state_ / "nothing", kUser, std::chrono::steady_clock::now());
  EXPECT_THAT(doors.failure, HasSubstr("/nothing/attempts: No such file or directory"));
  EXPECT_THAT(RefusalText(doors, "n1"),
              StartsWith("cannot tell whether a job of yours runs on n1"));
}

TEST_F(JobDoorsTest, TheWayInComesWithItsDescriptorOrNotAtAll) {
  const std::string file = state_ / "procs";
  const UniqueFd procs(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const Door whole(state_.path(), "1.1", Welcome("1", 1), procs.get());
  const Door bare(state_.path(), "2.1", Welcome("2", 1));
  const Door closed(state_.path(), "3.1", ToPacket(SessionAnswer{"it ends", "3", 1, {}}));
  const Door hanging(state_.path(), "4.1", "");
  const auto ask = [this](const std::string& attempt) {
    return AskWayIn(state_.path(), attempt, kUser,
                    std::chrono::steady_clock::now() + std::chrono::milliseconds(1000));
  };
  const WayIn way = ask("1.1");
  EXPECT_EQ(way.failure, "");
  EXPECT_EQ(write(way.procs.get(), "0", 1), 1);
  EXPECT_EQ(std::filesystem::file_size(file), 1U);
  EXPECT_FALSE(way.mounts.valid());
  EXPECT_THAT(way.answer.environment, SizeIs(1));
  EXPECT_EQ(ask("2.1").failure, "its supervisor named no control group");
  EXPECT_EQ(ask("3.1").failure, "it ends");
  EXPECT_EQ(ask("4.1").failure, "its supervisor does not answer");
  EXPECT_EQ(ask("5.1").failure, "it has ended");
}

TEST_F(JobDoorsTest, WhoIsRefusedIsToldWhy) {
  JobDoors doors;
  doors.silent = 1;
  EXPECT_EQ(RefusalText(doors, "n1"), "your job on n1 does not answer; try again");
  doors.closed.push_back({"7.1", {"it is suspended", "7", 1, {}}});
  EXPECT_EQ(RefusalText(doors, "n1"), "your job 7 on n1 lets no session in: it is suspended");
  doors.open.resize(2);
  EXPECT_THAT(RefusalText(doors, "n1"), StartsWith("2 jobs of yours run on n1, and"));
}

}  // namespace
}  // namespace muster::agent
