#pragma once

// Fingerprints: one 64-bit number for any described value, the same on every machine and in every
// build.
//
// FNV-1a, 64 bit (Fowler, Noll, Vo; offset basis and prime from draft-eastlake-fnv), of a struct
// over the names and fingerprints of its fields in order; lengths go in before contents, so that
// ("ab","c") and ("a","bc") differ. A field that has the value of a fresh one of its kind counts
// nothing: one that is added later changes no fingerprint of what was recorded before. Not a
// defence against an adversary: it compares plans and snapshots.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

class Fingerprint {
 public:
  [[nodiscard]] std::uint64_t value() const { return state_; }

  template <class T>
  requires std::is_integral_v<T> || std::is_enum_v<T> Fingerprint& Add(T number) {
    auto bits = static_cast<std::uint64_t>(number);
    for (int i = 0; i < 8; ++i) {
      AddByte(static_cast<unsigned char>(bits & 0xffU));
      bits >>= 8U;
    }
    return *this;
  }
  Fingerprint& Add(const std::string& text) {
    Add(text.size());
    for (char c : text) {
      AddByte(static_cast<unsigned char>(c));
    }
    return *this;
  }
  template <class Tag, class Rep>
  Fingerprint& Add(Id<Tag, Rep> id) {
    return Add(id.value());
  }
  template <class Tag, class Rep>
  Fingerprint& Add(Amount<Tag, Rep> amount) {
    return Add(amount.value());
  }
  template <class Tag>
  Fingerprint& Add(const IndexSet<Tag>& set) {
    return Add(set.ToList());
  }
  Fingerprint& Add(Duration duration) { return Add(duration.count()); }
  Fingerprint& Add(Time time) { return Add(time.time_since_epoch().count()); }
  template <class T>
  Fingerprint& Add(const std::vector<T>& items) {
    Add(items.size());
    for (const T& item : items) {
      Add(item);
    }
    return *this;
  }
  template <class T>
  Fingerprint& Add(const std::optional<T>& item) {
    Add(item.has_value());
    return item.has_value() ? Add(*item) : *this;
  }
  template <class T>
  Fingerprint& Add(const std::shared_ptr<const T>& item) {
    Add(item != nullptr);
    return item != nullptr ? Add(*item) : *this;
  }
  template <class K, class V>
  Fingerprint& Add(const std::map<K, V>& entries) {
    Add(entries.size());
    for (const auto& [key, value] : entries) {
      Add(key);
      Add(value);
    }
    return *this;
  }
  template <class... Ts>
  Fingerprint& Add(const std::variant<Ts...>& choice) {
    Add(choice.index());
    std::visit([this](const auto& held) { this->Add(held); }, choice);
    return *this;
  }
  template <Described T>
  Fingerprint& Add(const T& value) {
    [[maybe_unused]] static const auto fresh = PartsOf(T{});
    [[maybe_unused]] const auto parts = PartsOf(value);
    std::size_t i = 0;
    ForEachField(value, [&](const char* name, const auto&) {
      if (parts[i] != fresh[i]) {
        AddName(name);
        Add(parts[i]);
      }
      ++i;
    });
    AddByte(0);  // so that the fields of one and those of the next do not run together
    return *this;
  }

 private:
  // The fingerprint of each field.
  template <Described T>
  static std::array<std::uint64_t, kFieldCount<T>> PartsOf(const T& value) {
    std::array<std::uint64_t, kFieldCount<T>> parts{};
    std::size_t i = 0;
    ForEachField(value, [&](const char*, const auto& member) {
      parts[i++] = Fingerprint().Add(member).value();
    });
    return parts;
  }
  void AddName(const char* name) {
    for (; *name != '\0'; ++name) {
      AddByte(static_cast<unsigned char>(*name));
    }
    AddByte(0);
  }
  void AddByte(unsigned char byte) { state_ = (state_ ^ byte) * 0x100000001b3U; }
  std::uint64_t state_ = 0xcbf29ce484222325U;
};

}  // namespace muster
