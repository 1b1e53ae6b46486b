#pragma once

// How many bytes a described value takes in a message, at most.
//
// The core knows no messages, but it has to know what fits into one. Invariants: never less than
// the value's message takes, whose field numbers are below 2048; a value that is left at zero
// counts a few bytes all the same.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

class WireSize {
 public:
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void Add(T number) { bytes_ += kTagBytes + VarintBytes(static_cast<std::uint64_t>(number)); }
  void Add(const std::string& text) { AddSpan(text.size()); }
  template <class Tag, class Rep>
  void Add(Id<Tag, Rep> id) {
    Add(id.value());
  }
  template <class Tag, class Rep>
  void Add(Amount<Tag, Rep> amount) {
    Add(amount.value());
  }
  template <class Tag>
  void Add(const IndexSet<Tag>& set) {
    Add(set.ToList());
  }
  void Add(Duration duration) { Add(duration.count()); }
  void Add(Time time) { Add(time.time_since_epoch().count()); }
  template <class T>
  void Add(const std::optional<T>& item) {
    if (item.has_value()) {
      Add(*item);
    }
  }
  template <class T>
  void Add(const std::vector<T>& items) {
    for (const T& item : items) {
      Add(item);
    }
  }
  template <Described T>
  void Add(const T& value) {
    WireSize inside;
    ForEachField(value, [&inside](const char*, const auto& member) { inside.Add(member); });
    AddSpan(inside.bytes());
  }

 private:
  static constexpr std::size_t kTagBytes = 2;
  static constexpr std::size_t VarintBytes(std::uint64_t number) {
    std::size_t bytes = 1;
    for (; number >= 0x80U; number >>= 7U) {
      ++bytes;
    }
    return bytes;
  }
  void AddSpan(std::size_t size) { bytes_ += kTagBytes + VarintBytes(size) + size; }

  std::size_t bytes_ = 0;
};

template <Described T>
std::size_t WireBytes(const T& value) {
  WireSize size;
  size.Add(value);
  return size.bytes();
}

}  // namespace muster
