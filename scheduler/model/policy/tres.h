#pragma once

// Trackable resources (Slurm's TRES): named amounts that limits are written in.
//
// The text form is Slurm's: "cpu=10,mem=4G,node=2,gres/gpu=2,gres/gpu:a100=1". Invariants of a list
// that MergeTres made: (1) sorted by kind, then type; each pair once; (2) only kGpu has a type, in
// lower case, and kGres one, as it is written.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/value/fields.h"

namespace muster {

enum class TresKind : std::uint8_t {
  kCpu = 0,     // hardware threads
  kMemory = 1,  // bytes
  kNode = 2,    // nodes held, counted once for each job on them
  kGpu = 3,     // GPUs; `type` is part of the model's name, empty for any
  kGres = 4,    // a countable thing of nodes; `type` is its name
};

struct Tres {
  TresKind kind = TresKind::kCpu;
  std::string type;
  std::uint64_t count = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"kind", &Tres::kind}, Field{"type", &Tres::type},
                Field{"count", &Tres::count});
  }
  friend bool operator==(const Tres&, const Tres&) = default;
};

using TresList = std::vector<Tres>;

// "cpu", "mem", "node", "gres/gpu", "gres/gpu:a100", "gres/scratch".
std::string TresName(const Tres& tres);
// The amount alone: "10", "4G".
std::string TresAmountText(TresKind kind, std::uint64_t count);
// What MergeTres reads back.
std::string TresText(const TresList& list);

// Takes the amounts of `text` into `list`: those named are replaced, "cpu=-1" removes one, and an
// empty text removes all (Slurm's rule for changing limits). Memory without a suffix is MiB;
// suffixes B, K, M, G, T. InvalidArgument is one line.
absl::Status MergeTres(const std::string& text, TresList* list);

}  // namespace muster
