#include "scheduler/simulator/flat/waiting_list.h"

#include <algorithm>

#include "scheduler/base/status.h"

namespace muster::sim {
namespace {

bool Before(const WaitingEntry& a, double score, std::uint64_t number) {
  return a.score != score ? a.score < score : a.number < number;
}

}  // namespace

// The last block whose first entry is not after (score, number), else the first block.
std::size_t WaitingList::BlockOf(double score, std::uint64_t number) const {
  std::size_t low = 0;
  std::size_t high = blocks_.size();
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    const WaitingEntry& first = blocks_[middle]->entries.front();
    const bool is_after = score != first.score ? score < first.score : number < first.number;
    (is_after ? high : low) = middle;
  }
  return low;
}

void WaitingList::Insert(const WaitingEntry& entry) {
  if (blocks_.empty()) {
    blocks_.push_back(std::make_unique<Block>());
    blocks_.back()->entries.reserve(kBlock);
    outlines_.push_back({entry.processors, entry.estimate});
  }
  std::size_t index = BlockOf(entry.score, entry.number);
  if (blocks_[index]->entries.size() == kBlock) {
    const bool at_tail = index + 1 == blocks_.size() &&
                         Before(blocks_[index]->entries.back(), entry.score, entry.number);
    if (at_tail) {  // A queue grows at its tail, and leaves full blocks behind.
      blocks_.push_back(std::make_unique<Block>());
      blocks_.back()->entries.reserve(kBlock);
      outlines_.push_back({entry.processors, entry.estimate});
      ++index;
    } else {
      Split(index);
      index = BlockOf(entry.score, entry.number);
    }
  }
  std::vector<WaitingEntry>& entries = blocks_[index]->entries;
  const auto place = std::partition_point(
      entries.begin(), entries.end(),
      [&entry](const WaitingEntry& each) { return Before(each, entry.score, entry.number); });
  entries.insert(place, entry);
  outlines_[index].fewest = std::min(outlines_[index].fewest, entry.processors);
  outlines_[index].shortest = std::min(outlines_[index].shortest, entry.estimate);
  ++size_;
}

void WaitingList::Split(std::size_t index) {
  auto upper = std::make_unique<Block>();
  std::vector<WaitingEntry>& lower = blocks_[index]->entries;
  const auto half = lower.begin() + kBlock / 2;
  upper->entries.reserve(kBlock);
  upper->entries.assign(half, lower.end());
  lower.erase(half, lower.end());
  const auto next = static_cast<std::ptrdiff_t>(index) + 1;
  blocks_.insert(blocks_.begin() + next, std::move(upper));
  outlines_.insert(outlines_.begin() + next, Outline());
  Outlined(index);
  Outlined(index + 1);
}

void WaitingList::Outlined(std::size_t index) {
  const std::vector<WaitingEntry>& entries = blocks_[index]->entries;
  Outline outline{entries.front().processors, entries.front().estimate};
  for (const WaitingEntry& entry : entries) {
    outline.fewest = std::min(outline.fewest, entry.processors);
    outline.shortest = std::min(outline.shortest, entry.estimate);
  }
  outlines_[index] = outline;
}

void WaitingList::Remove(double score, std::uint64_t number) {
  MUSTER_CHECK(size_ != 0);
  const std::size_t index = BlockOf(score, number);
  const std::vector<WaitingEntry>& entries = blocks_[index]->entries;
  const auto place = std::partition_point(
      entries.begin(), entries.end(),
      [score, number](const WaitingEntry& each) { return Before(each, score, number); });
  MUSTER_CHECK(place != entries.end() && place->number == number);
  RemoveAt({index, static_cast<std::size_t>(place - entries.begin())});
}

WaitingList::Position WaitingList::RemoveAt(Position at) {
  std::vector<WaitingEntry>& entries = blocks_[at.block]->entries;
  const WaitingEntry gone = entries[at.place];
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(at.place));
  --size_;
  if (entries.empty()) {
    const auto index = static_cast<std::ptrdiff_t>(at.block);
    blocks_.erase(blocks_.begin() + index);
    outlines_.erase(outlines_.begin() + index);
    return {at.block, 0};
  }
  if (gone.processors == outlines_[at.block].fewest ||
      gone.estimate == outlines_[at.block].shortest) {
    Outlined(at.block);
  }
  MergeWithNext(at.block);
  return at;
}

// Two thin neighbours become one, so that a search meets no row of nearly empty blocks.
void WaitingList::MergeWithNext(std::size_t index) {
  if (index + 1 >= blocks_.size()) {
    return;
  }
  std::vector<WaitingEntry>& left = blocks_[index]->entries;
  const std::vector<WaitingEntry>& right = blocks_[index + 1]->entries;
  if (left.size() + right.size() > kBlock / 2) {
    return;
  }
  left.insert(left.end(), right.begin(), right.end());
  const auto next = static_cast<std::ptrdiff_t>(index) + 1;
  blocks_.erase(blocks_.begin() + next);
  outlines_.erase(outlines_.begin() + next);
  Outlined(index);
}

WaitingList::Position WaitingList::Find(Position from, const FlatOpening& opening) const {
  std::size_t place = from.place;
  for (std::size_t index = from.block; index < blocks_.size(); ++index, place = 0) {
    const Outline& outline = outlines_[index];
    if (outline.fewest > opening.processors ||
        (outline.shortest > opening.window && outline.fewest > opening.extra)) {
      continue;
    }
    const std::vector<WaitingEntry>& entries = blocks_[index]->entries;
    for (; place < entries.size(); ++place) {
      if (opening.Admits(entries[place].processors, entries[place].estimate)) {
        return {index, place};
      }
    }
  }
  return {blocks_.size(), 0};
}

std::int64_t WaitingList::FewestProcessors() const {
  std::int64_t fewest = outlines_.front().fewest;
  for (const Outline& outline : outlines_) {
    fewest = std::min(fewest, outline.fewest);
  }
  return fewest;
}

std::vector<WaitingEntry> WaitingList::Entries() const {
  std::vector<WaitingEntry> all;
  all.reserve(size_);
  for (const std::unique_ptr<Block>& block : blocks_) {
    all.insert(all.end(), block->entries.begin(), block->entries.end());
  }
  return all;
}

void WaitingList::Clear() {
  blocks_.clear();
  outlines_.clear();
  size_ = 0;
}

}  // namespace muster::sim
