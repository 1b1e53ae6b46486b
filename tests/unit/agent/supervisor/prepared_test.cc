#include "agent/supervisor/prepared.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "agent/supervisor/attempt/copy_request.h"
#include "agent/supervisor/process_title.h"
#include "agent/supervisor/rehearsal.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAreArray;

// A process that serves copies, and whose copies end with a number that says what they are for.
class ServeCopiesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{-1, -1};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends.data()), 0);
    ours_.reset(ends[0]);
    server_ = fork();
    if (server_ == 0) {
      ours_.reset();
      const std::optional<CopyPurpose> purpose = ServeCopies(ends[1]);
      const bool right = purpose.has_value() && purpose->directory == "/state/attempts/1.1";
      _exit(!purpose.has_value() ? 0 : !right ? 9 : purpose->what == "--dir" ? 7 : 8);
    }
    close(ends[1]);
    EXPECT_EQ(Answer().error, 0) << "it is prepared";
  }
  CopyAnswer Answer() const {
    CopyAnswer answer = {-1, -1};
    EXPECT_EQ(recv(ours_.get(), &answer, sizeof(answer), 0), static_cast<ssize_t>(sizeof(answer)));
    return answer;
  }
  CopyAnswer Ask(const std::string& packet) const {
    EXPECT_EQ(send(ours_.get(), packet.data(), packet.size(), 0),
              static_cast<ssize_t>(packet.size()));
    return Answer();
  }
  static int ExitOf(pid_t pid) {
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  UniqueFd ours_;
  pid_t server_ = 0;
};

TEST_F(ServeCopiesTest, EachCopyIsOurChildAndKnowsItsPurpose) {
  const CopyAnswer first = Ask(std::string("--dir\0/state/attempts/1.1", 25));
  const CopyAnswer second = Ask(std::string("--epilog\0/state/attempts/1.1", 28));
  EXPECT_EQ(ExitOf(first.pid), 7);
  EXPECT_EQ(ExitOf(second.pid), 8);
  ours_.reset();
  EXPECT_EQ(ExitOf(server_), 0) << "it ends with whom it serves";
}

TEST_F(ServeCopiesTest, WhatAsksForNothingIsRefusedAndEndsNothing) {
  for (const std::string& packet :
       {std::string("--dir"), std::string("--dir\0", 6), std::string("--sweep\0/state", 14)}) {
    const CopyAnswer answer = Ask(packet);
    EXPECT_EQ(answer.pid, 0);
    EXPECT_EQ(answer.error, EINVAL);
  }
  EXPECT_EQ(ExitOf(Ask(std::string("--dir\0/state/attempts/1.1", 25)).pid), 7);
  ours_.reset();
  EXPECT_EQ(ExitOf(server_), 0);
}

TEST(ProcessTitleTest, ShowsWordsAndLeavesNothingOfWhatWasThere) {
  std::string room("program\0--prepared\0          \0ENV=1", 35);
  std::array<char*, 3> argv = {room.data(), room.data() + 8, room.data() + 19};
  const ProcessTitle title(3, argv.data());
  title.Show({"program", "--dir", "/a/1.1"});
  EXPECT_THAT(room,
              ElementsAreArray(std::string("program\0--dir\0/a/1.1\0\0\0\0\0\0\0\0\0\0ENV=1", 35)));
  title.Show({"program", "--dir", "/a/path/that/is/too/long/for/it"});
  EXPECT_THAT(room, ElementsAreArray(std::string("program\0--dir\0/a/path/that/is\0ENV=1", 35)));
}

TEST(RehearsalTest, ModelAndWireFit) {
  EXPECT_TRUE(Rehearse().ok());
}

}  // namespace
}  // namespace muster::agent
