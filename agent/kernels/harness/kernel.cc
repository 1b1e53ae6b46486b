#include "agent/kernels/harness/kernel.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "agent/kernels/harness/kept_json.h"
#include "agent/kernels/harness/node_facts.h"
#include "agent/kernels/harness/phase_marker.h"
#include "agent/kernels/harness/timeline.h"
#include "agent/kernels/place/memory.h"

namespace muster::kernels {
namespace {

using Json = nlohmann::ordered_json;

double BestSeconds(const Measured& measured) {
  return std::max(Summarise(measured.seconds).min, 1e-9);  // a clock tick
}

std::vector<double> Rates(const Measured& measured, double amount) {
  std::vector<double> rates;
  for (const double seconds : measured.seconds) {
    rates.push_back(amount / std::max(seconds, 1e-9) * 1e-9);
  }
  return rates;
}

// {"best","median"} of what one step takes: best is the shortest.
Json StepTimesJson(const Measured& measured) {
  const Summary summary = Summarise(measured.seconds);
  return {{"best", summary.min / measured.steps * 1e9},
          {"median", summary.median / measured.steps * 1e9}};
}

RooflinePoint RooflinePointOf(const Measured& measured, const Peaks& peaks) {
  Peaks roof = peaks;
  if (!measured.memory_roof) {
    roof.bytes_per_s = 0;
  }
  return kernels::RooflinePointOf(measured.flop, measured.bytes, BestSeconds(measured), roof);
}

struct Outcome {
  std::vector<Measured> measured;
  Check check;
  Peaks peaks;
};

void PrintJson(const Kernel& kernel, const BenchOptions& options, const Outcome& outcome) {
  Json operations = Json::array();
  for (const Measured& each : outcome.measured) {
    operations.push_back(MeasuredJson(each, outcome.peaks));
  }
  Json json = BenchJson(kernel.name, options);
  json["operations"] = operations;
  json["peaks"] = {{"gflop_per_s", outcome.peaks.flop_per_s * 1e-9},
                   {"gb_per_s", outcome.peaks.bytes_per_s * 1e-9}};
  json["node"] = NodeJson();
  if (kernel.facts) {
    json.update(kernel.facts());
  }
  json.update(CheckJson(outcome.check, kernel.tolerance));
  std::cout << json.dump() << "\n";
}

void PrintText(const Kernel& kernel, const BenchOptions& options, const Outcome& outcome) {
  std::printf("%s: n %lld, %lld repeats, seed %lld\n", kernel.name.c_str(),
              static_cast<long long>(options.n), static_cast<long long>(options.repeat),
              static_cast<long long>(options.seed));
  for (const Measured& each : outcome.measured) {
    std::printf("%s", MeasuredText(each, outcome.peaks).c_str());
  }
  const Check& check = outcome.check;
  std::printf("check: %s (%lld cases, worst %.2g of the tolerance; %s)%s%s\n",
              check.ok() ? "passed" : "FAILED", static_cast<long long>(check.cases()),
              check.worst(), kernel.tolerance.c_str(), check.failure().empty() ? "" : ": ",
              check.failure().c_str());
}

// What speaks against running; empty when nothing does.
std::string ProblemOf(const Kernel& kernel, const BenchOptions& options) {
  if (kernel.problem) {
    std::string problem = kernel.problem(options.n);
    if (!problem.empty()) {
      return problem;
    }
  }
  const double needed = kernel.bytes_needed ? kernel.bytes_needed(options.n) : 0;
  const auto available = static_cast<double>(AvailableBytes());
  return available > 0 && needed > available ? TooLarge(options.n, needed, available) : "";
}

}  // namespace

std::string TooLarge(int64_t n, double needed, double available) {
  std::ostringstream problem;
  problem << "--n: " << n << " needs " << BytesText(needed);
  if (available > 0) {
    problem << ", " << BytesText(available) << " is available here";
  } else {
    problem << ", which the system refused";
  }
  problem << ": choose fewer";
  return problem.str();
}

std::vector<Operation> Marked(const std::vector<Operation>& operations, PhaseMarker* marker) {
  std::vector<Operation> marked = operations;
  for (Operation& each : marked) {
    each.run = [marker, name = each.name, run = each.run] {
      const PhaseMarker::Span phase = marker->Phase(name);
      return run();
    };
  }
  return marked;
}

std::vector<Measured> Measure(const std::vector<Operation>& operations,
                              const BenchOptions& options) {
  std::vector<Measured> all;
  all.reserve(operations.size());
  for (const Operation& each : operations) {
    all.push_back({each.name, each.flop, each.bytes, each.steps, each.memory_roof, {}});
  }
  for (int64_t i = 0; i < options.warmup + options.repeat; ++i) {
    for (size_t at = 0; at < operations.size(); ++at) {
      const double seconds = operations[at].run();
      if (i >= options.warmup) {
        all[at].seconds.push_back(seconds);
      }
    }
  }
  return all;
}

Json MeasuredJson(const Measured& measured, const Peaks& peaks) {
  const RooflinePoint point = RooflinePointOf(measured, peaks);
  Json json = {{"name", measured.name}, {"flop", measured.flop}, {"bytes", measured.bytes}};
  json["arithmetic_intensity"] =
      measured.bytes > 0 ? Json(measured.flop / measured.bytes) : Json(nullptr);
  json["seconds"] = SecondsJson(measured.seconds);
  json["gb_per_s"] = RateJson(Rates(measured, measured.bytes));
  json["gflop_per_s"] = RateJson(Rates(measured, measured.flop));
  json["nanoseconds_per_step"] = measured.steps > 0 ? StepTimesJson(measured) : Json(nullptr);
  json["memory_roof"] = measured.memory_roof;
  json["roofline"] = point.bound == Bound::kUnknown ? Json(nullptr)
                                                    : Json({{"bound", ToText(point.bound)},
                                                            {"floor_seconds", point.floor_seconds},
                                                            {"share", point.share}});
  return json;
}

std::string MeasuredText(const Measured& measured, const Peaks& peaks) {
  const Summary seconds = Summarise(measured.seconds);
  const RooflinePoint point = RooflinePointOf(measured, peaks);
  std::array<char, 320> text{};
  std::string line;
  std::snprintf(text.data(), text.size(), "%-14s best %.6f s, median %.6f s, spread %.1f %%",
                measured.name.c_str(), seconds.min, seconds.median, 100 * seconds.spread);
  line += text.data();
  if (measured.bytes > 0) {
    std::snprintf(text.data(), text.size(), "; best %.2f GB/s",
                  measured.bytes / BestSeconds(measured) * 1e-9);
    line += text.data();
  }
  if (measured.flop > 0) {
    std::snprintf(text.data(), text.size(), "; best %.2f GFLOP/s",
                  measured.flop / BestSeconds(measured) * 1e-9);
    line += text.data();
  }
  if (point.bound != Bound::kUnknown) {
    std::snprintf(text.data(), text.size(), "; %.0f %% of the %s roof", 100 * point.share,
                  ToText(point.bound));
    line += text.data();
  }
  if (measured.steps > 0) {
    std::snprintf(text.data(), text.size(), "; best %.1f ns a step",
                  BestSeconds(measured) / measured.steps * 1e9);
    line += text.data();
  }
  return line + "\n";
}

Json CheckJson(const Check& check, const std::string& tolerance) {
  return {{"verified", check.ok()},
          {"max_error", check.max_error()},  // null when infinite
          {"error_over_tolerance", check.worst()},
          {"tolerance", tolerance},
          {"cases", check.cases()},
          {"failure", check.failure().empty() ? Json(nullptr) : Json(check.failure())}};
}

Peaks PeaksFor(const std::string& key, const std::function<Peaks()>& measure,
               const std::vector<Measured>& measured) {
  if (!measure) {
    return {};
  }
  const std::string file =
      PeaksFile(FromEnvironment("XDG_CACHE_HOME"), FromEnvironment("HOME"), HostName());
  const std::string versioned = key + ", kernels " + std::to_string(kKernelsVersion);
  Peaks peaks = CachedPeaks(file, versioned, measure);
  for (const Measured& each : measured) {
    if (each.memory_roof) {
      peaks.bytes_per_s = std::max(peaks.bytes_per_s, each.bytes / BestSeconds(each));
    }
    peaks.flop_per_s = std::max(peaks.flop_per_s, each.flop / BestSeconds(each));
  }
  RaisePeaks(file, versioned, peaks);
  return peaks;
}

int RunKernel(const Kernel& kernel, int argc, char** argv) {
  BenchOptions options;
  options.n = kernel.n;
  CommandLine line(kernel.name, kernel.purpose, kernel.example);
  AddBenchOptions(&line, &options, kernel.n_meaning, kernel.n_max,
                  "also check other sizes, odd tails and extreme values against a reference");
  if (kernel.add_options) {
    kernel.add_options(&line);
  }
  std::string timeline;
  AddTimelineOption(&line, &timeline);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::optional<int> exit = line.Parse(arguments, std::cout, std::cerr);
  if (exit.has_value()) {
    return *exit;
  }
  std::string problem = ProblemOf(kernel, options);
  PhaseMarker marker(problem.empty() ? timeline : "");
  problem = problem.empty() ? TimelineProblem(marker, timeline) : problem;
  if (!problem.empty()) {
    return line.Refuse(problem, std::cerr);
  }
  const std::optional<std::vector<Operation>> operations = kernel.prepare(options);
  if (!operations.has_value()) {
    const double needed = kernel.bytes_needed ? kernel.bytes_needed(options.n) : 0;
    return line.Refuse(TooLarge(options.n, needed, 0), std::cerr);
  }
  if (operations->empty()) {
    return line.Refuse("these options leave nothing to measure on this node: choose others",
                       std::cerr);
  }
  Outcome outcome;
  outcome.measured = Measure(Marked(*operations, &marker), options);
  for (const Operation& each : *operations) {
    if (each.check) {
      each.check(&outcome.check);
    }
  }
  if (options.verify && kernel.verify) {
    kernel.verify(options, &outcome.check);
  }
  outcome.peaks =
      PeaksFor(kernel.peaks_key ? kernel.peaks_key() : "", kernel.measure_peaks, outcome.measured);
  if (options.json) {
    PrintJson(kernel, options, outcome);
  } else {
    PrintText(kernel, options, outcome);
  }
  return outcome.check.ok() ? kExitOk : kExitFailed;
}

}  // namespace muster::kernels
