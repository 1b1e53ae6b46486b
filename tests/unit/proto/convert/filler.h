#pragma once

// Values for tests of the translation to messages.
//
// Invariant: no field of a filled value has its default, and fields of one value differ where their
// types allow it.

#include <memory>
#include <string>
#include <type_traits>
#include <variant>

#include "proto/convert/codec.h"

namespace muster::testing {

// Fills every field of a described value with something that differs from field to field.
class Filler {
 public:
  template <class T>
  void Fill(T& value) {
    using convert::IsIndexSet;
    using convert::IsOptional;
    using convert::IsShared;
    using convert::IsVariant;
    using convert::IsVector;
    if constexpr (Described<T>) {
      ForEachField(value, [this](const char*, auto& member) { Fill(member); });
    } else if constexpr (IsVector<T>::value) {
      for (int i = 0; i < 2; ++i) {
        value.push_back({});
        Fill(value.back());
      }
    } else if constexpr (IsOptional<T>::value) {
      Fill(value.emplace());
    } else if constexpr (IsShared<T>::value) {
      auto held = std::make_shared<std::remove_const_t<typename T::element_type>>();
      Fill(*held);
      value = held;
    } else if constexpr (IsIndexSet<T>::value) {
      value.Insert(Next() % 500);
      value.Insert(Next() % 500);
    } else if constexpr (IsVariant<T>::value) {
      std::visit([this](auto& held) { Fill(held); }, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value = "text" + std::to_string(Next());
    } else if constexpr (std::is_same_v<T, bool>) {
      value = !value;
    } else if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(1);
    } else if constexpr (std::is_same_v<T, Time>) {
      value = Time(Duration(Next()));
    } else {
      value = T(static_cast<unsigned char>(Next()));
    }
  }

 private:
  unsigned Next() { return ++count_; }
  unsigned count_ = 0;
};

template <class T>
T Filled() {
  T value{};
  Filler().Fill(value);
  return value;
}

}  // namespace muster::testing
