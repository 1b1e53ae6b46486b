#pragma once

// A group whose messages a C program carries (muster_checkpoint.h).
//
// Thread promise: one thread at a time. Invariant: `release` is called once, when the last use of
// the context is over.

#include "checkpoint/group/group.h"
#include "checkpoint/muster_checkpoint.h"

namespace muster::checkpoint {

class CGroup final : public Group {
 public:
  // Whether it has ranks, this one among them, and all the calls.
  static bool IsWhole(const muster_checkpoint_group& calls);

  // REQUIRES: IsWhole.
  explicit CGroup(const muster_checkpoint_group& calls) : calls_(calls) {}
  ~CGroup() override;

  std::uint32_t rank() const override { return calls_.rank; }
  std::uint32_t ranks() const override { return calls_.ranks; }
  bool Broadcast(std::uint32_t root, void* bytes, std::size_t size) override;
  bool Gather(const void* own, std::size_t size, void* all) override;
  bool Least(std::uint64_t* value) override;
  bool CanExchange() const override { return calls_.exchange != nullptr; }
  bool Exchange(const Outgoing& out, const Incoming& in) override;

 private:
  muster_checkpoint_group calls_;
};

}  // namespace muster::checkpoint
