#pragma once

// What the store's tests share: stores on either engine, values to store, and batches that follow
// one another. With MUSTER_STORE_ENGINE=postgres, each directory has a database beside it, in which
// its store is.
//
// Thread promise: one test's thread. Invariants: BatchMaker numbers entries without a gap from the
// version that it was made with.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/store/job_store.h"
#include "daemon/store/postgres/postgres.h"
#include "daemon/store/rows/batch.h"
#include "daemon/store/sqlite/sqlite.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job.h"
#include "tests/unit/daemon/store/postgres_server.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {

inline bool OnPostgres() {
  const char* const engine = std::getenv("MUSTER_STORE_ENGINE");
  return engine != nullptr && std::string(engine) == "postgres";
}

// The store of that directory.
inline StorePlace PlaceOf(const std::string& directory) {
  static std::map<std::string, std::string> urls;
  if (!OnPostgres()) {
    return StorePlace{directory, "", "", Scripts::kErased};
  }
  std::string& url = urls[directory];
  url = url.empty() ? PostgresServer::Shared().MakeDatabase() : url;
  return StorePlace{directory, url, "muster", Scripts::kErased};
}

// Opened to write.
inline absl::StatusOr<std::unique_ptr<JobStore>> OpenStore(const std::string& directory,
                                                           Scripts scripts = Scripts::kErased) {
  StorePlace place = PlaceOf(directory);
  place.scripts = scripts;
  absl::StatusOr<std::unique_ptr<JobStore>> store = JobStore::Open(place);
  if (store.ok() && (*store)->leadership() != nullptr) {
    const absl::StatusOr<bool> taken =
        (*store)->leadership()->TryTake("test", "", std::chrono::hours(1), true);
    if (!taken.ok()) {
      return taken.status();
    }
  }
  return store;
}

// A connection of the test's own to the database of that directory's store.
inline absl::StatusOr<std::unique_ptr<Database>> LookInto(const std::string& directory) {
  if (!OnPostgres()) {
    return SqliteDatabase::Open(directory + "/state.db", SqliteDatabase::Mode::kReadWrite);
  }
  return PostgresDatabase::Open(*ReadPostgresUrl(PlaceOf(directory).url), "test");
}

inline Time At(std::int64_t milliseconds) {
  return Time(Duration(milliseconds));
}

inline JobSpec SpecOf(const std::string& user, const std::string& name) {
  JobSpec spec;
  spec.name = name;
  spec.user = {1000, 1000, user};
  spec.request.tasks = 1;
  return spec;
}

inline Program ProgramOf(const std::string& script) {
  Program program;
  program.script = script;
  program.environment = {"HOME=/home/ann", "LANG=C.UTF-8"};
  program.work_dir = "/home/ann";
  return program;
}

inline JobSubmitted Submitted(std::uint64_t first, const std::string& token) {
  JobSubmitted event;
  event.first = JobId(first);
  event.token = token;
  event.spec = SpecOf("ann", "job");
  event.program = ProgramOf("#!/bin/sh\ntrue\n");
  event.time = At(1000);
  return event;
}

inline JobSubmitted SubmittedArray(std::uint64_t first, std::vector<ArrayRange> ranges,
                                   std::uint32_t count) {
  JobSubmitted event = Submitted(first, "array");
  event.spec.array = ArraySpec{std::move(ranges), 0};
  event.count = count;
  return event;
}

inline Allocation AllocationOn(const std::string& node) {
  NodeAllocation part;
  part.node = NodeId(1);
  part.name = node;
  part.cpus = CpuSet::Of({0, 1});
  part.memory = kGibibyte;
  part.ranks = {RankPlacement{0, CpuSet::Of({0, 1}), NumaSet::Of({0}), {}}};
  return Allocation{{part}};
}

// The job of `event` at `ordinal`, running its first attempt.
inline Job RunningJob(const JobSubmitted& event, std::uint32_t ordinal) {
  Job job;
  job.id = JobId(event.first.value() + ordinal);
  job.submission = event.first;
  job.spec = std::make_shared<const JobSpec>(event.spec);
  job.state = JobState::kRunning;
  job.submitted = event.time;
  job.last_attempt = AttemptNumber(1);
  job.attempt.emplace();
  job.attempt->number = AttemptNumber(1);
  job.attempt->allocation = AllocationOn("node1");
  job.attempt->started = At(2000);
  job.attempt->runs.resize(1);
  return job;
}

inline EndedJob Ended(std::uint64_t id, std::uint64_t submission, const std::string& user,
                      const std::string& state, std::int64_t end) {
  EndedJob ended;
  ended.id = JobId(id);
  ended.submission = JobId(submission);
  JobView& view = ended.detail.job;
  view.id = ended.id;
  view.array_job_id = ended.submission;
  view.user = user;
  view.name = "job";
  view.state = state;
  view.nodes = {"node1"};
  view.end_time = At(end);
  ended.detail.work_dir = "/home/ann";
  return ended;
}

inline EndedAttempt AttemptOf(std::uint64_t job, std::uint32_t number) {
  EndedAttempt ended;
  ended.job = JobId(job);
  ended.attempt.number = AttemptNumber(number);
  ended.attempt.nodes = {"node1", "node2"};
  ended.attempt.start_time = At(2000);
  ended.attempt.end_time = At(3000);
  ended.attempt.cause = "exited";
  ended.attempt.ranks.resize(2);
  ended.attempt.ranks[0].verdict = "verified";
  ended.attempt.ranks[1].verdict = "differs";
  return ended;
}

class BatchMaker {
 public:
  explicit BatchMaker(std::uint64_t version = 0) : version_(version) {}

  // A batch of these events.
  Batch Of(std::vector<Event> events) {
    Batch batch;
    for (Event& event : events) {
      batch.entries.push_back({Version(++version_), std::move(event)});
    }
    return batch;
  }
  // A batch whose event says little: a job was held.
  Batch Small() { return Of({JobHeld{JobId(1), true, At(1)}}); }
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  std::uint64_t version_;
};

// A store in a directory of its own, and what tests do with it.
class StoreTest : public ::testing::Test {
 protected:
  // Also for what opens an open store again.
  void Open(Scripts scripts = Scripts::kErased) {
    store_.reset();
    auto store = OpenStore(directory_.path(), scripts);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  void Commit(const Batch& batch) {
    const absl::Status status = store_->Commit({&batch, 1});
    ASSERT_TRUE(status.ok()) << status;
  }
  std::vector<JournalEntry> Entries() {
    std::vector<JournalEntry> entries;
    const auto keep = [&entries](const JournalEntry& entry) {
      entries.push_back(entry);
      return true;
    };
    EXPECT_TRUE(store_->ReadJournal(Version(1), keep).ok());
    return entries;
  }
  // A number out of the database, read by a connection of the test's own.
  std::int64_t Count(const std::string& sql) {
    auto database = LookInto(directory_.path());
    EXPECT_TRUE(database.ok()) << database.status();
    auto number = (*database)->ReadInteger(sql);
    EXPECT_TRUE(number.ok()) << number.status();
    return number.value_or(-1);
  }
  TempDirectory directory_;
  std::unique_ptr<JobStore> store_;
  BatchMaker make_;
};

}  // namespace muster::daemon
