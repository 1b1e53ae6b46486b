// Writes the header that tells the codec the numbers of the messages' fields: run when the product
// is built, by the descriptors of the very messages that it is built with.
//
// For each message a specialisation of Wire (its fields, oneofs and name), for each field that
// holds a message one of MessageOf, for each enumeration the numbers that it knows, and for each
// method of clients its messages, and whether it changes nothing.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/agent.pb.h"
#include "proto/controller.pb.h"
#include "proto/journal.pb.h"
#include "proto/order.pb.h"
#include "proto/plan.pb.h"
#include "proto/snapshot.pb.h"
#include "proto/supervisor.pb.h"
#include "proto/view.pb.h"

namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

// "SitePolicy_PartitionsEntry": as the C++ class, or for an entry of a map as a tag of our own.
std::string NameOf(const Descriptor& message) {
  return message.containing_type() == nullptr
             ? message.name()
             : absl::StrCat(NameOf(*message.containing_type()), "_", message.name());
}

std::string TypeOf(const Descriptor& message) {
  return message.options().map_entry() ? absl::StrCat("entry::", NameOf(message))
                                       : absl::StrCat("wire::", NameOf(message));
}

struct Tables {
  std::set<const FileDescriptor*> files;
  std::string declared;  // the classes
  std::string entries;   // the tags of entries of maps
  std::string text;

  void Add(const FileDescriptor& file) {
    if (!files.insert(&file).second || file.package() != "muster.wire") {
      return;
    }
    for (int i = 0; i < file.dependency_count(); ++i) {
      Add(*file.dependency(i));
    }
    for (int i = 0; i < file.message_type_count(); ++i) {
      Add(*file.message_type(i));
    }
  }

  void Add(const ServiceDescriptor& service) {
    for (int i = 0; i < service.method_count(); ++i) {
      const MethodDescriptor& method = *service.method(i);
      absl::StrAppend(
          &text, "template <>\nstruct Method<\"", method.name(),
          "\"> {\n  using Request = ", TypeOf(*method.input_type()),
          ";\n  using Reply = ", TypeOf(*method.output_type()),
          ";\n  static constexpr bool kChangesNothing = ",
          method.options().idempotency_level() == google::protobuf::MethodOptions::NO_SIDE_EFFECTS
              ? "true"
              : "false",
          ";\n};\n");
    }
  }

  void Add(const Descriptor& message) {
    absl::StrAppend(message.options().map_entry() ? &entries : &declared, "class ", NameOf(message),
                    ";\n");
    for (int i = 0; i < message.nested_type_count(); ++i) {
      Add(*message.nested_type(i));
    }
    const std::string type = TypeOf(message);
    absl::StrAppend(&text, "template <>\nstruct Wire<", type,
                    "> {\n  static constexpr std::string_view kName = \"", message.full_name(),
                    "\";\n  static constexpr std::array<WireField, ", message.field_count(),
                    "> kFields = {{\n");
    std::string messages;
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      const auto* oneof = field.real_containing_oneof();
      absl::StrAppend(&text, "      {\"", field.name(), "\", ", field.number(), ", \"",
                      oneof == nullptr ? "" : oneof->name(), "\", ",
                      field.type() == FieldDescriptor::TYPE_STRING ? "true" : "false", "},\n");
      if (field.message_type() != nullptr) {
        absl::StrAppend(&messages, "template <>\nstruct MessageOf<", type, ", ", field.number(),
                        "> {\n  using Type = ", TypeOf(*field.message_type()), ";\n};\n");
      }
      if (field.enum_type() != nullptr) {
        absl::StrAppend(&messages, "template <>\nstruct EnumOf<", type, ", ", field.number(),
                        "> {\n", NumbersOf(*field.enum_type()), "};\n");
      }
    }
    absl::StrAppend(&text, "  }};\n};\n", messages);
  }

  static std::string NumbersOf(const EnumDescriptor& type) {
    std::vector<int> numbers;
    numbers.reserve(static_cast<std::size_t>(type.value_count()));
    for (int i = 0; i < type.value_count(); ++i) {
      numbers.push_back(type.value(i)->number());
    }
    std::sort(numbers.begin(), numbers.end());
    std::string text = absl::StrCat("  static constexpr std::array<std::int32_t, ", numbers.size(),
                                    "> kNumbers = {");
    for (const int number : numbers) {
      absl::StrAppend(&text, number, ", ");
    }
    return absl::StrCat(text, "};\n");
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: wire_tables HEADER\n";
    return 2;
  }
  Tables tables;
  namespace wire = muster::wire;
  for (const Descriptor* message :
       {wire::AgentMessage::descriptor(), wire::PingRequest::descriptor(),
        wire::JournalEntry::descriptor(), wire::LaunchOrder::descriptor(), wire::Plan::descriptor(),
        wire::Snapshot::descriptor(), wire::SupervisorOrder::descriptor(),
        wire::JobView::descriptor()}) {
    tables.Add(*message->file());
  }
  tables.Add(*wire::PingRequest::descriptor()->file()->FindServiceByName("Controller"));
  std::ofstream header(argv[1]);
  header << "#pragma once\n\n// Made by proto/convert/wire_tables from the messages.\n\n"
            "namespace muster::wire {\n"
         << tables.declared << "}\n\nnamespace muster::convert {\nnamespace entry {\n"
         << tables.entries << "}\n"
         << tables.text << "}  // namespace muster::convert\n";
  header.close();
  return header ? 0 : 1;
}
