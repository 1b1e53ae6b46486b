// How many events a second the store makes durable, beside what SQLite alone does with one row an
// event: the same directory, the same number of rows a transaction, the same fsync.
//
// Run it with TMPDIR on the disk that is meant. `items_per_second` are events (rows).

#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "daemon/store/job_store.h"
#include "daemon/store/sqlite/sqlite.h"

namespace muster::bench {
namespace {

class BenchDirectory {
 public:
  BenchDirectory() {
    const char* const base = getenv("TMPDIR");
    path_ = std::string(base == nullptr ? "/tmp" : base) + "/store_bench.XXXXXX";
    MUSTER_CHECK(mkdtemp(path_.data()) != nullptr);
  }
  BenchDirectory(const BenchDirectory&) = delete;
  BenchDirectory& operator=(const BenchDirectory&) = delete;
  ~BenchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::unique_ptr<daemon::JobStore> OpenStore(const BenchDirectory& directory) {
  auto store = daemon::JobStore::Open(directory.path());
  MUSTER_CHECK(store.ok());
  return *std::move(store);
}

// A submission with an environment of two kilobytes, as users have.
JobSubmitted Submission(std::uint64_t id) {
  JobSubmitted event;
  event.first = JobId(id);
  event.token = std::to_string(id * 0x9e3779b97f4a7c15U);
  event.spec.name = "job";
  event.spec.user = {1000, 1000, "ann"};
  event.program.script = "#!/bin/sh\ntrue\n";
  event.program.environment.assign(40, "SOME_NAME_OF_A_VARIABLE=some/value/of/it/of/50/bytes");
  event.program.work_dir = "/home/ann";
  event.time = Time(Duration(1));
  return event;
}

void Submissions(benchmark::State& state) {
  const BenchDirectory directory;
  const auto store = OpenStore(directory);
  const auto size = static_cast<std::size_t>(state.range(0));
  std::uint64_t version = 0;
  for (auto _ : state) {
    std::vector<daemon::Batch> batches(size);
    for (daemon::Batch& batch : batches) {
      ++version;
      batch.entries.push_back({Version(version), Submission(version)});
    }
    MUSTER_CHECK(store->Commit(batches).ok());
    state.PauseTiming();
    MUSTER_CHECK(store->CheckpointAbove(64U << 20).ok());
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(version));
}

void Reports(benchmark::State& state) {
  const BenchDirectory directory;
  const auto store = OpenStore(directory);
  const auto size = static_cast<std::size_t>(state.range(0));
  std::uint64_t version = 0;
  const RunReported event{NodeId(1), {JobId(1), AttemptNumber(1), 1, RunStarted{}}};
  for (auto _ : state) {
    std::vector<daemon::Batch> batches(size);
    for (daemon::Batch& batch : batches) {
      batch.entries.push_back({Version(++version), event});
    }
    MUSTER_CHECK(store->Commit(batches).ok());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(version));
}

void ArrayOfTenThousand(benchmark::State& state) {
  const BenchDirectory directory;
  const auto store = OpenStore(directory);
  std::uint64_t version = 0;
  for (auto _ : state) {
    daemon::Batch batch;
    JobSubmitted event = Submission(1 + version * 10000);
    event.spec.array = ArraySpec{{{0, 9999, 1}}, 0};
    event.count = 10000;
    batch.entries.push_back({Version(++version), event});
    MUSTER_CHECK(store->Commit({&batch, 1}).ok());
  }
}

void LoadPending(benchmark::State& state) {
  const BenchDirectory directory;
  const auto store = OpenStore(directory);
  daemon::Batch batch;
  for (std::int64_t i = 1; i <= state.range(0); ++i) {
    const auto id = static_cast<std::uint64_t>(i);
    batch.entries.push_back({Version(id), Submission(id)});
  }
  MUSTER_CHECK(store->Commit({&batch, 1}).ok());
  for (auto _ : state) {
    MUSTER_CHECK(store->Load()->jobs.size() == static_cast<std::size_t>(state.range(0)));
  }
}

// For bench/growth: one submission, committed where range(0) others wait.
void CommitBesideWaiting(benchmark::State& state) {
  const BenchDirectory directory;
  const auto store = OpenStore(directory);
  std::uint64_t id = 0;
  const auto submit = [&](std::size_t count) {
    daemon::Batch batch;
    for (std::size_t i = 0; i < count; ++i) {
      ++id;
      batch.entries.push_back({Version(id), Submission(id)});
    }
    MUSTER_CHECK(store->Commit({&batch, 1}).ok());
  };
  constexpr std::size_t kTogether = 10'000;
  for (auto left = static_cast<std::size_t>(state.range(0)); left > 0;) {
    const std::size_t count = std::min(left, kTogether);
    submit(count);
    left -= count;
    MUSTER_CHECK(store->CheckpointAbove(0).ok());  // as a controller does again and again
  }
  for (auto _ : state) {
    submit(1);
  }
}

void FloorPlainInsert(benchmark::State& state) {
  const BenchDirectory directory;
  auto database = daemon::SqliteDatabase::Open(directory.path() + "/floor.db",
                                               daemon::SqliteDatabase::Mode::kReadWrite);
  MUSTER_CHECK((*database)
                   ->Execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "
                             "CREATE TABLE t (id INTEGER PRIMARY KEY, x BLOB) STRICT")
                   .ok());
  daemon::Statement insert(**database, "INSERT INTO t VALUES (?, ?)");
  const std::string row(100, 'x');
  std::int64_t rows = 0;
  for (auto _ : state) {
    daemon::Transaction transaction(**database);
    MUSTER_CHECK(transaction.Begin(daemon::Transaction::Kind::kWrite).ok());
    for (std::int64_t i = 0; i < state.range(0); ++i) {
      MUSTER_CHECK(insert.Run(++rows, daemon::Blob{row}).ok());
    }
    MUSTER_CHECK(transaction.Commit().ok());
  }
  state.SetItemsProcessed(rows);
}

BENCHMARK(FloorPlainInsert)->Arg(1)->Arg(16)->Arg(100)->Arg(1000)->UseRealTime();
BENCHMARK(Reports)->Arg(1)->Arg(16)->Arg(100)->Arg(1000)->UseRealTime();
BENCHMARK(Submissions)->Arg(1)->Arg(16)->Arg(100)->Arg(1000)->UseRealTime();
BENCHMARK(ArrayOfTenThousand)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(CommitBesideWaiting)
    ->RangeMultiplier(10)
    ->Range(1'000, 1'000'000)
    ->Iterations(200)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(LoadPending)->Arg(10000)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::bench

BENCHMARK_MAIN();
