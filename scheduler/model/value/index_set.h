#pragma once

// Index sets: which hardware threads, which NUMA nodes; written as lists, "0-3,8".
//
// Invariants: (1) a set of threads never mixes with a set of NUMA nodes; (2) two sets with the same
// members are equal, whatever their history; (3) members are below 65,536.

#include <bit>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace muster {

// The untyped part: a growable bit set.
class Bits {
 public:
  static constexpr std::uint32_t kLimit = 65536;

  void Insert(std::uint32_t index);
  void Erase(std::uint32_t index);
  [[nodiscard]] bool Contains(std::uint32_t index) const;
  [[nodiscard]] bool Empty() const { return words_.empty(); }
  [[nodiscard]] std::uint32_t Count() const;
  // The lowest member. REQUIRES: not empty.
  [[nodiscard]] std::uint32_t First() const;
  [[nodiscard]] std::vector<std::uint32_t> Members() const;
  // "0-3,8"; the empty set is "".
  [[nodiscard]] std::string ToList() const;
  // Parses a list; an error names the offending piece.
  static absl::StatusOr<Bits> Parse(std::string_view list);

  void Unite(const Bits& other);
  void Intersect(const Bits& other);
  void Subtract(const Bits& other);
  [[nodiscard]] bool Includes(const Bits& other) const;
  [[nodiscard]] bool Meets(const Bits& other) const;
  friend auto operator<=>(const Bits&, const Bits&) = default;

 private:
  void Trim();
  std::vector<std::uint64_t> words_;  // no trailing zero word
};

template <class Tag>
class IndexSet {
 public:
  IndexSet() = default;
  explicit IndexSet(Bits bits) : bits_(std::move(bits)) {}
  static IndexSet Of(std::initializer_list<std::uint32_t> members) {
    IndexSet set;
    for (std::uint32_t member : members) {
      set.Insert(member);
    }
    return set;
  }
  static absl::StatusOr<IndexSet> Parse(std::string_view list) {
    absl::StatusOr<Bits> bits = Bits::Parse(list);
    if (!bits.ok()) {
      return bits.status();
    }
    return IndexSet(*std::move(bits));
  }
  void Insert(std::uint32_t index) { bits_.Insert(index); }
  void Erase(std::uint32_t index) { bits_.Erase(index); }
  [[nodiscard]] bool Contains(std::uint32_t index) const { return bits_.Contains(index); }
  [[nodiscard]] bool Empty() const { return bits_.Empty(); }
  [[nodiscard]] std::uint32_t Count() const { return bits_.Count(); }
  [[nodiscard]] std::uint32_t First() const { return bits_.First(); }
  [[nodiscard]] std::vector<std::uint32_t> Members() const { return bits_.Members(); }
  [[nodiscard]] std::string ToList() const { return bits_.ToList(); }
  [[nodiscard]] bool Includes(const IndexSet& other) const { return bits_.Includes(other.bits_); }
  [[nodiscard]] bool Meets(const IndexSet& other) const { return bits_.Meets(other.bits_); }
  IndexSet& operator|=(const IndexSet& other) {
    bits_.Unite(other.bits_);
    return *this;
  }
  IndexSet& operator&=(const IndexSet& other) {
    bits_.Intersect(other.bits_);
    return *this;
  }
  IndexSet& operator-=(const IndexSet& other) {
    bits_.Subtract(other.bits_);
    return *this;
  }
  friend IndexSet operator|(IndexSet a, const IndexSet& b) { return a |= b; }
  friend IndexSet operator&(IndexSet a, const IndexSet& b) { return a &= b; }
  friend IndexSet operator-(IndexSet a, const IndexSet& b) { return a -= b; }
  friend auto operator<=>(const IndexSet&, const IndexSet&) = default;

 private:
  Bits bits_;
};

// Hardware threads by operating-system index.
using CpuSet = IndexSet<struct CpuSetTag>;
// NUMA nodes by operating-system index.
using NumaSet = IndexSet<struct NumaSetTag>;
// A job's GPUs on one node by their number among them.
using GpuSet = IndexSet<struct GpuSetTag>;

}  // namespace muster
