#pragma once

// The frame of the kernels that run on one node: options, memory, warm-up, repeats, checks, the
// roofline and the report. A kernel is data and a few functions; its main is one call.
//
// Thread promise: everything runs on the thread that calls RunKernel; operations open their own
// OpenMP teams or use their own device. Invariant: nothing is measured before the options, the
// memory and the device have been found good; a wrong result exits 1 whatever its speed.

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "agent/kernels/harness/bench.h"
#include "agent/kernels/harness/check.h"
#include "agent/kernels/harness/roofline.h"

namespace muster {
class PhaseMarker;
}  // namespace muster

namespace muster::kernels {

// One thing that is timed.
struct Operation {
  std::string name;
  double flop = 0;   // floating-point operations of one repeat
  double bytes = 0;  // the fewest bytes that one repeat must move: inputs once, outputs once
  double steps = 0;  // what follows one upon the other and has a latency: loads, launches, messages
  bool memory_roof = true;      // false: the data fits in a cache, or travels over a link
  std::function<double()> run;  // one repeat; its seconds
  // Compares the result of the repeats with a reference; may be empty.
  std::function<void(Check*)> check = nullptr;
};

// What the repeats of an operation took.
struct Measured {
  std::string name;
  double flop = 0;
  double bytes = 0;
  double steps = 0;
  bool memory_roof = true;
  std::vector<double> seconds;
};

struct Kernel {
  std::string name;
  std::string purpose;  // of --help; one sentence and its details
  std::string example;  // a whole command
  std::string n_meaning;
  int64_t n = 0;  // by default
  int64_t n_max = 0;
  std::string tolerance;  // what the checks allow, in words
  // Each may be empty.
  std::function<void(CommandLine*)> add_options;
  std::function<double(int64_t n)> bytes_needed;  // in this node's memory
  // What is wrong with the options or the device; "" nothing.
  std::function<std::string(int64_t n)> problem;
  // nullopt: the system refused the memory.
  std::function<std::optional<std::vector<Operation>>(const BenchOptions&)> prepare;
  // `--verify`: other sizes, odd tails, extreme values.
  std::function<void(const BenchOptions&, Check*)> verify;
  std::function<Peaks()> measure_peaks;
  std::function<std::string()> peaks_key;         // what the peaks depend on
  std::function<nlohmann::ordered_json()> facts;  // merged into the document
};

// "--n: N needs X, Y is available here: choose fewer"; `available` 0: the system refused
// without saying what it has.
std::string TooLarge(int64_t n, double needed, double available);

// The same operations, each run marked by its name. The marker outlives them.
std::vector<Operation> Marked(const std::vector<Operation>& operations, PhaseMarker* marker);

// Runs each operation warmup + repeat times. Operations take turns within a repeat, so that a
// disturbance hits all of them.
std::vector<Measured> Measure(const std::vector<Operation>& operations,
                              const BenchOptions& options);

// One entry of "operations": name, flop, bytes, arithmetic_intensity, seconds, gb_per_s,
// gflop_per_s, nanoseconds_per_step (null without steps), roofline (bound, floor_seconds, share;
// null without a peak that applies).
nlohmann::ordered_json MeasuredJson(const Measured& measured, const Peaks& peaks);

// The same in two lines for people.
std::string MeasuredText(const Measured& measured, const Peaks& peaks);

// "verified", "max_error", "error_over_tolerance", "tolerance", "cases", "failure".
nlohmann::ordered_json CheckJson(const Check& check, const std::string& tolerance);

// The kept or newly measured peaks, raised to what `measured` reached of the memory's bandwidth.
Peaks PeaksFor(const std::string& key, const std::function<Peaks()>& measure,
               const std::vector<Measured>& measured);

// The whole program: parses, measures, checks, prints. The exit code.
int RunKernel(const Kernel& kernel, int argc, char** argv);

}  // namespace muster::kernels
