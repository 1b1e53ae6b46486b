#pragma once

// Which generations of one rank's local level are still to be copied to the shared one.
//
//   DIR/flush-0000000012      waits, and may still be withdrawn
//   DIR/flushing-0000000011   has been begun
//   DIR/flush.lock            held by the living helper
//   DIR/flush-error           what went wrong last, one line, until the program has read it
//
// The program adds and withdraws, its helper begins and ends: each by one rename or removal, so
// that a generation is either withdrawn or begun. Thread promise: one program and one helper.
// Invariants: (1) what is added is begun, or withdrawn, or still there, whichever process dies; (2)
// no process waits for a lock.

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/disk/disk.h"
#include "checkpoint/disk/error.h"

namespace muster::checkpoint {

class FlushQueue {
 public:
  // Of the directory `path`, which is there and this user's.
  static Result<FlushQueue> Open(Disk& disk, const std::string& path);
  FlushQueue() : directory_(Disk::Real(), -1) {}

  // --- The program's side ---
  Error Add(std::uint64_t generation);
  // Whether it was still waiting.
  bool Withdraw(std::uint64_t generation);
  // Waiting or begun, the oldest first.
  Result<std::vector<std::uint64_t>> Unflushed() const;
  Result<std::vector<std::uint64_t>> Waiting() const;
  // What Fail wrote, and forgets it; "" when nothing went wrong.
  std::string TakeError();

  // --- The helper's side ---
  // False when another living helper has it. Released when `lock` closes.
  Result<bool> Lock(OpenFile* lock);
  // The oldest that was begun or waits: it is begun now. 0: there is none.
  Result<std::uint64_t> BeginOldest();
  // How long ago that one, which was begun, was added; 0 when that is unknown.
  double SecondsSinceAdded(std::uint64_t generation) const;
  void End(std::uint64_t generation);
  void Fail(const std::string& line);

 private:
  FlushQueue(Disk& disk, std::string path, OpenFile directory)
      : disk_(&disk), path_(std::move(path)), directory_(std::move(directory)) {}

  Disk* disk_ = nullptr;
  std::string path_;
  OpenFile directory_;
};

}  // namespace muster::checkpoint
