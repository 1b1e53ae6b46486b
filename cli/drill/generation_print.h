#pragma once

// What a generation holds, region by region, and in what two of them differ.
//
// The name of the job stands in each shard, so shards of two jobs never are the same file; their
// regions may be. Reads, and writes nothing. Thread promise: one thread at a time. Invariant: a
// print is made only of a generation that every checksum vouches for.

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/disk/error.h"
#include "checkpoint/store/store.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// One region of one rank, by its bytes.
struct RegionPrint {
  std::uint32_t rank = 0;
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
  friend bool operator==(const RegionPrint&, const RegionPrint&) = default;
};

struct GenerationPrint {
  std::uint64_t generation = 0;
  std::uint32_t ranks = 0;
  Time written = kNoTime;
  std::vector<RegionPrint> regions;  // by rank, in each as they were protected
};

// Reads every byte, twice.
checkpoint::Result<GenerationPrint> PrintOf(const checkpoint::Store& store,
                                            std::uint64_t generation);

enum class StateMatch {
  kNotCompared,
  kEqual,
  kDiffers,
  kOtherRanks,  // other numbers of ranks wrote them: their regions are others
};

struct StateComparison {
  StateMatch match = StateMatch::kNotCompared;
  std::uint64_t generation = 0;
  std::size_t regions = 0;
  std::vector<RegionPrint> differing;  // the original's, or what it has not
  std::uint32_t original_ranks = 0;
  std::uint32_t drill_ranks = 0;
};

// Pure.
StateComparison CompareStates(const GenerationPrint& original, const GenerationPrint& drill);

}  // namespace muster::cli
