#include "agent/supervisor/attempt/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::SizeIs;

RunStarted Started(std::uint32_t pid) {
  RunStarted fact;
  fact.pid = pid;
  return fact;
}

TEST(JournalTest, ReturnsWhatWasAddedSinceTheLastRead) {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  AttemptJournalReader reader(path);
  EXPECT_THAT(reader.ReadNew().value(), SizeIs(0));
  JournalWriter writer = JournalWriter::Open(path, JobId(3), AttemptNumber(2)).value();
  ASSERT_TRUE(writer.Append(Started(10)).ok());
  ASSERT_TRUE(writer.Append(Started(11)).ok());
  const std::vector<Report> first = reader.ReadNew().value();
  ASSERT_THAT(first, SizeIs(2));
  EXPECT_EQ(first[1].index, 2u);
  EXPECT_EQ(first[1].job, JobId(3));
  EXPECT_EQ(std::get<RunStarted>(first[1].fact).pid, 11u);
  ASSERT_TRUE(writer.Append(RunEnded()).ok());
  EXPECT_THAT(reader.ReadNew().value(), SizeIs(1));
  EXPECT_THAT(reader.ReadNew().value(), SizeIs(0));
}

TEST(JournalTest, ToleratesATornTailAtEveryByteAndWritesOnAfterCuttingItOff) {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  {
    JournalWriter writer = JournalWriter::Open(path, JobId(3), AttemptNumber(1)).value();
    ASSERT_TRUE(writer.Append(Started(1)).ok());
  }
  const std::size_t whole = ReadFile(path).value().size();
  {
    JournalWriter writer = JournalWriter::Open(path, JobId(3), AttemptNumber(1)).value();
    ASSERT_TRUE(writer.Append(Started(2)).ok());
  }
  const std::string both = ReadFile(path).value();
  for (std::size_t size = whole; size < both.size(); ++size) {
    std::ofstream(path, std::ios::trunc) << both.substr(0, size);
    EXPECT_THAT(AttemptJournalReader(path).ReadNew().value(), SizeIs(1)) << size;
    JournalWriter writer = JournalWriter::Open(path, JobId(3), AttemptNumber(1)).value();
    EXPECT_EQ(writer.last_index(), 1u);
    ASSERT_TRUE(writer.Append(Started(3)).ok());
    const std::vector<Report> reports = AttemptJournalReader(path).ReadNew().value();
    ASSERT_THAT(reports, SizeIs(2)) << size;
    EXPECT_EQ(std::get<RunStarted>(reports[1].fact).pid, 3u);
  }
}

TEST(JournalTest, RefusesWhatIsNotAJournal) {
  const TempDirectory directory;
  std::ofstream(directory / "journal") << std::string(64, '\xff');
  EXPECT_TRUE(absl::IsDataLoss(AttemptJournalReader(directory / "journal").ReadNew().status()));
}

TEST(JournalTest, NotifiesASocketOfAnyPathLengthAndDoesNotMindItsAbsence) {
  const TempDirectory directory;
  const std::string deep = directory / std::string(150, 'd');
  ASSERT_EQ(mkdir(deep.c_str(), 0700), 0);
  NotifyAgent(deep + "/doorbell", "3.1");
  const UniqueFd bell = BindUnix(deep + "/doorbell", SOCK_DGRAM | SOCK_NONBLOCK).value();
  NotifyAgent(deep + "/doorbell", "3.1");
  std::array<char, 16> buffer = {};
  EXPECT_EQ(recv(bell.get(), buffer.data(), buffer.size(), 0), 3);
  EXPECT_STREQ(buffer.data(), "3.1");
}

TEST(JournalTest, EndsFrozenWhenItsLastWordOnSuspensionsIsThatNothingRuns) {
  const TempDirectory directory;
  const std::string path = directory / "journal";
  EXPECT_FALSE(EndsFrozen(path)) << "there is none yet";
  JournalWriter journal = JournalWriter::Open(path, JobId(3), AttemptNumber(1)).value();
  const auto frozen_after = [&](const Fact& fact) {
    EXPECT_TRUE(journal.Append(fact).ok());
    return EndsFrozen(path);
  };
  EXPECT_FALSE(frozen_after(RunStarted()));
  EXPECT_TRUE(frozen_after(RunSuspended{Time(), 1, false}));
  EXPECT_TRUE(frozen_after(RunCheckpointed()));
  EXPECT_FALSE(frozen_after(RunSuspended{Time(), 2, true}));
  EXPECT_TRUE(frozen_after(RunSuspended{Time(), 3, false}));
  EXPECT_FALSE(frozen_after(RunEnded())) << "an end undoes the suspension";
  std::ofstream(path) << "no journal";
  EXPECT_FALSE(EndsFrozen(path)) << "it may run";
}

TEST(AttemptDirectoryTest, IsNamedByJobAndAttempt) {
  EXPECT_EQ(AttemptDirectory::NameOf(JobId(12), AttemptNumber(3)), "12.3");
  EXPECT_EQ(AttemptDirectory("/a/b/12.3").Name(), "12.3");
  EXPECT_EQ(AttemptDirectory("/a/b/12.3/").Name(), "12.3");
  EXPECT_EQ(AttemptDirectory("12.3").Name(), "12.3");
  JobId job;
  AttemptNumber attempt;
  ASSERT_TRUE(AttemptDirectory::ParseName("12.3", &job, &attempt).ok());
  EXPECT_EQ(job, JobId(12));
  EXPECT_EQ(attempt, AttemptNumber(3));
  for (const char* bad : {"", "12", "12.", ".3", "12.3x", "-1.3", "0.1", "1.0", "1.2.3"}) {
    EXPECT_FALSE(AttemptDirectory::ParseName(bad, &job, &attempt).ok()) << bad;
  }
}

TEST(AttemptDirectoryTest, IsClaimedOnce) {
  const TempDirectory directory;
  const AttemptDirectory attempt(directory.path());
  EXPECT_TRUE(absl::IsNotFound(ReadClaim(attempt).status()));
  const ProcessIdentity first{.pid = 5, .start_time_ticks = 77, .boot_id = "boot"};
  const ProcessIdentity second{.pid = 6, .start_time_ticks = 78, .boot_id = "boot"};
  ASSERT_TRUE(TakeClaim(attempt, first).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(TakeClaim(attempt, second)));
  EXPECT_EQ(ReadClaim(attempt).value(), first);
}

TEST(AttemptDirectoryTest, KeepsTheAckedNumber) {
  const TempDirectory directory;
  const AttemptDirectory attempt(directory.path());
  EXPECT_EQ(ReadAcked(attempt).value(), 0u);
  ASSERT_TRUE(WriteAcked(attempt, 41).ok());
  EXPECT_EQ(ReadAcked(attempt).value(), 41u);
}

}  // namespace
}  // namespace muster::agent
