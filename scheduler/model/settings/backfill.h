#pragma once

// Who may overtake a job that waits: the kinds of backfilling, and their names in settings and
// options.
//
// One list for the planner of nodes and for the queues of identical processors. Invariants: values
// are positions in kBackfillNames.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

enum class Backfill : std::uint8_t {
  kNone = 0,          // none do
  kEasy = 1,          // those that do not delay the first (Lifka, JSSPP 1995)
  kConservative = 2,  // those that delay no job (Mu'alem and Feitelson, TPDS 12(6), 2001)
  kHybrid = 3,        // those that do not delay the first few; the planner of nodes only
};

inline constexpr std::array<const char*, 4> kBackfillNames = {"none", "easy", "conservative",
                                                              "hybrid"};

constexpr const char* Name(Backfill backfill) {
  return kBackfillNames[static_cast<std::size_t>(backfill)];
}

constexpr std::optional<Backfill> BackfillNamed(std::string_view name) {
  for (std::size_t i = 0; i < kBackfillNames.size(); ++i) {
    if (name == kBackfillNames[i]) {
      return static_cast<Backfill>(i);
    }
  }
  return std::nullopt;
}

}  // namespace muster
