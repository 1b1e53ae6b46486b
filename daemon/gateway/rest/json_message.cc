#include "daemon/gateway/rest/json_message.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

const FieldDescriptor* FindField(const Message& message, const std::string& name) {
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  const FieldDescriptor* field = type.FindFieldByName(name);
  return field != nullptr ? field : type.FindFieldByCamelcaseName(name);
}

template <class Number>
absl::Status Put(const std::string& text, Message* message, const FieldDescriptor* field,
                 void (Reflection::*set)(Message*, const FieldDescriptor*, Number) const,
                 void (Reflection::*add)(Message*, const FieldDescriptor*, Number) const) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(field->name(), ": not a number that fits: ", text));
  }
  const Reflection& reflection = *message->GetReflection();
  (reflection.*(field->is_repeated() ? add : set))(message, field, number);
  return absl::OkStatus();
}

absl::Status PutBool(const std::string& text, Message* message, const FieldDescriptor* field) {
  if (text != "true" && text != "false") {
    return absl::InvalidArgumentError(absl::StrCat(field->name(), ": say true or false"));
  }
  const Reflection& reflection = *message->GetReflection();
  if (field->is_repeated()) {
    reflection.AddBool(message, field, text == "true");
  } else {
    reflection.SetBool(message, field, text == "true");
  }
  return absl::OkStatus();
}

absl::Status PutEnum(const std::string& text, Message* message, const FieldDescriptor* field) {
  const auto* value = field->enum_type()->FindValueByName(text);
  if (value == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(field->name(), ": no value ", text));
  }
  const Reflection& reflection = *message->GetReflection();
  if (field->is_repeated()) {
    reflection.AddEnum(message, field, value);
  } else {
    reflection.SetEnum(message, field, value);
  }
  return absl::OkStatus();
}

absl::Status PutOne(const std::string& text, Message* message, const FieldDescriptor* field) {
  const Reflection& reflection = *message->GetReflection();
  switch (field->type()) {
    case FieldDescriptor::TYPE_STRING:
      if (field->is_repeated()) {
        reflection.AddString(message, field, text);
      } else {
        reflection.SetString(message, field, text);
      }
      return absl::OkStatus();
    case FieldDescriptor::TYPE_UINT32:
      return Put<std::uint32_t>(text, message, field, &Reflection::SetUInt32,
                                &Reflection::AddUInt32);
    case FieldDescriptor::TYPE_UINT64:
      return Put<std::uint64_t>(text, message, field, &Reflection::SetUInt64,
                                &Reflection::AddUInt64);
    case FieldDescriptor::TYPE_INT32:
      return Put<std::int32_t>(text, message, field, &Reflection::SetInt32, &Reflection::AddInt32);
    case FieldDescriptor::TYPE_INT64:
      return Put<std::int64_t>(text, message, field, &Reflection::SetInt64, &Reflection::AddInt64);
    case FieldDescriptor::TYPE_BOOL:
      return PutBool(text, message, field);
    case FieldDescriptor::TYPE_ENUM:
      return PutEnum(text, message, field);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat(field->name(), ": does not fit into a query; send it in a body"));
  }
}

using FieldList = std::vector<const FieldDescriptor*>;

FieldList AllFields(const google::protobuf::Descriptor& type) {
  FieldList fields;
  for (int i = 0; i < type.field_count(); ++i) {
    fields.push_back(type.field(i));
  }
  return fields;
}

void AppendText(const std::string& text, std::string* json) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (plain) {
    json->push_back('"');
    json->append(text);
    json->push_back('"');
    return;
  }
  json->append(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void AppendDouble(double value, std::string* json) {
  if (std::isfinite(value)) {
    json->append(nlohmann::json(value).dump());
  } else {
    json->append(std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  }
}

// By its name; one of a newer program's as its number.
void AppendEnum(const google::protobuf::EnumDescriptor& type, int number, std::string* json) {
  const google::protobuf::EnumValueDescriptor* const value = type.FindValueByNumber(number);
  if (value == nullptr) {
    absl::StrAppend(json, number);
  } else {
    AppendText(value->name(), json);
  }
}

void AppendMessage(const Message& message, const FieldList& fields, std::string* json);

// A number, as protobuf's mapping has it: one of 64 bits as text.
void AppendNumber(const Message& message, const FieldDescriptor* field, int i, std::string* json) {
  const Reflection& of = *message.GetReflection();
  const bool many = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      absl::StrAppend(json,
                      many ? of.GetRepeatedInt32(message, field, i) : of.GetInt32(message, field));
      return;
    case FieldDescriptor::CPPTYPE_UINT32:
      absl::StrAppend(
          json, many ? of.GetRepeatedUInt32(message, field, i) : of.GetUInt32(message, field));
      return;
    case FieldDescriptor::CPPTYPE_INT64:
      absl::StrAppend(json, "\"",
                      many ? of.GetRepeatedInt64(message, field, i) : of.GetInt64(message, field),
                      "\"");
      return;
    case FieldDescriptor::CPPTYPE_UINT64:
      absl::StrAppend(json, "\"",
                      many ? of.GetRepeatedUInt64(message, field, i) : of.GetUInt64(message, field),
                      "\"");
      return;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      AppendDouble(many ? of.GetRepeatedDouble(message, field, i) : of.GetDouble(message, field),
                   json);
      return;
    case FieldDescriptor::CPPTYPE_FLOAT:
      AppendDouble(many ? of.GetRepeatedFloat(message, field, i) : of.GetFloat(message, field),
                   json);
      return;
    default:
      return;
  }
}

// One value, as protobuf's mapping has it; of a repeated field the one at `i`.
void AppendValue(const Message& message, const FieldDescriptor* field, int i, std::string* json) {
  const Reflection& of = *message.GetReflection();
  const bool many = field->is_repeated();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const Message& inner =
          many ? of.GetRepeatedMessage(message, field, i) : of.GetMessage(message, field);
      AppendMessage(inner, AllFields(*inner.GetDescriptor()), json);
      return;
    }
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text =
          many ? of.GetRepeatedString(message, field, i) : of.GetString(message, field);
      AppendText(field->type() == FieldDescriptor::TYPE_BYTES ? absl::Base64Escape(text) : text,
                 json);
      return;
    }
    case FieldDescriptor::CPPTYPE_BOOL:
      json->append((many ? of.GetRepeatedBool(message, field, i) : of.GetBool(message, field))
                       ? "true"
                       : "false");
      return;
    case FieldDescriptor::CPPTYPE_ENUM:
      AppendEnum(
          *field->enum_type(),
          many ? of.GetRepeatedEnumValue(message, field, i) : of.GetEnumValue(message, field),
          json);
      return;
    default:
      AppendNumber(message, field, i, json);
  }
}

// The entries of a map, by their keys as text.
void AppendMap(const Message& message, const FieldDescriptor* field, std::string* json) {
  const FieldDescriptor* const key = field->message_type()->map_key();
  std::map<std::string, std::string> entries;
  for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i) {
    const Message& entry = message.GetReflection()->GetRepeatedMessage(message, field, i);
    std::string name;
    AppendValue(entry, key, 0, &name);
    const bool is_text = absl::StartsWith(name, "\"");
    AppendValue(entry, field->message_type()->map_value(), 0,
                &entries[is_text ? name : absl::StrCat("\"", name, "\"")]);
  }
  char before = '{';
  for (const auto& [name, value] : entries) {
    absl::StrAppend(json, std::string(1, std::exchange(before, ',')), name, ":", value);
  }
  json->append(before == '{' ? "{}" : "}");
}

void AppendMessage(const Message& message, const FieldList& fields, std::string* json) {
  const Reflection& of = *message.GetReflection();
  char before = '{';
  for (const FieldDescriptor* const field : fields) {
    if (!field->is_repeated() && field->has_presence() && !of.HasField(message, field)) {
      continue;
    }
    absl::StrAppend(json, std::string(1, std::exchange(before, ',')), "\"", field->name(), "\":");
    if (!field->is_repeated()) {
      AppendValue(message, field, 0, json);
      continue;
    }
    if (field->is_map()) {
      AppendMap(message, field, json);
      continue;
    }
    json->push_back('[');
    for (int i = 0; i < of.FieldSize(message, field); ++i) {
      if (i > 0) {
        json->push_back(',');
      }
      AppendValue(message, field, i, json);
    }
    json->push_back(']');
  }
  json->append(before == '{' ? "{}" : "}");
}

// Those of the list's members that are named, in their own order.
FieldList Named(const FieldDescriptor& list, const std::vector<std::string>& names,
                std::set<std::string>& known) {
  FieldList fields;
  for (const FieldDescriptor* const field : AllFields(*list.message_type())) {
    if (std::find(names.begin(), names.end(), field->name()) != names.end()) {
      known.insert(field->name());
      fields.push_back(field);
    }
  }
  return fields;
}

// The list with its members' named fields alone.
void AppendNamed(const Message& message, const FieldDescriptor* list, const FieldList& named,
                 std::string* json) {
  const Reflection& of = *message.GetReflection();
  json->push_back('[');
  for (int i = 0; i < of.FieldSize(message, list); ++i) {
    if (i > 0) {
      json->push_back(',');
    }
    AppendMessage(of.GetRepeatedMessage(message, list, i), named, json);
  }
  json->push_back(']');
}

}  // namespace

absl::StatusOr<std::string> WriteJson(const Message& message,
                                      const std::vector<std::string>& fields) {
  std::set<std::string> known;
  std::string json;
  for (const FieldDescriptor* const field : AllFields(*message.GetDescriptor())) {
    const bool is_list = field->is_repeated() && !field->is_map() &&
                         field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    const FieldList named = is_list ? Named(*field, fields, known) : FieldList();
    if (named.empty()) {
      std::string whole;
      AppendMessage(message, {field}, &whole);
      if (whole != "{}") {
        absl::StrAppend(&json, json.empty() ? "{" : ",", whole.substr(1, whole.size() - 2));
      }
      continue;
    }
    absl::StrAppend(&json, json.empty() ? "{" : ",", "\"", field->name(), "\":");
    AppendNamed(message, field, named, &json);
  }
  for (const std::string& name : fields) {
    if (!known.contains(name)) {
      return absl::InvalidArgumentError(absl::StrCat("fields: no field ", name, " in a list of ",
                                                     message.GetDescriptor()->name()));
    }
  }
  return json.empty() ? "{}" : json + "}";
}

absl::Status ReadJson(const std::string& json, Message* message) {
  const auto read = google::protobuf::util::JsonStringToMessage(json, message);
  if (read.ok()) {
    return absl::OkStatus();
  }
  // Its first line; the others draw where in the text that is.
  const std::string why(read.message().data(), read.message().size());
  return absl::InvalidArgumentError(
      absl::StrCat("the body is no ", message->GetDescriptor()->name(),
                   " in JSON: ", why.substr(0, std::min<std::size_t>(why.find('\n'), 300))));
}

// protobuf's own writer builds a tree of every value first: 9 ms for a hundred jobs instead of 1.
std::string WriteJson(const Message& message) {
  std::string json;
  AppendMessage(message, AllFields(*message.GetDescriptor()), &json);
  return json;
}

absl::Status SetField(const std::string& path, const std::string& text, Message* message) {
  const std::size_t dot = path.find('.');
  const FieldDescriptor* const field = FindField(*message, path.substr(0, dot));
  if (field == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("no field ", path, " in ", message->GetDescriptor()->name()));
  }
  if (dot != std::string::npos) {
    if (field->type() != FieldDescriptor::TYPE_MESSAGE || field->is_repeated()) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": no such field"));
    }
    return SetField(path.substr(dot + 1), text,
                    message->GetReflection()->MutableMessage(message, field));
  }
  if (!field->is_repeated()) {
    return PutOne(text, message, field);
  }
  const std::vector<std::string> pieces = absl::StrSplit(text, ',', absl::SkipEmpty());
  for (const std::string& piece : pieces) {
    RETURN_IF_ERROR(PutOne(piece, message, field));
  }
  return absl::OkStatus();
}

}  // namespace muster::daemon
