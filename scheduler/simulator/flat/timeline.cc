#include "scheduler/simulator/flat/timeline.h"

#include <algorithm>

#include "scheduler/base/status.h"

namespace muster::sim {

void Timeline::Advance(Tick now) {
  MUSTER_CHECK(now >= now_);
  now_ = now;
  std::size_t gone = 0;  // blocks that are wholly in the past
  while (gone < blocks_.size() && outlines_[gone].first <= now) {
    Block& block = *blocks_[gone];
    while (block.begin < block.end && block.at[block.begin] <= now) {
      free_now_ += block.by[block.begin++];
      --changes_;
    }
    if (block.begin < block.end) {
      Outlined(gone);
      break;
    }
    ++gone;
  }
  if (gone != 0) {
    const auto count = static_cast<std::ptrdiff_t>(gone);
    blocks_.erase(blocks_.begin(), blocks_.begin() + count);
    outlines_.erase(outlines_.begin(), outlines_.begin() + count);
  }
}

void Timeline::Change(Tick from, Tick until, std::int64_t by) {
  MUSTER_CHECK(from >= now_ && from < until);
  if (from == now_) {
    free_now_ += by;
  } else {
    AddChange(from, by);
  }
  if (until != kNever) {
    AddChange(until, -by);
  }
}

// The block that holds `at` or would: the last that does not begin after it, else the first.
std::size_t Timeline::BlockOf(Tick at) const {
  const auto after =
      std::upper_bound(outlines_.begin(), outlines_.end(), at,
                       [](Tick tick, const Outline& outline) { return tick < outline.first; });
  return after == outlines_.begin() ? 0 : static_cast<std::size_t>(after - outlines_.begin()) - 1;
}

void Timeline::AddChange(Tick at, std::int64_t by) {
  if (by == 0) {
    return;
  }
  if (blocks_.empty()) {
    blocks_.push_back(std::make_unique<Block>());
    outlines_.emplace_back();
  }
  const std::size_t index = BlockOf(at);
  Block& block = *blocks_[index];
  std::size_t place = block.begin;
  while (place < block.end && block.at[place] < at) {
    ++place;
  }
  if (place == block.end || block.at[place] != at) {
    InsertAt(index, place, at, by);
    return;
  }
  block.by[place] += by;
  if (block.by[place] == 0) {
    RemoveAt(index, place);
  } else {
    Outlined(index);
  }
}

void Timeline::InsertAt(std::size_t index, std::size_t place, Tick at, std::int64_t by) {
  Block& block = *blocks_[index];
  if (block.end - block.begin == kBlock) {
    Split(index);
    AddChange(at, by);
    return;
  }
  if (block.begin > 0) {  // The changes before it move one to the left.
    for (std::size_t i = block.begin; i < place; ++i) {
      block.at[i - 1] = block.at[i];
      block.by[i - 1] = block.by[i];
    }
    --block.begin;
    --place;
  } else {
    for (std::size_t i = block.end; i > place; --i) {
      block.at[i] = block.at[i - 1];
      block.by[i] = block.by[i - 1];
    }
    ++block.end;
  }
  block.at[place] = at;
  block.by[place] = by;
  ++changes_;
  Outlined(index);
}

void Timeline::RemoveAt(std::size_t index, std::size_t place) {
  Block& block = *blocks_[index];
  for (std::size_t i = place; i + 1 < block.end; ++i) {
    block.at[i] = block.at[i + 1];
    block.by[i] = block.by[i + 1];
  }
  --block.end;
  --changes_;
  if (block.begin == block.end) {
    blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index));
    outlines_.erase(outlines_.begin() + static_cast<std::ptrdiff_t>(index));
    return;
  }
  Outlined(index);
  MergeWithNext(index);
}

// The upper half of a full block becomes a block of its own.
void Timeline::Split(std::size_t index) {
  auto upper = std::make_unique<Block>();
  Block& lower = *blocks_[index];
  const std::size_t half = kBlock / 2;
  std::copy(lower.at.begin() + half, lower.at.end(), upper->at.begin());
  std::copy(lower.by.begin() + half, lower.by.end(), upper->by.begin());
  upper->end = kBlock - half;
  lower.end = half;
  const auto next = static_cast<std::ptrdiff_t>(index) + 1;
  blocks_.insert(blocks_.begin() + next, std::move(upper));
  outlines_.insert(outlines_.begin() + next, Outline());
  Outlined(index);
  Outlined(index + 1);
}

// Two thin neighbours become one, so that a search meets no row of nearly empty blocks.
void Timeline::MergeWithNext(std::size_t index) {
  if (index + 1 >= blocks_.size()) {
    return;
  }
  Block& left = *blocks_[index];
  const Block& right = *blocks_[index + 1];
  const std::size_t count = left.end - left.begin;
  if (count + right.end - right.begin > kBlock / 2) {
    return;
  }
  if (left.begin != 0) {
    std::copy(left.at.data() + left.begin, left.at.data() + left.end, left.at.data());
    std::copy(left.by.data() + left.begin, left.by.data() + left.end, left.by.data());
  }
  std::copy(right.at.data() + right.begin, right.at.data() + right.end, left.at.data() + count);
  std::copy(right.by.data() + right.begin, right.by.data() + right.end, left.by.data() + count);
  left.begin = 0;
  left.end = count + right.end - right.begin;
  blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  outlines_.erase(outlines_.begin() + static_cast<std::ptrdiff_t>(index) + 1);
  Outlined(index);
}

// Draws the outline of a block again.
void Timeline::Outlined(std::size_t index) {
  const Block& block = *blocks_[index];
  Outline& outline = outlines_[index];
  outline.first = block.at[block.begin];
  std::int64_t level = block.by[block.begin];
  outline.low = level;
  outline.high = level;
  for (std::size_t i = block.begin + 1; i < block.end; ++i) {
    level += block.by[i];
    outline.low = std::min(outline.low, level);
    outline.high = std::max(outline.high, level);
  }
  outline.sum = level;
}

std::int64_t Timeline::FreeAt(Tick at) const {
  std::int64_t level = free_now_;
  for (std::size_t index = 0; index < blocks_.size() && outlines_[index].first <= at; ++index) {
    if (index + 1 < blocks_.size() && outlines_[index + 1].first <= at) {
      level += outlines_[index].sum;
      continue;
    }
    const Block& block = *blocks_[index];
    for (std::size_t i = block.begin; i < block.end && block.at[i] <= at; ++i) {
      level += block.by[i];
    }
  }
  return level;
}

std::int64_t Timeline::HighestUntil(Tick until) const {
  std::int64_t level = free_now_;
  std::int64_t highest = level;
  for (std::size_t index = 0; index < blocks_.size() && outlines_[index].first < until; ++index) {
    if (index + 1 < blocks_.size() && outlines_[index + 1].first <= until) {
      highest = std::max(highest, level + outlines_[index].high);
      level += outlines_[index].sum;
      continue;
    }
    const Block& block = *blocks_[index];
    for (std::size_t i = block.begin; i < block.end && block.at[i] < until; ++i) {
      level += block.by[i];
      highest = std::max(highest, level);
    }
  }
  return highest;
}

// Walks to the right with a candidate start, or looking for one. A candidate wins when the level
// stays high enough to its end, or to `held_from`, from where on the searcher holds the amount.
Tick Timeline::Search(Tick duration, std::int64_t amount, Tick held_from, Tick before) const {
  std::int64_t level = free_now_;
  Tick candidate = level >= amount && now_ < before ? now_ : kNever;
  // From there on nothing can change the answer.
  Tick stop = candidate == kNever ? before : std::min(candidate + duration, held_from);
  for (std::size_t index = 0; index < blocks_.size(); ++index) {
    const Outline& outline = outlines_[index];
    if (outline.first >= stop) {
      return candidate;
    }
    if (candidate == kNever ? level + outline.high < amount : level + outline.low >= amount) {
      level += outline.sum;
      continue;
    }
    const Block& block = *blocks_[index];
    for (std::size_t i = block.begin; i < block.end; ++i) {
      if (block.at[i] >= stop) {
        return candidate;
      }
      level += block.by[i];
      if (level < amount) {
        candidate = kNever;
        stop = before;
      } else if (candidate == kNever) {
        candidate = block.at[i];
        stop = std::min(candidate + duration, held_from);
      }
    }
  }
  return candidate;
}

}  // namespace muster::sim
