#pragma once

// A restart of all ranks from one generation: the newest that each of them can read its part of, or
// have it rebuilt.
//
// Thread promise: one thread at a time; each call is made by all ranks. Invariants: those of
// Agreement; no rank's memory changes before all have examined the generation and rank 0 has noted
// the restart.

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/group/agreement.h"
#include "checkpoint/group/group_rebuild.h"
#include "checkpoint/session/session.h"

namespace muster::checkpoint {

class GroupRestore {
 public:
  // Both outlive this.
  GroupRestore(Agreement* ranks, Session* session)
      : ranks_(ranks), session_(session), rebuild_(ranks, session) {}

  // As Collective::RestoreLatest.
  Result<std::uint64_t> RestoreLatest();

  // Why generations were passed over, a line each.
  const std::vector<std::string>& passed() const { return passed_; }
  // The generation that RestoreLatest let ranks read last, which each may have copied again; 0:
  // none.
  std::uint64_t read_from() const { return read_from_; }

 private:
  Error SetAsideEverywhere(std::uint64_t generation);
  Error Offer(std::vector<Pick>* picks);
  Error Picks(std::vector<Pick>* picks);
  Error Try(const Pick& pick);
  // Whether all ranks came back from it.
  Error TryShared(const GenerationName& name);
  Error TryLocal(const Pick& pick);
  Holding Examine(const Pick& pick, Error* fatal);
  Error ComeBack(std::uint64_t generation);

  Agreement* ranks_;
  Session* session_;
  GroupRebuild rebuild_;
  std::vector<std::string> passed_;
  std::uint64_t read_from_ = 0;
};

}  // namespace muster::checkpoint
