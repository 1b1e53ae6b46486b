#pragma once

// Described values as JSON: the one converter of every --json.
//
// Times are ISO 8601 in UTC with milliseconds, kNoTime is null; durations are seconds; bytes and
// ids are numbers, costs are of the currency; index sets are lists as text ("0-3"); keys keep the
// order of Fields().

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "scheduler/base/text/time_text.h"
#include "scheduler/model/job/exit_status.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster::cli {

using Json = nlohmann::ordered_json;

// `document` on lines of its own; text that is not UTF-8 is repaired, never thrown over.
std::string PrintJson(const Json& document);

template <class T>
requires(std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) Json ToJson(const T& value) {
  return value;
}
template <class T>
requires std::is_enum_v<T> Json ToJson(T value) {
  return static_cast<std::underlying_type_t<T>>(value);
}
template <class Tag, class Rep>
Json ToJson(Id<Tag, Rep> id) {
  return id.value();
}
template <class Tag, class Rep>
Json ToJson(Amount<Tag, Rep> amount) {
  return amount.value();
}
template <class Tag>
Json ToJson(const IndexSet<Tag>& set) {
  return set.ToList();
}
inline Json ToJson(muster::Cost cost) {
  return static_cast<double>(cost.value()) / kCostUnit;
}
inline Json ToJson(Duration duration) {
  return static_cast<double>(duration.count()) / 1000.0;
}
// What was not sampled is null, and not 0.
Json ToJson(const Usage& usage);
inline Json ToJson(Time time) {
  return time == kNoTime ? Json(nullptr) : Json(IsoText(time));
}
// Declared before use by one another: containers may hold structs and structs containers.
template <class T>
Json ToJson(const std::vector<T>& values);
template <class T>
Json ToJson(const std::optional<T>& value);
template <class T>
Json ToJson(const std::shared_ptr<const T>& value);

template <Described T>
Json ToJson(const T& value);

template <Described T>
Json FieldsToJson(const T& value) {
  Json object = Json::object();
  ForEachField(value,
               [&object](const char* name, const auto& member) { object[name] = ToJson(member); });
  return object;
}
template <Described T>
Json ToJson(const T& value) {
  return FieldsToJson(value);
}
template <class T>
Json ToJson(const std::vector<T>& values) {
  Json array = Json::array();
  for (const auto& value : values) {
    array.push_back(ToJson(value));
  }
  return array;
}
template <class T>
Json ToJson(const std::optional<T>& value) {
  return value.has_value() ? ToJson(*value) : Json(nullptr);
}
template <class T>
Json ToJson(const std::shared_ptr<const T>& value) {
  return value != nullptr ? ToJson(*value) : Json(nullptr);
}

}  // namespace muster::cli
