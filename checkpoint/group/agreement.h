#pragma once

// What ranks of a group tell one another: a verdict, a number, a text, a record of each.
//
// Thread promise: one thread at a time; each call is made by all ranks, in the same order.
// Invariants: all ranks that return from a call return the same, unless the group failed; a group
// that failed (a rank is gone) fails every call from then on.

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/disk/error.h"
#include "checkpoint/group/group.h"

namespace muster::checkpoint {

class Agreement {
 public:
  // `group` outlives this.
  explicit Agreement(Group* group) : group_(group) {}

  Group* group() const { return group_; }
  std::uint32_t rank() const { return group_->rank(); }
  std::uint32_t ranks() const { return group_->ranks(); }
  bool broken() const { return broken_; }
  // The ranks lost one another in a call that was not made here.
  void Break() { broken_ = true; }

  // The error of the first rank that has one, on every rank, with that rank's number.
  Error Agree(const Error& own);
  // Rank 0's number; the smallest of all.
  Error Share(std::uint64_t* number);
  Error Least(std::uint64_t* number);
  // The text of `root`.
  Error ShareText(std::uint32_t root, std::string* text);
  // All of rank 0's, as many as it has.
  template <class Record>
  Error ShareAll(std::vector<Record>* all) {
    std::uint64_t count = all->size();
    const Error error = Share(&count);
    all->resize(error.failed() ? 0 : count);
    return Broadcast(0, all->data(), all->size() * sizeof(Record));
  }
  // Each rank's, rank 0's first: on rank 0; on all ranks.
  template <class Record>
  Error Gather(const Record& own, std::vector<Record>* all) {
    all->resize(rank() == 0 ? ranks() : 0);
    broken_ = broken_ || !group_->Gather(&own, sizeof own, all->data());
    return Verdict();
  }
  template <class Record>
  Error GatherAll(const Record& own, std::vector<Record>* all) {
    all->resize(ranks());
    broken_ = broken_ || !group_->Gather(&own, sizeof own, all->data());
    return Broadcast(0, all->data(), all->size() * sizeof own);
  }

 private:
  Error Broadcast(std::uint32_t root, void* bytes, std::size_t size);
  // kSystem once the group failed.
  Error Verdict() const;

  Group* group_;
  bool broken_ = false;
};

}  // namespace muster::checkpoint
