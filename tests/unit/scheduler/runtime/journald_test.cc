#include "scheduler/runtime/journald.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "scheduler/runtime/log.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

// Stands for the journal: a datagram socket at a path.
class FakeJournal {
 public:
  FakeJournal() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path().c_str(), sizeof(address.sun_path) - 1);
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  [[nodiscard]] std::string path() const { return directory_ / "socket"; }
  // The next entry; "" when there is none.
  [[nodiscard]] std::string Next() const {
    std::array<char, 20000> entry{};
    const ssize_t size = recv(socket_.get(), entry.data(), entry.size(), 0);
    return size < 0 ? "" : std::string(entry.data(), static_cast<std::size_t>(size));
  }

 private:
  TempDirectory directory_;
  UniqueFd socket_;
};

TEST(Journald, AnEntryIsALineForEachField) {
  EXPECT_EQ(JournaldEntry({{"MESSAGE", "a = b"}, {"PRIORITY", "6"}}),
            "MESSAGE=a = b\nPRIORITY=6\n");
}

TEST(Journald, AValueOfSeveralLinesStandsBehindItsLength) {
  EXPECT_EQ(JournaldEntry({{"MESSAGE", "a\nPRIORITY=0"}}),
            std::string("MESSAGE\n\x0c\0\0\0\0\0\0\0a\nPRIORITY=0\n", 29));
}

TEST(Journald, NobodyListensIsNoJournal) {
  EXPECT_FALSE(Journald::At("/nowhere/socket").has_value());
  EXPECT_FALSE(Journald::At(std::string(200, 'x')).has_value());
}

TEST(Journald, ALineAboutAJobNamesIt) {
  const FakeJournal journal;
  const SystemClock clock;
  const Logger log(clock, STDERR_FILENO, LogLevel::kInfo, /*colour=*/false,
                   Journald::At(journal.path()));
  log.Warning("agent", "7.1 was lost", "7");
  const std::string entry = journal.Next();
  EXPECT_EQ(entry.find("MESSAGE=7.1 was lost\nPRIORITY=4\nSYSLOG_IDENTIFIER="), 0U) << entry;
  EXPECT_NE(entry.find("\nMUSTER_COMPONENT=agent\nMUSTER_JOB=7\n"), std::string::npos) << entry;
  log.Info("agent", "ready");
  EXPECT_EQ(journal.Next().find("MUSTER_JOB"), std::string::npos);
  log.Debug("agent", "more than anybody asked for");
  EXPECT_EQ(journal.Next(), "");
}

TEST(Journald, ALogOfOneJobGoesToItsFileAndToTheJournalAsItsJobs) {
  const FakeJournal journal;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  const SystemClock clock;
  Logger log(clock, writing.get(), LogLevel::kInfo, /*colour=*/false);
  log.AlsoTo(*Journald::At(journal.path()), "12");
  log.Info("step", "starting step 0");
  EXPECT_NE(journal.Next().find("\nMUSTER_JOB=12\n"), std::string::npos);
  std::array<char, 200> line{};
  ASSERT_GT(read(reading.get(), line.data(), line.size()), 0);
  EXPECT_NE(std::string(line.data()).find("step: starting step 0"), std::string::npos);
}

TEST(Journald, WhatTheJournalDoesNotTakeGoesToStandardError) {
  auto journal = std::make_unique<FakeJournal>();
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  const SystemClock clock;
  const Logger log(clock, writing.get(), LogLevel::kInfo, /*colour=*/false,
                   Journald::At(journal->path()));
  journal.reset();
  log.Error("agent", "nobody listens any more");
  std::array<char, 200> line{};
  ASSERT_GT(read(reading.get(), line.data(), line.size()), 0);
  EXPECT_NE(std::string(line.data()).find("nobody listens any more"), std::string::npos);
}

}  // namespace
}  // namespace muster
