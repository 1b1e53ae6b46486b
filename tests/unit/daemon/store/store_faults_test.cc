#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <latch>

#include "daemon/store/commit_queue.h"
#include "daemon/store/job_store.h"
#include "scheduler/runtime/file.h"
#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::Status OpenStatus(const std::string& directory) {
  return JobStore::Open(directory).status();
}

std::string MessageOf(const absl::Status& status) {
  return std::string(status.message());
}

// Runs `body` in a child, as a user who is not root, and gives back what it returned.
std::string AsOrdinaryUser(const std::string& directory, const std::function<std::string()>& body) {
  constexpr uid_t kNobody = 65534;
  if (geteuid() == 0) {
    EXPECT_EQ(chown(directory.c_str(), kNobody, kNobody), 0);
  }
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) {
      _exit(1);
    }
    const std::string said = body();
    _exit(write(ends[1], said.data(), said.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string said(4096, '\0');
  const ssize_t got = read(ends[0], said.data(), said.size());
  said.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return said;
}

TEST(StoreFaultsTest, AReadOnlyDirectoryIsRefusedWithTheMend) {
  TempDirectory directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0500), 0);
  const std::string said = AsOrdinaryUser(
      directory.path(), [&directory] { return OpenStatus(directory.path()).ToString(); });
  EXPECT_THAT(said, StartsWith("UNAVAILABLE: " + directory.path() + ": not writable: Permission"));
  EXPECT_THAT(said, HasSubstr("choose another state directory"));
}

TEST(StoreFaultsTest, ASecondControllerIsRefusedWithTheHoldersPid) {
  TempDirectory directory;
  auto first = JobStore::Open(directory.path());
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status second = OpenStatus(directory.path());
  EXPECT_TRUE(absl::IsFailedPrecondition(second));
  EXPECT_THAT(MessageOf(second), HasSubstr("locked by process " + std::to_string(getpid())));
}

TEST(StoreFaultsTest, AFileThatIsNoDatabaseIsRefusedAndKept) {
  TempDirectory directory;
  const std::string content(10000, 'x');
  ASSERT_TRUE(WriteFileAtomically(directory / "state.db", content).ok());
  const absl::Status status = OpenStatus(directory.path());
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(MessageOf(status), StartsWith(directory / "state.db: "));
  EXPECT_THAT(MessageOf(status), HasSubstr("restore the file from a backup"));
  EXPECT_EQ(*ReadFile(directory / "state.db"), content);
}

TEST(StoreFaultsTest, ADamagedPageIsFoundAtStart) {
  TempDirectory directory;
  {
    auto store = JobStore::Open(directory.path());
    ASSERT_TRUE(store.ok());
    BatchMaker make;
    const Batch batch = make.Of({Submitted(1, "token")});
    ASSERT_TRUE((*store)->Commit({&batch, 1}).ok());
  }
  std::string content = *ReadFile(directory / "state.db");
  for (std::size_t at = 4096; at < content.size(); at += 4096) {
    content.replace(at, 16, "damage damage da");
  }
  ASSERT_TRUE(WriteFileAtomically(directory / "state.db", content).ok());
  const absl::Status status = OpenStatus(directory.path());
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(MessageOf(status), HasSubstr("state.db: "));
}

TEST(StoreFaultsTest, ANewerDatabaseIsRefused) {
  TempDirectory directory;
  ASSERT_TRUE(OpenStatus(directory.path()).ok());
  {
    auto database = SqliteDatabase::Open(directory / "state.db", SqliteDatabase::Mode::kReadWrite);
    ASSERT_TRUE((*database)->Execute("PRAGMA user_version = 99").ok());
  }
  const absl::Status status = OpenStatus(directory.path());
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(MessageOf(status), HasSubstr("written by a newer Muster (schema 99"));
}

// No file may grow beyond `bytes` while the object lives: the kernel's stand-in for a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &old_), 0);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &old_), 0);
    signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_ = {};
  sighandler_t old_handler_;
};

TEST(StoreFaultsTest, AFullDiskRefusesKeepsWhatWasAcknowledgedAndRecovers) {
  TempDirectory directory;
  std::uint64_t acknowledged = 0;
  {
    auto store = JobStore::Open(directory.path());
    ASSERT_TRUE(store.ok());
    CommitQueue queue(**store);
    BatchMaker make;
    absl::StatusCode refused = absl::StatusCode::kOk;
    const auto push = [&queue](Batch batch, const std::function<void(absl::Status)>& note) {
      std::latch done{1};
      queue.Push(std::move(batch), [&](absl::Status status) {
        note(status);
        done.count_down();
      });
      done.wait();
    };
    {
      const FileSizeLimit limit(1 << 20);
      while (refused == absl::StatusCode::kOk && acknowledged < 10000) {
        JobSubmitted event = Submitted(make.version() + 1, "");
        event.program.script = std::string(20000, 'x');
        push(make.Of({event}), [&](absl::Status status) {
          refused = status.code();
          acknowledged += status.ok() ? 1 : 0;
        });
      }
      EXPECT_EQ(refused, absl::StatusCode::kResourceExhausted);
      EXPECT_GT(acknowledged, 10U);
      push(make.Small(), [](absl::Status status) { EXPECT_TRUE(absl::IsAborted(status)); });
    }
    EXPECT_EQ((*store)->Load()->version, Version(acknowledged));
    queue.Reset();
    BatchMaker again(acknowledged);
    push(again.Of({Submitted(acknowledged + 1, "")}),
         [](absl::Status status) { EXPECT_TRUE(status.ok()) << status; });
  }
  auto store = JobStore::Open(directory.path());
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->Load()->jobs.size(), acknowledged + 1);
  EXPECT_EQ((*store)->ReadProgram(JobId(acknowledged))->script.size(), 20000U);
}

// Commits from `version` on and writes each acknowledged version to `fd`, until it is killed.
[[noreturn]] void CommitUntilKilled(const std::string& directory, int fd) {
  auto store = JobStore::Open(directory);
  if (!store.ok()) {
    _exit(1);
  }
  const std::uint64_t first = (*store)->Load()->version.value();
  BatchMaker make(first);
  CommitQueue queue(**store);
  while (true) {
    const std::uint64_t id = make.version() + 1;
    queue.Push(make.Of({Submitted(id, "token" + std::to_string(id))}),
               [fd, id](absl::Status status) {
                 if (!status.ok() || write(fd, &id, sizeof id) != sizeof id) {
                   _exit(2);
                 }
               });
    while (queue.depth() > 20) {
      usleep(50);
    }
  }
}

// Starts a committing child, kills it after `acknowledgements` of them; the last version it told.
std::uint64_t KillAWriter(const std::string& directory, int acknowledgements) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    CommitUntilKilled(directory, ends[1]);
  }
  close(ends[1]);
  std::uint64_t last = 0;
  std::uint64_t version = 0;
  for (int told = 0; read(ends[0], &version, sizeof version) == sizeof version; ++told) {
    last = version;
    if (told == acknowledgements) {
      EXPECT_EQ(kill(child, SIGKILL), 0);
    }
  }
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the writer ended by itself: " << status;
  return last;
}

TEST(StoreFaultsTest, EveryAcknowledgedVersionSurvivesSigkill) {
  TempDirectory directory;
  for (int round = 0; round < 100; ++round) {
    const std::uint64_t acknowledged = KillAWriter(directory.path(), round % 17);
    auto store = JobStore::Open(directory.path());
    ASSERT_TRUE(store.ok()) << store.status();
    const StateImage image = *(*store)->Load();
    ASSERT_GE(image.version.value(), acknowledged);
    ASSERT_EQ(image.jobs.size(), image.version.value());
    ASSERT_EQ(image.tokens.size(), image.jobs.size());
    ASSERT_EQ(image.tokens.back().token, "token" + std::to_string(image.version.value()));
    ASSERT_TRUE((*store)->ReadProgram(JobId(acknowledged)).ok());
  }
}

}  // namespace
}  // namespace muster::daemon
