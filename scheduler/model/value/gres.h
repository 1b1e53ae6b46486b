#pragma once

// Countable things of a node (Slurm's generic resources) that are no GPUs: "scratch:4".
//
// A node declares them, jobs hold some of each. Invariants of a list that ParseGresList made:
// sorted by name; each name once; counts positive.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/value/fields.h"

namespace muster {

// Kinds that one node may declare.
inline constexpr std::size_t kGresKinds = 4;

struct GresCount {
  std::string name;
  std::uint64_t count = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &GresCount::name}, Field{"count", &GresCount::count});
  }
  friend bool operator==(const GresCount&, const GresCount&) = default;
};

using GresList = std::vector<GresCount>;

// A pool of huge pages by the size of its pages, which is counted like any other: "hugepages-2M".
inline constexpr const char* kHugePages = "hugepages-";
std::string HugePagesName(std::uint64_t page_bytes);
bool IsHugePages(const GresCount& gres);

// Of the name; 0 when there is none.
std::uint64_t CountOf(const GresList& list, const std::string& name);
// Adds `more`, one count at a time.
void AddTo(GresList& list, const GresList& more);
// Takes `less` away as far as it is there; what is left of nothing is gone.
void TakeFrom(GresList& list, const GresList& less);
// "licence:2,scratch:4", as ParseGresList reads it.
std::string ToText(const GresList& list);
// 1 to 64 of A-Z a-z 0-9 . _ -, but no GPU's.
bool IsGresName(const std::string& name);
// NAME or NAME:COUNT, with commas between; a count may end with K, M or G (powers of 1024).
// InvalidArgument is one line.
absl::StatusOr<GresList> ParseGresList(const std::string& text);

}  // namespace muster
