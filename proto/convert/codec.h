#pragma once

// The generic part of model <-> wire: walks a described value and writes the bytes of its message,
// or reads them, field by field and by name.
//
// The numbers of the fields come from tables that are made from the .proto files when the product
// is built (wire_tables), so nothing here needs protobuf, its messages or its descriptors. Included
// only by convert.cc, methods.cc, snapshot.cc, the agent's order_file.cc and their tests.
// Invariants: (1) every field of a described struct has a field of the same name in its message, or
// nothing is compiled; (2) reading sets every field, so that a default on the wire is the zero
// value and not the model's initialiser.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "proto/convert/wire_format.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster::convert {

// A field of a message.
struct WireField {
  std::string_view name;
  std::uint32_t number;
  std::string_view oneof;  // to which it belongs; empty: none
  bool text;               // UTF-8
};
// What the made tables specialise: kName and kFields of a message; the type of a field that holds a
// message; kNumbers of one that holds an enumeration.
template <class Message>
struct Wire;
template <class Message, std::uint32_t kNumber>
struct MessageOf;
template <class Message, std::uint32_t kNumber>
struct EnumOf;
// A method of the client service; the tables give its messages as Request and Reply, and
// kChangesNothing.
struct MethodName {
  std::array<char, 48> text{};
  constexpr MethodName(const char* name) {  // NOLINT(google-explicit-constructor): Method<"Submit">
    for (std::size_t i = 0; name[i] != '\0'; ++i) {
      text.at(i) = name[i];
    }
  }
};
template <MethodName kName>
struct Method;

}  // namespace muster::convert

#include "proto/wire_tables.h"

namespace muster::convert {

absl::Status BadEnum(std::string_view message, std::string_view field, std::uint64_t value);
absl::Status Missing(std::string_view message, std::string_view oneof);
absl::Status Malformed(std::string_view message);

// A number or text, unless it is zero or empty and not `present`. Text that is not UTF-8 is
// repaired where a reader would not take it (`utf8`).
void WriteNumber(std::uint32_t number, std::uint64_t value, bool present, std::string* out);
void WriteText(std::uint32_t number, std::string_view text, bool present, bool utf8,
               std::string* out);
void WriteDouble(std::uint32_t number, double value, bool present, std::string* out);
// The number that a field of the message holds.
absl::Status ReadNumber(std::string_view message, WireType type, Cursor* cursor,
                        std::uint64_t* number);
absl::Status ReadBytes(std::string_view message, WireType type, Cursor* cursor,
                       std::string_view* bytes);
absl::Status ReadDouble(std::string_view message, WireType type, Cursor* cursor, double* value);

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVariant : std::false_type {};
template <class... Ts>
struct IsVariant<std::variant<Ts...>> : std::true_type {};
template <class T>
struct IsShared : std::false_type {};
template <class T>
struct IsShared<std::shared_ptr<const T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class V>
struct IsMap<std::map<K, V>> : std::true_type {};
template <class T>
struct IsIndexSet : std::false_type {};
template <class Tag>
struct IsIndexSet<IndexSet<Tag>> : std::true_type {};

// How a leaf of the model is a scalar of the wire: a number or text.
template <class T>
struct Leaf;

template <class T>
requires std::is_integral_v<T>
struct Leaf<T> {
  using Wire = T;
  static T Out(T value) { return value; }
  static absl::Status In(T wire, T* value) {
    *value = wire;
    return absl::OkStatus();
  }
};
// Travels by WriteDouble and ReadDouble, alone and not in lists.
template <>
struct Leaf<double> {
  using Wire = double;
};
template <>
struct Leaf<std::string> {
  using Wire = std::string_view;
  static std::string_view Out(const std::string& value) { return value; }
  static absl::Status In(std::string_view wire, std::string* value) {
    value->assign(wire);
    return absl::OkStatus();
  }
};
template <class Tag, class Rep>
struct Leaf<Id<Tag, Rep>> {
  using Wire = Rep;
  static Rep Out(Id<Tag, Rep> id) { return id.value(); }
  static absl::Status In(Rep wire, Id<Tag, Rep>* id) {
    *id = Id<Tag, Rep>(wire);
    return absl::OkStatus();
  }
};
template <class Tag, class Rep>
struct Leaf<Amount<Tag, Rep>> {
  using Wire = Rep;
  static Rep Out(Amount<Tag, Rep> amount) { return amount.value(); }
  static absl::Status In(Rep wire, Amount<Tag, Rep>* amount) {
    *amount = Amount<Tag, Rep>(wire);
    return absl::OkStatus();
  }
};
template <>
struct Leaf<Duration> {
  using Wire = std::int64_t;
  static std::int64_t Out(Duration duration) { return duration.count(); }
  static absl::Status In(std::int64_t wire, Duration* duration) {
    *duration = Duration(wire);
    return absl::OkStatus();
  }
};
template <>
struct Leaf<Time> {
  using Wire = std::int64_t;
  static std::int64_t Out(Time time) { return time.time_since_epoch().count(); }
  static absl::Status In(std::int64_t wire, Time* time) {
    *time = Time(Duration(wire));
    return absl::OkStatus();
  }
};
template <class Tag>
struct Leaf<IndexSet<Tag>> {
  using Wire = std::string_view;
  static std::string Out(const IndexSet<Tag>& set) { return set.ToList(); }
  static absl::Status In(std::string_view wire, IndexSet<Tag>* set) {
    ASSIGN_OR_RETURN(*set, IndexSet<Tag>::Parse(wire));
    return absl::OkStatus();
  }
};

template <class T>
constexpr bool IsText() {
  if constexpr (std::is_enum_v<T>) {
    return false;
  } else {
    return std::is_same_v<typename Leaf<T>::Wire, std::string_view>;
  }
}
template <class T>
inline constexpr bool kIsText = IsText<T>();

// The names of a struct's fields.
template <class T>
constexpr auto NamesOf() {
  return T::Fields([](const auto&... fields) {
    return std::array<std::string_view, sizeof...(fields)>{fields.name...};
  });
}

// The numbers that each field of the struct T has in the message M: one, or those of an oneof from
// its first on. 0: none.
template <class M, class T>
constexpr auto NumbersOf() {
  std::array<std::uint32_t, kFieldCount<T>> numbers{};
  const auto names = NamesOf<T>();
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (const WireField& field : Wire<M>::kFields) {
      if (numbers[i] == 0 && (field.name == names[i] || field.oneof == names[i])) {
        numbers[i] = field.number;
      }
    }
  }
  return numbers;
}
template <class M, class T>
inline constexpr auto kNumbers = NumbersOf<M, T>();

// The number of the alternative at `index` of the oneof that `first` belongs to; 0: there is none.
template <class M>
constexpr std::uint32_t AlternativeOf(std::uint32_t first, std::size_t index) {
  std::string_view oneof;
  for (const WireField& field : Wire<M>::kFields) {
    oneof = field.number == first ? field.oneof : oneof;
  }
  for (const WireField& field : Wire<M>::kFields) {
    if (field.oneof == oneof && index-- == 0) {
      return field.number;
    }
  }
  return 0;
}

template <class M>
constexpr bool IsTextField(std::uint32_t number) {
  return std::any_of(
      Wire<M>::kFields.begin(), Wire<M>::kFields.end(),
      [number](const WireField& field) { return field.number == number && field.text; });
}

template <class M>
constexpr std::string_view NameOf(std::uint32_t number) {
  for (const WireField& field : Wire<M>::kFields) {
    if (field.number == number) {
      return field.name;
    }
  }
  return "";
}

template <class M, class T>
void WriteMessage(const T& value, std::string* out);
template <class M, class T>
absl::Status ReadMessage(std::string_view bytes, T* value);

// ---- Writing ----

template <class T>
std::uint64_t NumberOf(const T& value) {
  // As protobuf does: a negative number is sign-extended.
  if constexpr (std::is_enum_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  } else {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(Leaf<T>::Out(value)));
  }
}

template <class M, std::uint32_t kNumber, class T>
[[gnu::noinline]] void WriteVector(const std::vector<T>& values, std::string* out) {
  if constexpr (Described<T>) {
    for (const T& value : values) {
      PutNested(kNumber, out,
                [&] { WriteMessage<typename MessageOf<M, kNumber>::Type>(value, out); });
    }
  } else if constexpr (kIsText<T>) {
    for (const T& value : values) {
      WriteText(kNumber, Leaf<T>::Out(value), true, IsTextField<M>(kNumber), out);
    }
  } else if (!values.empty()) {
    PutNested(kNumber, out, [&] {
      for (const T& value : values) {
        PutVarint(NumberOf(value), out);
      }
    });
  }
}

// `present`: it is written even where it is zero.
template <class M, std::uint32_t kNumber, class T>
void WriteField(const T& value, bool present, std::string* out) {
  if constexpr (IsVector<T>::value) {
    WriteVector<M, kNumber>(value, out);
  } else if constexpr (IsMap<T>::value) {
    using Entry = typename MessageOf<M, kNumber>::Type;
    for (const auto& [key, held] : value) {
      PutNested(kNumber, out, [&, &key = key, &held = held] {
        WriteField<Entry, 1>(key, true, out);
        WriteField<Entry, 2>(held, true, out);
      });
    }
  } else if constexpr (IsOptional<T>::value) {
    if (value.has_value()) {
      WriteField<M, kNumber>(*value, true, out);
    }
  } else if constexpr (IsShared<T>::value) {
    if (value != nullptr) {
      WriteField<M, kNumber>(*value, true, out);
    }
  } else if constexpr (Described<T>) {
    PutNested(kNumber, out,
              [&] { WriteMessage<typename MessageOf<M, kNumber>::Type>(value, out); });
  } else if constexpr (kIsText<T>) {
    WriteText(kNumber, Leaf<T>::Out(value), present, IsTextField<M>(kNumber), out);
  } else if constexpr (std::is_same_v<T, double>) {
    WriteDouble(kNumber, value, present, out);
  } else {
    WriteNumber(kNumber, NumberOf(value), present, out);
  }
}

template <class M, std::uint32_t kFirst, class... Ts>
void WriteVariant(const std::variant<Ts...>& value, std::string* out) {
  static_assert(AlternativeOf<M>(kFirst, sizeof...(Ts) - 1) != 0 &&
                    AlternativeOf<M>(kFirst, sizeof...(Ts)) == 0,
                "a oneof has other alternatives than its variant");
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((value.index() == I
          ? WriteField<M, AlternativeOf<M>(kFirst, I)>(*std::get_if<I>(&value), true, out)
          : void()),
     ...);
  }
  (std::index_sequence_for<Ts...>{});
}

template <class M, std::uint32_t kNumber, class T>
void WriteMember(const T& value, std::string* out) {
  static_assert(kNumber != 0, "the message lacks a field of the model");
  if constexpr (IsVariant<T>::value) {
    WriteVariant<M, kNumber>(value, out);
  } else {
    WriteField<M, kNumber>(value, false, out);
  }
}

template <class M, class T>
[[gnu::noinline]] void WriteMessage(const T& value, std::string* out) {
  T::Fields([&](const auto&... fields) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (WriteMember<M, kNumbers<M, T>[I]>(value.*(fields.member), out), ...);
    }
    (std::index_sequence_for<decltype(fields)...>{});
  });
}

// ---- Reading ----

template <class M, std::uint32_t kNumber, class T>
absl::Status ReadField(WireType type, Cursor* cursor, T* value);

// What a field is that the message does not have.
template <class M, std::uint32_t kNumber, class T>
absl::Status ReadAbsent(T* value) {
  if constexpr (IsVariant<T>::value) {
    for (const WireField& field : Wire<M>::kFields) {
      if (field.number == kNumber) {
        return Missing(Wire<M>::kName, field.oneof);
      }
    }
  } else if constexpr (Described<T>) {
    return ReadMessage<typename MessageOf<M, kNumber>::Type>("", value);
  } else {
    *value = T{};
  }
  return absl::OkStatus();
}

// The value that a number on the wire stands for.
template <class M, std::uint32_t kNumber, class T>
absl::Status FromNumber(std::uint64_t number, T* value) {
  if constexpr (std::is_enum_v<T>) {
    const auto& known = EnumOf<M, kNumber>::kNumbers;
    if (!std::binary_search(known.begin(), known.end(), static_cast<std::int64_t>(number))) {
      return BadEnum(Wire<M>::kName, NameOf<M>(kNumber), number);
    }
    *value = static_cast<T>(number);
    return absl::OkStatus();
  } else if constexpr (std::is_same_v<typename Leaf<T>::Wire, bool>) {
    return Leaf<T>::In(number != 0, value);
  } else {
    return Leaf<T>::In(static_cast<typename Leaf<T>::Wire>(number), value);
  }
}

template <class M, std::uint32_t kNumber, class T>
absl::Status ReadScalar(WireType type, Cursor* cursor, T* value) {
  std::uint64_t number = 0;
  RETURN_IF_ERROR(ReadNumber(Wire<M>::kName, type, cursor, &number));
  return FromNumber<M, kNumber>(number, value);
}

template <class M, std::uint32_t kNumber, class T>
absl::Status ReadNumbers(WireType type, Cursor* cursor, std::vector<T>* values) {
  T item{};
  if (type != WireType::kBytes) {
    RETURN_IF_ERROR((ReadScalar<M, kNumber>(type, cursor, &item)));
    values->push_back(item);
    return absl::OkStatus();
  }
  std::string_view packed;
  RETURN_IF_ERROR(ReadBytes(Wire<M>::kName, type, cursor, &packed));
  for (Cursor rest(packed); !rest.AtEnd();) {
    RETURN_IF_ERROR((ReadScalar<M, kNumber>(WireType::kVarint, &rest, &item)));
    values->push_back(item);
  }
  return absl::OkStatus();
}

template <class M, std::uint32_t kNumber, class K, class V>
absl::Status ReadEntry(std::string_view bytes, std::map<K, V>* values) {
  using Entry = typename MessageOf<M, kNumber>::Type;
  K key{};
  V held{};
  bool has_held = false;
  for (Cursor cursor(bytes); !cursor.AtEnd();) {
    std::uint32_t number = 0;
    WireType type{};
    if (!cursor.Tag(&number, &type)) {
      return Malformed(Wire<Entry>::kName);
    }
    if (number == 1) {
      RETURN_IF_ERROR((ReadField<Entry, 1>(type, &cursor, &key)));
    } else if (number == 2) {
      has_held = true;
      RETURN_IF_ERROR((ReadField<Entry, 2>(type, &cursor, &held)));
    } else if (!cursor.Skip(type)) {
      return Malformed(Wire<Entry>::kName);
    }
  }
  if (!has_held) {
    RETURN_IF_ERROR((ReadAbsent<Entry, 2>(&held)));
  }
  (*values)[std::move(key)] = std::move(held);
  return absl::OkStatus();
}

template <class T>
constexpr bool TravelsAsBytes() {
  if constexpr (IsMap<T>::value || Described<T>) {
    return true;
  } else {
    return kIsText<T>;
  }
}

// One more of a repeated field; of packed numbers, all of the pack.
template <class M, std::uint32_t kNumber, class T>
absl::Status ReadMore(WireType type, Cursor* cursor, std::vector<T>* values) {
  if constexpr (TravelsAsBytes<T>()) {
    return ReadField<M, kNumber>(type, cursor, &values->emplace_back());
  } else {
    return ReadNumbers<M, kNumber>(type, cursor, values);
  }
}

// What travels as bytes.
template <class M, std::uint32_t kNumber, class T>
absl::Status FromBytes(std::string_view bytes, T* value) {
  if constexpr (IsMap<T>::value) {
    return ReadEntry<M, kNumber>(bytes, value);
  } else if constexpr (Described<T>) {
    return ReadMessage<typename MessageOf<M, kNumber>::Type>(bytes, value);
  } else {
    return Leaf<T>::In(bytes, value);
  }
}

// A field that is there; of one that is repeated, one more.
template <class M, std::uint32_t kNumber, class T>
[[gnu::noinline]] absl::Status ReadField(WireType type, Cursor* cursor, T* value) {
  if constexpr (IsOptional<T>::value) {
    return ReadField<M, kNumber>(type, cursor, &value->emplace());
  } else if constexpr (IsShared<T>::value) {
    auto held = std::make_shared<std::remove_const_t<typename T::element_type>>();
    RETURN_IF_ERROR((ReadField<M, kNumber>(type, cursor, held.get())));
    *value = std::move(held);
    return absl::OkStatus();
  } else if constexpr (IsVector<T>::value) {
    return ReadMore<M, kNumber>(type, cursor, value);
  } else if constexpr (TravelsAsBytes<T>()) {
    std::string_view bytes;
    RETURN_IF_ERROR(ReadBytes(Wire<M>::kName, type, cursor, &bytes));
    return FromBytes<M, kNumber>(bytes, value);
  } else if constexpr (std::is_same_v<T, double>) {
    return ReadDouble(Wire<M>::kName, type, cursor, value);
  } else {
    return ReadScalar<M, kNumber>(type, cursor, value);
  }
}

// Takes the field when it is the one of that number; true when it is.
template <class M, std::uint32_t kNumber, class T>
bool TakeField(WireType type, Cursor* cursor, bool* seen, T* value, absl::Status* status) {
  if constexpr (IsVector<T>::value || IsMap<T>::value) {
    if (!*seen) {
      value->clear();
    }
  }
  *seen = true;
  *status = ReadField<M, kNumber>(type, cursor, value);
  return true;
}

template <class M, std::uint32_t kFirst, class... Ts>
bool TakeVariant(std::uint32_t number, WireType type, Cursor* cursor, bool* seen,
                 std::variant<Ts...>* value, absl::Status* status) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return ((number == AlternativeOf<M>(kFirst, I) &&
             TakeField<M, AlternativeOf<M>(kFirst, I)>(type, cursor, seen,
                                                       &value->template emplace<I>(), status)) ||
            ...);
  }
  (std::index_sequence_for<Ts...>{});
}

template <class M, std::uint32_t kNumber, class T>
bool TakeMember(std::uint32_t number, WireType type, Cursor* cursor, bool* seen, T* value,
                absl::Status* status) {
  if constexpr (IsVariant<T>::value) {
    return TakeVariant<M, kNumber>(number, type, cursor, seen, value, status);
  } else {
    return number == kNumber && TakeField<M, kNumber>(type, cursor, seen, value, status);
  }
}

template <class M, std::uint32_t kNumber, class T>
void LeaveMember(bool seen, T* value, absl::Status* status) {
  if (seen) {
    return;
  }
  if constexpr (IsVariant<T>::value || Described<T>) {
    status->Update(ReadAbsent<M, kNumber>(value));
  } else {
    *value = T{};
  }
}

template <class M, class T>
[[gnu::noinline]] absl::Status ReadMessage(std::string_view bytes, T* value) {
  return T::Fields([&](const auto&... fields) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] std::array<bool, sizeof...(I)> seen{};
      absl::Status status;
      for (Cursor cursor(bytes); !cursor.AtEnd() && status.ok();) {
        std::uint32_t number = 0;
        WireType type{};
        if (!cursor.Tag(&number, &type)) {
          return Malformed(Wire<M>::kName);
        }
        const bool taken = (TakeMember<M, kNumbers<M, T>[I]>(number, type, &cursor, &seen[I],
                                                             &(value->*(fields.member)), &status) ||
                            ...);
        if (!taken && !cursor.Skip(type)) {
          return Malformed(Wire<M>::kName);
        }
      }
      if (status.ok()) {
        (LeaveMember<M, kNumbers<M, T>[I]>(seen[I], &(value->*(fields.member)), &status), ...);
      }
      return status;
    }
    (std::index_sequence_for<decltype(fields)...>{});
  });
}

}  // namespace muster::convert
