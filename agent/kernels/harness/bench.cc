#include "agent/kernels/harness/bench.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace muster::kernels {

void AddBenchOptions(CommandLine* line, BenchOptions* options, const std::string& n_meaning,
                     int64_t n_max, const std::string& verify_meaning) {
  line->AddCount("n", n_meaning, &options->n, 1, n_max);
  line->AddCount("repeat", "measured repeats", &options->repeat, 1, 1000000);
  line->AddCount("warmup", "repeats before measuring", &options->warmup, 0, 1000000);
  line->AddCount("seed", "seed of the input values", &options->seed, 0,
                 std::numeric_limits<int64_t>::max());
  line->AddSwitch("verify", verify_meaning, &options->verify);
  line->AddSwitch("json", "print one JSON document instead of text", &options->json);
}

Summary Summarise(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t half = sorted.size() / 2;
  Summary summary;
  summary.min = sorted.front();
  summary.max = sorted.back();
  summary.median = sorted.size() % 2 == 1 ? sorted[half] : sorted[half - 1] / 2 + sorted[half] / 2;
  summary.spread = summary.median == 0 ? 0 : (summary.max - summary.min) / summary.median;
  return summary;
}

nlohmann::ordered_json SecondsJson(std::span<const double> seconds) {
  const Summary summary = Summarise(seconds);
  return {{"best", summary.min},
          {"median", summary.median},
          {"spread", summary.spread},
          {"samples", std::vector<double>(seconds.begin(), seconds.end())}};
}

nlohmann::ordered_json RateJson(std::span<const double> rates) {
  const Summary summary = Summarise(rates);
  return {{"best", summary.max}, {"median", summary.median}};
}

nlohmann::ordered_json BenchJson(const std::string& kernel, const BenchOptions& options) {
  return {{"kernel", kernel},
          {"n", options.n},
          {"repeat", options.repeat},
          {"warmup", options.warmup},
          {"seed", options.seed}};
}

double MonotonicSeconds() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_start).count();
}

std::string BytesText(double bytes) {
  constexpr std::array<const char*, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", bytes, kUnits[unit]);
  return text.data();
}

}  // namespace muster::kernels
