#pragma once

// What the agent sampled of an attempt's use of this node, in a file of the attempt's directory:
// three whole numbers on a line.
//
// Thread promise: safe from any thread. Invariant: a reader sees one sample whole; a file that is
// not there, or not one of these, is nothing sampled.

#include <cstdint>
#include <string>

namespace muster {

struct SampledUsage {
  std::uint64_t gpu_busy_ms = 0;    // time in which its GPUs worked, of all of them together
  std::uint64_t gpu_memory = 0;     // bytes, the most of one GPU
  std::uint64_t gpu_energy_mj = 0;  // millijoules
  friend bool operator==(const SampledUsage&, const SampledUsage&) = default;
};

SampledUsage ReadSampledUsage(const std::string& path);

// A sample that cannot be written is lost; the next one has it too.
void WriteSampledUsage(const std::string& path, const SampledUsage& usage);

}  // namespace muster
