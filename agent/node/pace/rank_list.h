#pragma once

// Which processes of an attempt are ranks here, by its journal: what its supervisor read back of
// each rank after the launch.
//
// Thread promise: the loop's thread. Invariants: a rank of a step that has ended is not listed; the
// batch script is none, and is told apart; at most kMost are listed.

#include <sys/types.h>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/supervisor/attempt/journal.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/index_set.h"

namespace muster::agent {

struct RankName {
  std::uint32_t step = 0;
  std::uint32_t rank = 0;
  friend auto operator<=>(const RankName&, const RankName&) = default;
};

struct RankHere {
  pid_t pid = 0;                       // of its first process
  CpuSet cpus;                         // on which it may run
  std::vector<std::string> gpus = {};  // UUIDs that it can see
};

class RankList {
 public:
  static constexpr std::size_t kMost = 4096;

  explicit RankList(std::string journal) : journal_(std::move(journal)) {}

  // Takes what the journal has had since the last call; what cannot be read says nothing new.
  const std::map<RankName, RankHere>& Read();
  // The batch script, as the last Read has it; step and rank are 0.
  [[nodiscard]] const std::optional<RankHere>& script() const { return script_; }

 private:
  AttemptJournalReader journal_;
  std::map<RankName, RankHere> ranks_;
  std::optional<RankHere> script_;
};

}  // namespace muster::agent
