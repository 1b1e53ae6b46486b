#pragma once

// The generic part of model <-> wire: walks a described value and a message side by side, by field
// name.
//
// Included only by convert.cc, methods.cc and their tests. Thread promise: safe from any thread;
// the tables it makes of a message type's fields are made once. Invariants: (1) every field of a
// described struct has a field of the same name and a fitting type in its message, or the process
// ends at first use; (2) FromWire sets every field, so that a default on the wire is the zero value
// and not the model's initialiser; (3) a struct has one message type.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/base/status.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster::convert {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::OneofDescriptor;
using google::protobuf::Reflection;

// Ends the process: the model and the .proto files disagree.
[[noreturn]] void Mismatch(const Descriptor& message, const char* field);
absl::Status BadEnum(const FieldDescriptor& field, int value);
absl::Status Missing(const OneofDescriptor& oneof);

const FieldDescriptor* FindField(const Descriptor& message, const char* name);
const OneofDescriptor* FindOneof(const Descriptor& message, const char* name);

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

template <class T>
void WriteMessage(const T& value, Message* message);
template <class T>
absl::Status ReadMessage(const Message& message, T* value);

// How a leaf of the model is a scalar of the wire: Out() and In().
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
template <>
struct Leaf<std::string> {
  using Wire = std::string;
  static const std::string& Out(const std::string& value) { return value; }
  static absl::Status In(std::string wire, std::string* value) {
    *value = std::move(wire);
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
  using Wire = std::string;
  static std::string Out(const IndexSet<Tag>& set) { return set.ToList(); }
  static absl::Status In(const std::string& wire, IndexSet<Tag>* set) {
    ASSIGN_OR_RETURN(*set, IndexSet<Tag>::Parse(wire));
    return absl::OkStatus();
  }
};

// Reflection's accessors by wire type, singular and repeated.
template <class Wire>
struct Access;
#define MUSTER_WIRE_ACCESS(TYPE, NAME)                                                          \
  template <>                                                                                   \
  struct Access<TYPE> {                                                                         \
    static void Set(const Reflection& r, Message* m, const FieldDescriptor* f, TYPE v) {        \
      r.Set##NAME(m, f, std::move(v));                                                          \
    }                                                                                           \
    static void Add(const Reflection& r, Message* m, const FieldDescriptor* f, TYPE v) {        \
      r.Add##NAME(m, f, std::move(v));                                                          \
    }                                                                                           \
    static TYPE Get(const Reflection& r, const Message& m, const FieldDescriptor* f) {          \
      return r.Get##NAME(m, f);                                                                 \
    }                                                                                           \
    static TYPE GetAt(const Reflection& r, const Message& m, const FieldDescriptor* f, int i) { \
      return r.GetRepeated##NAME(m, f, i);                                                      \
    }                                                                                           \
  };
MUSTER_WIRE_ACCESS(bool, Bool)
MUSTER_WIRE_ACCESS(std::int32_t, Int32)
MUSTER_WIRE_ACCESS(std::uint32_t, UInt32)
MUSTER_WIRE_ACCESS(std::int64_t, Int64)
MUSTER_WIRE_ACCESS(std::uint64_t, UInt64)
MUSTER_WIRE_ACCESS(std::string, String)
#undef MUSTER_WIRE_ACCESS

// The two fields of an entry of a map, be it the wire's own kind or repeated messages.
struct EntryFields {
  const FieldDescriptor* key;
  const FieldDescriptor* value;
  explicit EntryFields(const Message& entry)
      : key(FindField(*entry.GetDescriptor(), "key")),
        value(FindField(*entry.GetDescriptor(), "value")) {}
};

template <class T>
void WriteField(const T& value, const Reflection& r, const FieldDescriptor* field,
                Message* message) {
  if constexpr (IsVector<T>::value) {
    for (const auto& item : value) {
      using Item = typename T::value_type;
      if constexpr (Described<Item>) {
        WriteMessage(item, r.AddMessage(message, field));
      } else if constexpr (std::is_enum_v<Item>) {
        r.AddEnumValue(message, field, static_cast<int>(item));
      } else {
        Access<typename Leaf<Item>::Wire>::Add(r, message, field, Leaf<Item>::Out(item));
      }
    }
  } else if constexpr (IsMap<T>::value) {
    for (const auto& [key, held] : value) {
      Message* entry = r.AddMessage(message, field);
      const EntryFields fields(*entry);
      WriteField(key, *entry->GetReflection(), fields.key, entry);
      WriteField(held, *entry->GetReflection(), fields.value, entry);
    }
  } else if constexpr (IsOptional<T>::value) {
    if (value.has_value()) {
      WriteField(*value, r, field, message);
    }
  } else if constexpr (IsShared<T>::value) {
    if (value != nullptr) {
      WriteField(*value, r, field, message);
    }
  } else if constexpr (Described<T>) {
    WriteMessage(value, r.MutableMessage(message, field));
  } else if constexpr (std::is_enum_v<T>) {
    r.SetEnumValue(message, field, static_cast<int>(value));
  } else {
    Access<typename Leaf<T>::Wire>::Set(r, message, field, Leaf<T>::Out(value));
  }
}

template <class T>
absl::Status ReadEnum(const FieldDescriptor& field, int number, T* value) {
  if (field.enum_type()->FindValueByNumber(number) == nullptr) {
    return BadEnum(field, number);
  }
  *value = static_cast<T>(number);
  return absl::OkStatus();
}

template <class T>
absl::Status ReadVector(const Message& message, const Reflection& r, const FieldDescriptor* field,
                        std::vector<T>* value) {
  const int size = r.FieldSize(message, field);
  value->clear();
  value->reserve(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    T item{};
    if constexpr (Described<T>) {
      RETURN_IF_ERROR(ReadMessage(r.GetRepeatedMessage(message, field, i), &item));
    } else if constexpr (std::is_enum_v<T>) {
      RETURN_IF_ERROR(ReadEnum(*field, r.GetRepeatedEnumValue(message, field, i), &item));
    } else {
      RETURN_IF_ERROR(
          Leaf<T>::In(Access<typename Leaf<T>::Wire>::GetAt(r, message, field, i), &item));
    }
    value->push_back(std::move(item));
  }
  return absl::OkStatus();
}

template <class T>
absl::Status ReadField(const Message& message, const Reflection& r, const FieldDescriptor* field,
                       T* value);

template <class K, class V>
absl::Status ReadMap(const Message& message, const Reflection& r, const FieldDescriptor* field,
                     std::map<K, V>* value) {
  value->clear();
  const int size = r.FieldSize(message, field);
  for (int i = 0; i < size; ++i) {
    const Message& entry = r.GetRepeatedMessage(message, field, i);
    const EntryFields fields(entry);
    K key{};
    RETURN_IF_ERROR(ReadField(entry, *entry.GetReflection(), fields.key, &key));
    RETURN_IF_ERROR(
        ReadField(entry, *entry.GetReflection(), fields.value, &(*value)[std::move(key)]));
  }
  return absl::OkStatus();
}

template <class T>
absl::Status ReadField(const Message& message, const Reflection& r, const FieldDescriptor* field,
                       T* value) {
  if constexpr (IsVector<T>::value) {
    return ReadVector(message, r, field, value);
  } else if constexpr (IsMap<T>::value) {
    return ReadMap(message, r, field, value);
  } else if constexpr (IsOptional<T>::value) {
    value->reset();
    if (!r.HasField(message, field)) {
      return absl::OkStatus();
    }
    return ReadField(message, r, field, &value->emplace());
  } else if constexpr (IsShared<T>::value) {
    using Held = std::remove_const_t<typename T::element_type>;
    value->reset();
    if (!r.HasField(message, field)) {
      return absl::OkStatus();
    }
    auto held = std::make_shared<Held>();
    RETURN_IF_ERROR(ReadMessage(r.GetMessage(message, field), held.get()));
    *value = std::move(held);
    return absl::OkStatus();
  } else if constexpr (Described<T>) {
    return ReadMessage(r.GetMessage(message, field), value);
  } else if constexpr (std::is_enum_v<T>) {
    return ReadEnum(*field, r.GetEnumValue(message, field), value);
  } else {
    return Leaf<T>::In(Access<typename Leaf<T>::Wire>::Get(r, message, field), value);
  }
}

template <class... Ts>
void WriteVariant(const std::variant<Ts...>& value, const Reflection& r,
                  const OneofDescriptor* oneof, Message* message) {
  MUSTER_CHECK(static_cast<std::size_t>(oneof->field_count()) == sizeof...(Ts));
  const FieldDescriptor* field = oneof->field(static_cast<int>(value.index()));
  std::visit([&](const auto& held) { WriteMessage(held, r.MutableMessage(message, field)); },
             value);
}

template <class... Ts>
absl::Status ReadVariant(const Message& message, const Reflection& r, const OneofDescriptor* oneof,
                         std::variant<Ts...>* value) {
  MUSTER_CHECK(static_cast<std::size_t>(oneof->field_count()) == sizeof...(Ts));
  const FieldDescriptor* set = r.GetOneofFieldDescriptor(message, oneof);
  if (set == nullptr) {
    return Missing(*oneof);
  }
  absl::Status status = absl::OkStatus();
  const auto try_read = [&](auto alternative, int index) {
    if (oneof->field(index) == set) {
      status = ReadMessage(r.GetMessage(message, set), &alternative);
      *value = std::move(alternative);
    }
  };
  int index = 0;
  (try_read(Ts{}, index++), ...);
  return status;
}

// The descriptors of a struct's fields within one message type: found once.
template <class T>
struct FieldTable {
  std::array<const FieldDescriptor*, kFieldCount<T>> fields{};
  std::array<const OneofDescriptor*, kFieldCount<T>> oneofs{};

  const Descriptor* type;

  explicit FieldTable(const Descriptor& message) : type(&message) {
    std::size_t i = 0;
    const T sample{};
    ForEachField(sample, [&](const char* name, const auto& member) {
      if constexpr (IsVariant<std::decay_t<decltype(member)>>::value) {
        oneofs[i] = FindOneof(message, name);
      } else {
        fields[i] = FindField(message, name);
      }
      ++i;
    });
  }
};

template <class T>
const FieldTable<T>& TableOf(const Message& message) {
  static const FieldTable<T> table(*message.GetDescriptor());
  MUSTER_CHECK(kFieldCount<T> == 0 || table.type == message.GetDescriptor());
  return table;
}

template <class T>
void WriteMessage(const T& value, Message* message) {
  const FieldTable<T>& table = TableOf<T>(*message);
  const Reflection& r = *message->GetReflection();
  std::size_t i = 0;
  ForEachField(value, [&](const char*, const auto& member) {
    if constexpr (IsVariant<std::decay_t<decltype(member)>>::value) {
      WriteVariant(member, r, table.oneofs[i], message);
    } else {
      WriteField(member, r, table.fields[i], message);
    }
    ++i;
  });
}

template <class T>
absl::Status ReadMessage(const Message& message, T* value) {
  const FieldTable<T>& table = TableOf<T>(message);
  const Reflection& r = *message.GetReflection();
  absl::Status status = absl::OkStatus();
  std::size_t i = 0;
  ForEachField(*value, [&](const char*, auto& member) {
    if (status.ok()) {
      if constexpr (IsVariant<std::decay_t<decltype(member)>>::value) {
        status = ReadVariant(message, r, table.oneofs[i], &member);
      } else {
        status = ReadField(message, r, table.fields[i], &member);
      }
    }
    ++i;
  });
  return status;
}

}  // namespace muster::convert
