#pragma once

// Which complete generations stay when a new one is there.
//
// The newest N, and milestones; of these none that is too old, and of the rest no more bytes than
// the directory may take. Invariants: the newest always stays; what is chosen to go is complete,
// and older than something that stays.

#include <cstdint>
#include <vector>

namespace muster::checkpoint {

struct Retention {
  std::uint32_t keep = 2;       // the newest
  std::uint64_t milestone = 0;  // and all whose number it divides; 0: none
  double age_s = 0;             // of these, none written longer ago; 0: of any age
  std::uint64_t bytes = 0;      // of these, together no more: the oldest go; 0: any number
};

struct Aged {
  std::uint64_t number = 0;
  std::uint64_t written_ms = 0;  // of the Unix epoch
  std::uint64_t bytes = 0;
};

// The numbers of those that go, of `complete`, the newest first.
std::vector<std::uint64_t> Surplus(const std::vector<Aged>& complete, const Retention& retention,
                                   std::uint64_t now_ms);

}  // namespace muster::checkpoint
