// stream: the memory bandwidth of this machine and of each of its NUMA nodes, by the STREAM triad.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "agent/kernels/cpu/triad.h"
#include "agent/kernels/harness/bench.h"
#include "agent/kernels/harness/command_line.h"
#include "agent/kernels/harness/memory.h"
#include "agent/kernels/harness/placement.h"

namespace muster::kernels {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 50;

// What all measured repeats say about one NUMA node.
struct NodeReport {
  size_t threads = 0;  // the most seen in one repeat
  std::set<int> cpus;
  std::vector<double> rates;
};

struct Report {
  std::vector<double> seconds;
  std::vector<double> rates;
  std::map<int, NodeReport> nodes;
  std::set<int> cpus;
  size_t threads = 0;
  int migrations = 0;  // a thread that changed its CPU within a repeat
  double max_error = 0;
};

// The factor of a repeat differs from the last, so that a result left over from before is found
// out.
double FactorOf(int64_t repeat) {
  return 3.0 + static_cast<double>(repeat % 1024);
}

void Record(const std::vector<ThreadSample>& samples, Report* report) {
  report->seconds.push_back(Elapsed(samples));
  report->rates.push_back(TotalRate(samples));
  report->threads = std::max(report->threads, samples.size());
  for (const ThreadSample& sample : samples) {
    report->cpus.insert(sample.after.cpu);
    report->nodes[sample.after.node].cpus.insert(sample.after.cpu);
    report->migrations += sample.before.cpu != sample.after.cpu ? 1 : 0;
  }
  for (const NodeRate& rate : NodeRates(samples)) {
    NodeReport& node = report->nodes[rate.node];
    node.threads = std::max(node.threads, static_cast<size_t>(rate.threads));
    node.rates.push_back(rate.gb_per_s);
  }
}

Report Measure(const BenchOptions& options, Triad* triad) {
  Report report;
  const int64_t last = options.warmup + options.repeat - 1;
  for (int64_t i = 0; i <= last; ++i) {
    const std::vector<ThreadSample> samples = triad->Run(FactorOf(i));
    if (i >= options.warmup) {
      Record(samples, &report);
    }
    if (options.verify || i == last) {
      report.max_error = std::max(report.max_error, triad->MaxError(FactorOf(i)));
    }
  }
  return report;
}

void PrintJson(const BenchOptions& options, const Report& report) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const auto& [node, seen] : report.nodes) {
    nodes.push_back({{"node", node},
                     {"threads", seen.threads},
                     {"cpus", CpuListText(seen.cpus)},
                     {"gb_per_s", RateJson(seen.rates)}});
  }
  nlohmann::ordered_json json = BenchJson("stream", options);
  json["operation"] = "triad";
  json["bytes_per_element"] = kTriadBytesPerElement;
  json["bytes"] = options.n * kTriadBytesPerElement;
  json["flop"] = options.n * kTriadFlopPerElement;
  json["arithmetic_intensity"] =
      static_cast<double>(kTriadFlopPerElement) / static_cast<double>(kTriadBytesPerElement);
  json["threads"] = report.threads;
  json["cpus"] = CpuListText(report.cpus);
  json["cpus_allowed"] = CpuListText(AllowedCpus());
  json["migrations"] = report.migrations;
  json["seconds"] = SecondsJson(report.seconds);
  json["gb_per_s"] = RateJson(report.rates);
  json["nodes"] = nodes;
  json["verified"] = report.max_error == 0;
  json["max_error"] = report.max_error;  // null when an element was never written
  std::cout << json.dump() << "\n";
}

void PrintText(const BenchOptions& options, const Report& report) {
  const double array_bytes = static_cast<double>(options.n) * sizeof(double);
  std::printf("stream: triad a = b + s*c, %lld elements, 3 arrays of %s, %lld bytes an element\n",
              static_cast<long long>(options.n), BytesText(array_bytes).c_str(),
              static_cast<long long>(kTriadBytesPerElement));
  std::printf("threads %zu on cpus %s (allowed %s), %d migrations\n", report.threads,
              CpuListText(report.cpus).c_str(), CpuListText(AllowedCpus()).c_str(),
              report.migrations);
  for (const auto& [node, seen] : report.nodes) {
    const Summary rate = Summarise(seen.rates);
    std::printf("node %d: %zu threads on cpus %s, best %.2f GB/s, median %.2f GB/s\n", node,
                seen.threads, CpuListText(seen.cpus).c_str(), rate.max, rate.median);
  }
  const Summary rate = Summarise(report.rates);
  const Summary seconds = Summarise(report.seconds);
  std::printf("total: best %.2f GB/s, median %.2f GB/s\n", rate.max, rate.median);
  std::printf("time: best %.6f s, median %.6f s, spread %.1f %% over %lld repeats\n", seconds.min,
              seconds.median, 100 * seconds.spread, static_cast<long long>(options.repeat));
  std::printf("check: %s (max error %g)\n", report.max_error == 0 ? "passed" : "FAILED",
              report.max_error);
}

// `available` 0: the system refused without saying what it has.
std::string TooLarge(int64_t n, int64_t needed, int64_t available) {
  std::ostringstream problem;
  problem << "--n: " << n << " elements need " << BytesText(static_cast<double>(needed));
  if (available > 0) {
    problem << ", " << BytesText(static_cast<double>(available)) << " are available here";
  } else {
    problem << ", which the system refused";
  }
  problem << ": choose fewer";
  return problem.str();
}

int Run(int argc, char** argv) {
  BenchOptions options;
  options.n = int64_t{16} << 20;
  options.repeat = 10;
  CommandLine line("stream",
                   "memory bandwidth by the OpenMP triad a = b + s*c, in all and per NUMA node.\n"
                   "Arrays are placed by first touch; 24 bytes are counted per element; choose --n "
                   "so that\none array is at least four times the last-level cache. The result is "
                   "always checked at the end.",
                   "OMP_NUM_THREADS=4 OMP_PROC_BIND=close OMP_PLACES=cores stream --n 64M --json");
  AddBenchOptions(&line, &options, "elements in each of the three arrays", kMaxElements,
                  "check the result after every repeat, not only the last");
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::optional<int> exit = line.Parse(arguments, std::cout, std::cerr);
  if (exit.has_value()) {
    return *exit;
  }
  const int64_t needed = options.n * kTriadBytesPerElement;
  const int64_t available = AvailableBytes();
  if (available > 0 && needed > available) {
    return line.Refuse(TooLarge(options.n, needed, available), std::cerr);
  }
  Triad triad(options.n, static_cast<uint64_t>(options.seed));
  if (!triad.allocated()) {
    return line.Refuse(TooLarge(options.n, needed, 0), std::cerr);
  }
  const Report report = Measure(options, &triad);
  if (options.json) {
    PrintJson(options, report);
  } else {
    PrintText(options, report);
  }
  return report.max_error == 0 ? kExitOk : kExitFailed;
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
