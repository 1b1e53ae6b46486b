#pragma once

// Fields: how a model value names its members, once, for everything that walks values.
//
// A described struct has `static constexpr auto Fields(auto list)` that calls `list` with one
// Field{name, member} for each member and returns its answer. It is a template, so that a source
// which walks no value pays nothing for the description.
// Wire conversion, JSON output and fingerprints all walk that one list, so a new member is added in
// one place. Invariants: (1) names are unique within a struct and equal the wire message's field
// names; (2) the order is the declaration order and is part of the fingerprint. Thread promise:
// compile-time only.

#include <cstddef>
#include <type_traits>
#include <utility>

namespace muster {

template <class Owner, class Member>
struct Field {
  const char* name;
  Member Owner::*member;
};
template <class Owner, class Member>
Field(const char*, Member Owner::*) -> Field<Owner, Member>;

// How many fields a list is called with, as a type.
struct CountFields {
  template <class... Fields>
  constexpr std::integral_constant<std::size_t, sizeof...(Fields)> operator()(Fields...) const {
    return {};
  }
};

template <class T>
concept Described = requires {
  T::Fields(CountFields{});
};

// Calls visit(name, member reference) for each field of `value`, in order.
template <class T, class Visitor>
requires Described<std::remove_const_t<T>>
constexpr void ForEachField(T& value, Visitor&& visit) {
  std::remove_const_t<T>::Fields(
      [&](const auto&... field) { (visit(field.name, value.*(field.member)), ...); });
}

template <Described T>
inline constexpr std::size_t kFieldCount = decltype(T::Fields(CountFields{}))::value;

}  // namespace muster
