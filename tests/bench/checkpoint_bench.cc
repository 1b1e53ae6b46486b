// Committing a checkpoint beside dd of the same bytes, the checksum alone, and the question whether
// to checkpoint. BENCH_DIR names where to write (the working directory otherwise).

#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/checksum.h"
#include "checkpoint/erasure.h"
#include "checkpoint/session.h"

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
  const auto session = std::move(Session::Open(options).value);
  for (auto _ : state) {
    benchmark::DoNotOptimize(session->ShouldCheckpoint());
  }
}
BENCHMARK(BM_ShouldCheckpoint);

}  // namespace
}  // namespace muster::checkpoint

BENCHMARK_MAIN();
