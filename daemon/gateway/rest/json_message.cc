#include "daemon/gateway/rest/json_message.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <charconv>
#include <vector>

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

}  // namespace

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

absl::StatusOr<std::string> WriteJson(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(message, &json, options).ok()) {
    return absl::InternalError("the answer cannot be written as JSON");
  }
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
