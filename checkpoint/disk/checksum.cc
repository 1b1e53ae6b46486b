#include "checkpoint/disk/checksum.h"

// The header holds all of it: programs that link this library need no other.
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace muster::checkpoint {

struct Checksum::State {
  XXH3_state_t state;
};

Checksum::Checksum() : state_(std::make_unique<State>()) {
  XXH3_64bits_reset(&state_->state);
}

Checksum::~Checksum() = default;

void Checksum::Add(const void* bytes, std::size_t size) {
  XXH3_64bits_update(&state_->state, bytes, size);
}

std::uint64_t Checksum::value() const {
  return XXH3_64bits_digest(&state_->state);
}

}  // namespace muster::checkpoint
