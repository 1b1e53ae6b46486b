#pragma once

// A commit of all ranks to their local levels, with the parity of each protection set.
//
// Every rank writes its shard and the same manifest to its own node; some of the commits are copied
// to the shared directory, the same ones by all ranks, so that none waits for a shard in vain.
// Thread promise: one thread at a time; each call is made by all ranks. Invariants: those of
// Agreement; what fails on one rank is taken back on all.

#include <cstdint>
#include <vector>

#include "checkpoint/group/agreement.h"
#include "checkpoint/parity/protection_set.h"
#include "checkpoint/session/session.h"

namespace muster::checkpoint {

class LocalCommit {
 public:
  // Both outlive this.
  LocalCommit(Agreement* ranks, Session* session) : ranks_(ranks), session_(session) {}

  // The protection sets, where the options ask for parity. kUsage: they cannot be formed.
  Error Form();
  // `need`: what all ranks were told last. REQUIRES: the session has a local level.
  Error Save(Need need);
  // All ranks flush this one, as they came back from it.
  void NoteFlush(std::uint64_t generation) { asked_ = generation; }

 private:
  Error Write(std::uint64_t generation);
  Error WriteParity(const Manifest& manifest);
  Error VerifyParity(std::uint64_t generation) const;
  Error AskForFlush(std::uint64_t generation, Need need);

  Agreement* ranks_;
  Session* session_;
  std::vector<ProtectionSet> sets_;
  std::uint64_t asked_ = 0;  // the generation whose flush was asked for last
};

}  // namespace muster::checkpoint
