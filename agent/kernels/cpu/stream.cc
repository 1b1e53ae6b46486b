// stream: the memory bandwidth of this machine and of each of its NUMA nodes, by STREAM's
// operations.

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/kernels/cpu/cpu_peaks.h"
#include "agent/kernels/cpu/stream_arrays.h"
#include "agent/kernels/harness/bench.h"
#include "agent/kernels/harness/check.h"
#include "agent/kernels/harness/command_line.h"
#include "agent/kernels/harness/kernel.h"
#include "agent/kernels/harness/node_facts.h"
#include "agent/kernels/harness/timeline.h"
#include "agent/kernels/place/memory.h"
#include "agent/kernels/place/placement.h"

namespace muster::kernels {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 50;
constexpr const char* kExact = "0: the same operations, rounded one by one";

// What all measured repeats say about one NUMA node.
struct NodeReport {
  size_t threads = 0;  // the most seen in one repeat
  std::set<int> cpus;
  std::vector<double> rates;
};

// The places and rates are those of the triad.
struct Report {
  std::vector<Measured> operations;
  Check check;
  Peaks peaks;
  std::vector<double> rates;
  std::map<int, NodeReport> nodes;
  std::set<int> cpus;
  size_t threads = 0;
  int migrations = 0;  // a thread that changed its CPU within a repeat
};

// The factor of a repeat differs from the last, so that a result left over from before is found
// out.
double FactorOf(int64_t repeat) {
  return 3.0 + static_cast<double>(repeat % 1024);
}

void RecordPlaces(const std::vector<ThreadSample>& samples, int64_t bytes_per_element,
                  Report* report) {
  report->rates.push_back(TotalRate(samples, bytes_per_element));
  report->threads = std::max(report->threads, samples.size());
  for (const ThreadSample& sample : samples) {
    report->cpus.insert(sample.after.cpu);
    report->nodes[sample.after.node].cpus.insert(sample.after.cpu);
    report->migrations += sample.before.cpu != sample.after.cpu ? 1 : 0;
  }
  for (const NodeRate& rate : NodeRates(samples, bytes_per_element)) {
    NodeReport& node = report->nodes[rate.node];
    node.threads = std::max(node.threads, static_cast<size_t>(rate.threads));
    node.rates.push_back(rate.gb_per_s);
  }
}

Report Measure(const BenchOptions& options, StreamArrays* arrays, PhaseMarker* marker) {
  Report report;
  const bool memory_roof = options.n * kStreamBytesPerElement > LastLevelCacheBytes();
  for (const StreamOperationFacts& facts : kStreamOperations) {
    report.operations.push_back({facts.name,
                                 static_cast<double>(options.n * facts.flop_per_element),
                                 static_cast<double>(options.n * facts.bytes_per_element),
                                 0,
                                 memory_roof,
                                 {}});
  }
  const int64_t last = options.warmup + options.repeat - 1;
  for (int64_t i = 0; i <= last; ++i) {
    for (size_t at = 0; at < kStreamOperations.size(); ++at) {
      const StreamOperationFacts& facts = kStreamOperations[at];
      const std::vector<ThreadSample> samples = [&] {
        const PhaseMarker::Span phase = marker->Phase(facts.name);
        return arrays->Run(facts.operation, FactorOf(i));
      }();
      if (i >= options.warmup) {
        report.operations[at].seconds.push_back(Elapsed(samples));
      }
      if (i >= options.warmup && facts.operation == StreamOperation::kTriad) {
        RecordPlaces(samples, facts.bytes_per_element, &report);
      }
      if (options.verify || i == last) {
        report.check.Hold(facts.name, arrays->MaxError(facts.operation, FactorOf(i)), 0);
      }
    }
  }
  report.peaks = PeaksFor(CpuPeaksKey(), MeasureCpuPeaks, report.operations);
  return report;
}

nlohmann::ordered_json NodesJson(const Report& report) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const auto& [node, seen] : report.nodes) {
    nodes.push_back({{"node", node},
                     {"threads", seen.threads},
                     {"cpus", CpuListText(seen.cpus)},
                     {"gb_per_s", RateJson(seen.rates)}});
  }
  return nodes;
}

// The triad's figures stand at the top: they are what a placement is judged by.
void PrintJson(const BenchOptions& options, Stores stores, const Report& report) {
  const StreamOperationFacts& triad = FactsOf(StreamOperation::kTriad);
  nlohmann::ordered_json operations = nlohmann::ordered_json::array();
  for (const Measured& each : report.operations) {
    operations.push_back(MeasuredJson(each, report.peaks));
  }
  nlohmann::ordered_json json = BenchJson("stream", options);
  json["operation"] = triad.name;
  json["bytes_per_element"] = triad.bytes_per_element;
  json["bytes"] = options.n * triad.bytes_per_element;
  json["flop"] = options.n * triad.flop_per_element;
  json["arithmetic_intensity"] =
      static_cast<double>(triad.flop_per_element) / static_cast<double>(triad.bytes_per_element);
  json["stores"] = stores == Stores::kStreaming ? "streaming" : "ordinary";
  json["migrations"] = report.migrations;
  json["seconds"] = SecondsJson(report.operations.back().seconds);
  json["gb_per_s"] = RateJson(report.rates);
  json["nodes"] = NodesJson(report);
  json["operations"] = operations;
  json["peaks"] = {{"gflop_per_s", report.peaks.flop_per_s * 1e-9},
                   {"gb_per_s", report.peaks.bytes_per_s * 1e-9}};
  json["node"] = NodeJson();
  json.update(CpuFacts());
  json["threads"] = report.threads;
  json["cpus"] = CpuListText(report.cpus);
  json.update(CheckJson(report.check, kExact));
  std::cout << json.dump() << "\n";
}

void PrintText(const BenchOptions& options, Stores stores, const Report& report) {
  const double array_bytes = static_cast<double>(options.n) * sizeof(double);
  std::printf("stream: %lld elements, 3 arrays of %s, %s stores\n",
              static_cast<long long>(options.n), BytesText(array_bytes).c_str(),
              stores == Stores::kStreaming ? "streaming" : "ordinary");
  std::printf("threads %zu on cpus %s (allowed %s), %d migrations\n", report.threads,
              CpuListText(report.cpus).c_str(), CpuListText(AllowedCpus()).c_str(),
              report.migrations);
  for (const Measured& each : report.operations) {
    std::printf("%s", MeasuredText(each, report.peaks).c_str());
  }
  for (const auto& [node, seen] : report.nodes) {
    const Summary rate = Summarise(seen.rates);
    std::printf("node %d: %zu threads on cpus %s, triad best %.2f GB/s, median %.2f GB/s\n", node,
                seen.threads, CpuListText(seen.cpus).c_str(), rate.max, rate.median);
  }
  const Summary rate = Summarise(report.rates);
  std::printf("total: triad best %.2f GB/s, median %.2f GB/s\n", rate.max, rate.median);
  std::printf("check: %s (max error %g)\n", report.check.ok() ? "passed" : "FAILED",
              report.check.max_error());
}

int Run(int argc, char** argv) {
  BenchOptions options;
  options.n = int64_t{16} << 20;
  options.repeat = 10;
  CommandLine line(
      "stream",
      "memory bandwidth by STREAM's copy, scale, add and triad, in all and per NUMA node.\n"
      "Arrays are placed by first touch; what is read once and written once counts; "
      "choose --n so that\none array is at least four times the last-level cache. The "
      "result is always checked at the end.",
      "OMP_NUM_THREADS=4 OMP_PROC_BIND=close OMP_PLACES=cores stream --n 64M --json");
  AddBenchOptions(&line, &options, "elements in each of the three arrays", kMaxElements,
                  "check the result after every repeat, not only the last");
  std::string timeline;
  AddTimelineOption(&line, &timeline);
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const std::optional<int> exit = line.Parse(arguments, std::cout, std::cerr);
  if (exit.has_value()) {
    return *exit;
  }
  const int64_t needed = options.n * kStreamBytesPerElement;
  const int64_t available = AvailableBytes();
  if (available > 0 && needed > available) {
    return line.Refuse(
        TooLarge(options.n, static_cast<double>(needed), static_cast<double>(available)),
        std::cerr);
  }
  StreamArrays arrays(options.n, static_cast<uint64_t>(options.seed));
  if (!arrays.allocated()) {
    return line.Refuse(TooLarge(options.n, static_cast<double>(needed), 0), std::cerr);
  }
  PhaseMarker marker(timeline);
  const std::string problem = TimelineProblem(marker, timeline);
  if (!problem.empty()) {
    return line.Refuse(problem, std::cerr);
  }
  const Report report = Measure(options, &arrays, &marker);
  if (options.json) {
    PrintJson(options, arrays.stores(), report);
  } else {
    PrintText(options, arrays.stores(), report);
  }
  return report.check.ok() ? kExitOk : kExitFailed;
}

}  // namespace
}  // namespace muster::kernels

int main(int argc, char** argv) {
  return muster::kernels::Run(argc, argv);
}
