// Committing a checkpoint beside a plain write of the same bytes and beside dd, the checksum alone,
// and the question whether to checkpoint. BENCH_DIR names where to write (the working directory
// otherwise).

#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "checkpoint/disk/checksum.h"
#include "checkpoint/parity/erasure.h"
#include "checkpoint/session/session.h"

namespace muster::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

class Place {
 public:
  Place() {
    const char* parent = std::getenv("BENCH_DIR");
    path_ = fs::path(parent != nullptr ? parent : ".") / "checkpoint-bench";
    fs::remove_all(path_);
    fs::create_directory(path_);
  }
  ~Place() { fs::remove_all(path_); }
  std::string operator/(const char* name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

std::unique_ptr<Session> OpenSession(const Place& place, std::uint32_t keep) {
  SessionOptions options;
  options.directory = place.path();
  options.job = "bench";
  options.keep = keep;
  return std::move(Session::Open(options).value);
}

// range(0) MiB; range(1): read the new generation back and remove the one before.
void BM_Commit(benchmark::State& state) {
  const Place place;
  std::vector<char> bytes(static_cast<std::size_t>(state.range(0)) * kMebibyte, 'x');
  const std::uint32_t keep = state.range(1) != 0 ? 1 : 1'000'000;
  const auto session = OpenSession(place, keep);
  if (session->Protect("field", bytes.data(), bytes.size()).failed()) {
    state.SkipWithError("protect");
  }
  for (auto _ : state) {
    const Error error = session->Save();
    if (error.failed()) {
      state.SkipWithError(error.text.c_str());
    }
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(BM_Commit)->Args({256, 0})->Args({256, 1})->Unit(benchmark::kMillisecond)->UseRealTime();

// What dd conv=fsync does, of memory: create, write, fsync, close.
bool WritePlainly(const std::string& path, const std::vector<char>& bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool ok = fd >= 0;
  for (std::size_t at = 0; ok && at < bytes.size(); at += kMebibyte) {
    const std::size_t piece = std::min(kMebibyte, bytes.size() - at);
    ok = write(fd, bytes.data() + at, piece) == static_cast<ssize_t>(piece);
  }
  ok = ok && fsync(fd) == 0;
  return fd >= 0 && close(fd) == 0 && ok;
}

template <class Work>
double SecondsOf(const Work& work) {
  const auto began = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// A commit and a plain write of the same bytes in turns, so that both meet the same disk. range(0)
// MiB. Both take the place of what they wrote before: the commit once it has read the new
// generation back. The time is the commit's; `of_plain` its bandwidth over the plain one's, medians
// both.
void BM_CommitBesidePlainWrite(benchmark::State& state) {
  const Place place;
  std::vector<char> bytes(static_cast<std::size_t>(state.range(0)) * kMebibyte, 'x');
  const auto session = OpenSession(place, 1);
  if (session->Protect("field", bytes.data(), bytes.size()).failed()) {
    state.SkipWithError("protect");
  }
  const std::string plain = place / "plain";
  const std::string before = place / "plain-before";
  std::vector<double> commits;
  std::vector<double> plains;
  for (auto _ : state) {
    bool ok = true;
    rename(plain.c_str(), before.c_str());
    plains.push_back(SecondsOf([&] {
      ok = WritePlainly(plain, bytes);
      unlink(before.c_str());
    }));
    Error error;
    commits.push_back(SecondsOf([&] { error = session->Save(); }));
    if (!ok || error.failed()) {
      state.SkipWithError(ok ? error.text.c_str() : "plain write");
    }
    state.SetIterationTime(commits.back());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
  state.counters["plain_ms"] = 1e3 * Median(plains);
  state.counters["of_plain"] = Median(plains) / Median(commits);
}
BENCHMARK(BM_CommitBesidePlainWrite)
    ->Arg(256)
    ->Arg(16)
    ->Iterations(15)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

// How long a program stands still for a checkpoint: straight to BENCH_DIR, or to the local level
// BENCH_LOCAL_DIR (/dev/shm otherwise) with the helper beside it (range(1)).
void BM_Stall(benchmark::State& state) {
  const Place place;
  const char* local = std::getenv("BENCH_LOCAL_DIR");
  const std::string parent = std::string(local != nullptr ? local : "/dev/shm") + "/muster-bench";
  fs::create_directory(parent);
  std::vector<char> bytes(static_cast<std::size_t>(state.range(0)) * kMebibyte, 'x');
  SessionOptions options;
  options.directory = place.path();
  options.job = "bench";
  options.keep = 1;
  options.local_directory = state.range(1) != 0 ? parent : "";
  options.flush_program = MUSTER_FLUSH_PROGRAM;
  const auto session = std::move(Session::Open(options).value);
  if (session->Protect("field", bytes.data(), bytes.size()).failed()) {
    state.SkipWithError("protect");
  }
  for (auto _ : state) {
    const Error error = session->Save();
    if (error.failed()) {
      state.SkipWithError(error.text.c_str());
    }
    state.PauseTiming();
    std::this_thread::sleep_for(std::chrono::seconds(1));  // work
    state.ResumeTiming();
  }
  fs::remove_all(parent);
}
BENCHMARK(BM_Stall)
    ->Args({256, 0})
    ->Args({256, 1})
    ->Iterations(10)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void BM_Dd(benchmark::State& state) {
  const Place place;
  int number = 0;
  for (auto _ : state) {
    const std::string to = "of=" + place / ("file" + std::to_string(number++)).c_str();
    const std::string count = "count=" + std::to_string(state.range(0));
    std::vector<std::string> words = {"dd",  "if=/dev/zero", to,           "bs=1M",
                                      count, "conv=fsync",   "status=none"};
    std::vector<char*> arguments;
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    pid_t child = 0;
    int status = 0;
    if (posix_spawnp(&child, "dd", nullptr, nullptr, arguments.data(), environ) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
      state.SkipWithError("dd");
    }
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) *
                          static_cast<std::int64_t>(kMebibyte));
}
BENCHMARK(BM_Dd)->Arg(256)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_Checksum(benchmark::State& state) {
  const std::vector<char> bytes(64 * kMebibyte, 'x');
  for (auto _ : state) {
    Checksum checksum;
    checksum.Add(bytes.data(), bytes.size());
    benchmark::DoNotOptimize(checksum.value());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes.size()));
}
BENCHMARK(BM_Checksum)->Unit(benchmark::kMillisecond);

// Parity of a set of 8, 4 MiB each; range(0) parities. Bytes are those of the data.
void BM_Encode(benchmark::State& state) {
  const Erasure erasure = Erasure::Make(8, static_cast<std::uint32_t>(state.range(0))).value;
  std::vector<Member> set(8);
  for (std::size_t i = 0; i < set.size(); ++i) {
    set[i].data.assign(4 * kMebibyte, static_cast<char>('a' + i));
  }
  for (auto _ : state) {
    Encode(erasure, &set);
    benchmark::DoNotOptimize(set.front().parity.data());
  }
  state.SetBytesProcessed(state.iterations() * 8 * 4 * static_cast<std::int64_t>(kMebibyte));
}
BENCHMARK(BM_Encode)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond);

void BM_ShouldCheckpoint(benchmark::State& state) {
  const Place place;
  const std::string path = place / "hints";
  Result<HintFile> hints = HintFile::Create(path);
  hints.value.Publish({.interval_ms = 3'600'000, .deadline_ms = 4'000'000'000'000});
  SessionOptions options;
  options.directory = place.path();
  options.job = "bench";
  options.hints = path;
  options.progress = place / "progress";
  close(CreateProgress(options.progress).value);
  const auto session = std::move(Session::Open(options).value);
  for (auto _ : state) {
    benchmark::DoNotOptimize(session->ShouldCheckpoint());
  }
}
BENCHMARK(BM_ShouldCheckpoint);

}  // namespace
}  // namespace muster::checkpoint

BENCHMARK_MAIN();
