#pragma once

// Which jobs have which GPU of this node, as files for dcgm-exporter (--hpc-job-mapping-dir): one a
// GPU, named by its index, with the id of a job on each line.
//
// Thread promise: the loop's thread. Invariants: a reader sees a file whole; a GPU that no job has
// has none; files of other names are left alone.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "agent/attempts/place/attempt_key.h"
#include "agent/attempts/running_attempt.h"
#include "scheduler/model/machine/machine.h"

namespace muster::agent {

class GpuJobFiles {
 public:
  // `directory`: empty: nothing is written. `machine` outlives it.
  GpuJobFiles(std::string directory, const Machine& machine)
      : directory_(std::move(directory)), machine_(machine) {}

  // What cannot be written now is written the next time.
  void Write(const std::map<AttemptKey, RunningAttempt>& running);

 private:
  [[nodiscard]] std::string PathOf(std::uint32_t gpu) const;

  const std::string directory_;
  const Machine& machine_;
  std::map<std::uint32_t, std::set<std::uint64_t>> written_;  // by position in the machine
  bool begun_ = false;
};

}  // namespace muster::agent
