#pragma once

// Ranks that act together: the few things that a collective checkpoint needs of whatever carries
// their messages (MPI, or anything else that can do these).
//
// Every call but Exchange is made by all ranks, in the same order. Thread promise: one thread at a
// time. Invariants: a call that answers true did its work on this rank; one that answers false may
// have done it on others, and then the group is of no use any more.

#include <cstddef>
#include <cstdint>

namespace muster::checkpoint {

class Group {
 public:
  Group() = default;
  virtual ~Group() = default;
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  virtual std::uint32_t rank() const = 0;
  virtual std::uint32_t ranks() const = 0;
  // `bytes` of `root` on every rank.
  virtual bool Broadcast(std::uint32_t root, void* bytes, std::size_t size) = 0;
  // `size` bytes of each rank, rank 0's first, in `all` on rank 0; elsewhere `all` is not used.
  virtual bool Gather(const void* own, std::size_t size, void* all) = 0;
  // The smallest value of all ranks.
  virtual bool Least(std::uint64_t* value) = 0;

  // What redundancy needs besides; a group may lack it.
  virtual bool CanExchange() const { return false; }
  // Sends to one rank while it receives from one; with a size of 0 there is no such rank. Only the
  // ranks that take part make the call.
  struct Outgoing {
    std::uint32_t to = 0;
    const void* bytes = nullptr;
    std::size_t size = 0;
  };
  struct Incoming {
    std::uint32_t from = 0;
    void* bytes = nullptr;
    std::size_t size = 0;
  };
  virtual bool Exchange(const Outgoing& /*out*/, const Incoming& /*in*/) { return false; }
};

}  // namespace muster::checkpoint
