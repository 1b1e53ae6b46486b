#pragma once

// Which of the identical processors each job has: the lowest that are free, so that the schedule
// can be drawn and checked processor by processor.
//
// No decision depends on it. Memory and time go with the number of gaps, not of processors. Thread
// promise: a value; one thread at a time. Invariants: free ranges neither overlap nor touch.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace muster::sim {

// First and last, both included.
using ProcessorRange = std::pair<std::int64_t, std::int64_t>;
using ProcessorRanges = std::vector<ProcessorRange>;

class ProcessorMap {
 public:
  explicit ProcessorMap(std::int64_t processors) { free_.emplace(0, processors - 1); }

  // REQUIRES: that many are free.
  ProcessorRanges Take(std::int64_t count);
  // REQUIRES: Take gave them, and they have not been given back.
  void Give(const ProcessorRanges& ranges);

 private:
  std::map<std::int64_t, std::int64_t> free_;
};

// "0-3 7": how Batsim and evalys write processors.
void AppendRanges(const ProcessorRanges& ranges, std::string* text);

}  // namespace muster::sim
