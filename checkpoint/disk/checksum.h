#pragma once

// XXH3-64 over bytes that come piece by piece.
//
// Y. Collet, xxHash, https://xxhash.com: not against attackers, who could change the checksum as
// well; against disks, cables and half-written files. Thread promise: one thread at a time.
// Invariant: the value depends on the bytes alone, not on how they were divided.

#include <cstddef>
#include <cstdint>
#include <memory>

namespace muster::checkpoint {

class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  void Add(const void* bytes, std::size_t size);
  std::uint64_t value() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace muster::checkpoint
