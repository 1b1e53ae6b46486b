#pragma once

// Described values as bytes, and back: for what one build of this program writes for itself.
//
// Not a wire format: there are no field numbers and no versions, so code that keeps such bytes
// keeps beside them which build wrote them. Numbers are LEB128, signed ones in zigzag order;
// lengths go before contents; a struct is its fields in order. Thread promise: values; one thread
// at a time. Invariants: (1) equal values give equal bytes on every machine; (2) ValueReader never
// reads beyond its bytes and never allocates more than they can fill: what does not fit makes it
// fail, and it stays so.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

class ValueWriter {
 public:
  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void Put(T number) {
    if constexpr (std::is_signed_v<T>) {
      const auto wide = static_cast<std::int64_t>(number);
      PutBits((static_cast<std::uint64_t>(wide) << 1U) ^ static_cast<std::uint64_t>(wide >> 63));
    } else {
      PutBits(static_cast<std::uint64_t>(number));
    }
  }
  void Put(double number) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    PutBits(bits);
  }
  void Put(const std::string& text) {
    PutBits(text.size());
    bytes_ += text;
  }
  template <class Tag, class Rep>
  void Put(Id<Tag, Rep> id) {
    Put(id.value());
  }
  template <class Tag, class Rep>
  void Put(Amount<Tag, Rep> amount) {
    Put(amount.value());
  }
  template <class Tag>
  void Put(const IndexSet<Tag>& set) {
    Put(set.ToList());
  }
  void Put(Duration duration) { Put(duration.count()); }
  void Put(Time time) { Put(time.time_since_epoch().count()); }
  template <class A, class B>
  void Put(const std::pair<A, B>& both) {
    Put(both.first);
    Put(both.second);
  }
  template <class T>
  void Put(const std::optional<T>& item) {
    Put(item.has_value());
    if (item.has_value()) {
      Put(*item);
    }
  }
  template <class T>
  void Put(const std::vector<T>& items) {
    PutBits(items.size());
    for (const T& item : items) {
      Put(item);
    }
  }
  template <class K, class V>
  void Put(const std::map<K, V>& entries) {
    PutBits(entries.size());
    for (const auto& entry : entries) {
      Put(entry.first);
      Put(entry.second);
    }
  }
  template <Described T>
  void Put(const T& value) {
    ForEachField(value, [this](const char*, const auto& member) { this->Put(member); });
  }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void PutBits(std::uint64_t bits) {
    for (; bits >= 0x80U; bits >>= 7U) {
      bytes_ += static_cast<char>(0x80U | (bits & 0x7fU));
    }
    bytes_ += static_cast<char>(bits);
  }

  std::string bytes_;
};

class ValueReader {
 public:
  explicit ValueReader(std::string_view bytes) : left_(bytes) {}

  // Whether everything asked for was there.
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool AtEnd() const { return ok_ && left_.empty(); }

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T>
  void Get(T& number) {
    const std::uint64_t bits = GetBits();
    if constexpr (std::is_signed_v<T>) {
      number = static_cast<T>(static_cast<std::int64_t>(bits >> 1U) ^
                              -static_cast<std::int64_t>(bits & 1U));
    } else {
      number = static_cast<T>(bits);
    }
  }
  void Get(double& number) {
    const std::uint64_t bits = GetBits();
    std::memcpy(&number, &bits, sizeof number);
  }
  void Get(std::string& text) {
    const std::size_t size = GetCount();
    text = std::string(left_.substr(0, size));
    left_.remove_prefix(size);
  }
  template <class Tag, class Rep>
  void Get(Id<Tag, Rep>& id) {
    Rep value = 0;
    Get(value);
    id = Id<Tag, Rep>(value);
  }
  template <class Tag, class Rep>
  void Get(Amount<Tag, Rep>& amount) {
    Rep value = 0;
    Get(value);
    amount = Amount<Tag, Rep>(value);
  }
  template <class Tag>
  void Get(IndexSet<Tag>& set) {
    std::string list;
    Get(list);
    auto parsed = IndexSet<Tag>::Parse(list);
    ok_ = ok_ && parsed.ok();
    if (parsed.ok()) {
      set = *std::move(parsed);
    }
  }
  void Get(Duration& duration) {
    Duration::rep count = 0;
    Get(count);
    duration = Duration(count);
  }
  void Get(Time& time) {
    Duration since;
    Get(since);
    time = Time(since);
  }
  template <class A, class B>
  void Get(std::pair<A, B>& both) {
    Get(both.first);
    Get(both.second);
  }
  template <class T>
  void Get(std::optional<T>& item) {
    bool has = false;
    Get(has);
    item.reset();
    if (has && ok_) {
      Get(item.emplace());
    }
  }
  template <class T>
  void Get(std::vector<T>& items) {
    const std::size_t count = GetCount();
    items.clear();
    for (std::size_t i = 0; i < count && ok_; ++i) {
      Get(items.emplace_back());
    }
  }
  template <class K, class V>
  void Get(std::map<K, V>& entries) {
    const std::size_t count = GetCount();
    entries.clear();
    for (std::size_t i = 0; i < count && ok_; ++i) {
      K key{};
      Get(key);
      Get(entries[std::move(key)]);
    }
  }
  template <Described T>
  void Get(T& value) {
    ForEachField(value, [this](const char*, auto& member) { this->Get(member); });
  }

 private:
  std::uint64_t GetBits() {
    std::uint64_t bits = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (left_.empty()) {
        break;
      }
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      bits |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80U) {
        return bits;
      }
    }
    Fail();
    return 0;
  }
  // Of bytes or items that follow, each at least one byte.
  std::size_t GetCount() {
    const std::uint64_t count = GetBits();
    if (count > left_.size()) {
      Fail();
      return 0;
    }
    return static_cast<std::size_t>(count);
  }
  void Fail() {
    ok_ = false;
    left_ = {};
  }

  std::string_view left_;
  bool ok_ = true;
};

}  // namespace muster
