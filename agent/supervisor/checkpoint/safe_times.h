#pragma once

// How long checkpoints took until they were safe, and the time that 99 of 100 of them took at most.
//
// Thread promise: none; one thread. Invariants: it keeps the newest kSafeTimesKept times, and what
// it says is one of them: by nearest rank (the smallest that at least 99 of 100 do not exceed), so
// of fewer than 100 the longest.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/value/time.h"

namespace muster::agent {

inline constexpr std::size_t kSafeTimesKept = 1024;

class SafeTimes {
 public:
  void Add(Duration time);
  // 0: none was added.
  [[nodiscard]] Duration Slow() const;

 private:
  std::vector<Duration> times_;
  std::size_t next_ = 0;  // which is replaced next, once all places are taken
};

// When what lies in the directory changed last, itself or its entries; nothing where it cannot be
// read. Opens no file, follows no link, and looks at the first ten thousand entries only.
std::optional<Time> NewestChange(const std::string& directory);

}  // namespace muster::agent
