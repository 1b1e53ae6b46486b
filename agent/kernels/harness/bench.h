#pragma once

// What every kernel measures and reports alike: the common options, the statistics of its repeats,
// and the JSON document that `--json` prints (one object on one line, stable key names).
//
// Thread promise: pure functions of their arguments; the clock is monotonic and safe from any
// thread.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "agent/kernels/harness/command_line.h"

namespace muster::kernels {

// The options that all kernels share.
struct BenchOptions {
  int64_t n = 0;
  int64_t repeat = 5;
  int64_t warmup = 1;
  int64_t seed = 1;
  bool verify = false;
  bool json = false;
};

// Adds --n --repeat --warmup --seed --verify --json. `n_meaning` and `verify_meaning` say what they
// are here.
void AddBenchOptions(CommandLine* line, BenchOptions* options, const std::string& n_meaning,
                     int64_t n_max, const std::string& verify_meaning);

// Statistics of one series of measurements.
struct Summary {
  double min = 0;
  double median = 0;  // mean of the middle two when their number is even
  double max = 0;
  double spread = 0;  // (max - min) / median, 0 when the median is 0
};

// REQUIRES: samples is not empty and holds finite numbers.
Summary Summarise(std::span<const double> samples);

// {"best","median","spread","samples"} of durations in seconds: best is the shortest.
nlohmann::ordered_json SecondsJson(std::span<const double> seconds);

// {"best","median"} of rates: best is the highest.
nlohmann::ordered_json RateJson(std::span<const double> rates);

// The head of every kernel's document: kernel, n, repeat, warmup, seed.
nlohmann::ordered_json BenchJson(const std::string& kernel, const BenchOptions& options);

// Seconds on a monotonic clock of this machine.
double MonotonicSeconds();

// "1.5 GiB" and the like, for messages.
std::string BytesText(double bytes);

}  // namespace muster::kernels
