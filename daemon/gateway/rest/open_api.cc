#include "daemon/gateway/rest/open_api.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/gateway/rest/routes.h"
#include "proto/convert/client_service.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::MethodDescriptor;
using Tree = nlohmann::ordered_json;

Tree Reference(const std::string& name) {
  return {{"$ref", absl::StrCat("#/components/schemas/", name)}};
}

// 64 bits do not fit into the numbers of JavaScript: protobuf writes them as strings, and reads
// both.
Tree Long(bool has_sign) {
  return {{"type", Tree::array({"string", "integer"})}, {"format", has_sign ? "int64" : "uint64"}};
}

class Schemas {
 public:
  Tree Of(const FieldDescriptor& field) {
    if (field.is_map()) {
      const Descriptor& entry = *field.message_type();
      return {{"type", "object"}, {"additionalProperties", One(*entry.map_value())}};
    }
    return field.is_repeated() ? Tree{{"type", "array"}, {"items", One(field)}} : One(field);
  }

  Tree Message(const Descriptor& message) {
    const std::string& name = message.name();
    if (!made_.insert(name).second) {
      return Reference(name);
    }
    Tree properties = Tree::object();
    for (int i = 0; i < message.field_count(); ++i) {
      properties[message.field(i)->name()] = Of(*message.field(i));
    }
    all_[name] = {
        {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    return Reference(name);
  }

  Tree Take() { return std::move(all_); }

 private:
  Tree One(const FieldDescriptor& field) {
    switch (field.type()) {
      case FieldDescriptor::TYPE_MESSAGE:
        return Message(*field.message_type());
      case FieldDescriptor::TYPE_ENUM:
        return Enum(*field.enum_type());
      case FieldDescriptor::TYPE_BOOL:
        return {{"type", "boolean"}};
      case FieldDescriptor::TYPE_BYTES:
        return {{"type", "string"}, {"contentEncoding", "base64"}};
      case FieldDescriptor::TYPE_STRING:
        return {{"type", "string"}};
      case FieldDescriptor::TYPE_DOUBLE:
      case FieldDescriptor::TYPE_FLOAT:
        return {{"type", Tree::array({"number", "string"})}};
      case FieldDescriptor::TYPE_INT64:
      case FieldDescriptor::TYPE_SINT64:
      case FieldDescriptor::TYPE_SFIXED64:
        return Long(true);
      case FieldDescriptor::TYPE_UINT64:
      case FieldDescriptor::TYPE_FIXED64:
        return Long(false);
      default:
        return {{"type", "integer"}};
    }
  }

  static Tree Enum(const google::protobuf::EnumDescriptor& type) {
    Tree names = Tree::array();
    for (int i = 0; i < type.value_count(); ++i) {
      names.push_back(type.value(i)->name());
    }
    return {{"type", "string"}, {"enum", std::move(names)}};
  }

  std::set<std::string> made_;
  Tree all_ = Tree::object();
};

Tree Responses(Schemas& schemas, const MethodDescriptor& method) {
  return {
      {"200",
       {{"description", "what was asked for"},
        {"content", {{"application/json", {{"schema", schemas.Message(*method.output_type())}}}}}}},
      {"default",
       {{"description", "what went wrong (RFC 9457)"},
        {"content", {{"application/problem+json", {{"schema", Reference("Problem")}}}}}}}};
}

bool FitsIntoQuery(const FieldDescriptor& field) {
  return field.type() != FieldDescriptor::TYPE_MESSAGE &&
         field.type() != FieldDescriptor::TYPE_BYTES;
}

Tree QueryOf(Schemas& schemas, const MethodDescriptor& method, const Alias* alias) {
  Tree parameters = Tree::array();
  const Descriptor& message = *method.input_type();
  for (int i = 0; i < message.field_count(); ++i) {
    const FieldDescriptor& field = *message.field(i);
    std::string name = field.name();
    for (const auto& [given, meant] : alias == nullptr ? decltype(alias->names)() : alias->names) {
      name = name == meant ? given : name;
    }
    const bool in_path =
        alias != nullptr &&
        std::string(alias->path).find(absl::StrCat("{", field.name(), "}")) != std::string::npos;
    if (FitsIntoQuery(field) && !in_path) {
      parameters.push_back({{"name", name}, {"in", "query"}, {"schema", schemas.Of(field)}});
    }
  }
  parameters.push_back({{"name", kFieldsParameter},
                        {"in", "query"},
                        {"description", "what members of lists are to have, with commas between"},
                        {"schema", {{"type", "string"}}}});
  return parameters;
}

// The names in the braces of a path.
Tree PathOf(const std::string& path) {
  Tree parameters = Tree::array();
  for (std::size_t open = path.find('{'); open != std::string::npos; open = path.find('{', open)) {
    const std::size_t close = path.find('}', open);
    parameters.push_back({{"name", path.substr(open + 1, close - open - 1)},
                          {"in", "path"},
                          {"required", true},
                          {"schema", {{"type", "string"}}}});
    open = close;
  }
  return parameters;
}

Tree Body(Schemas& schemas, const MethodDescriptor& method) {
  return {{"required", false},
          {"content", {{"application/json", {{"schema", schemas.Message(*method.input_type())}}}}}};
}

void AddMethods(Schemas& schemas, Tree& paths) {
  for (const MethodDescriptor* const method : RestMethods()) {
    Tree& path = paths[absl::StrCat("/v1/", method->name())];
    if (ChangesNothing(*method)) {
      path["get"] = {{"operationId", absl::StrCat("get", method->name())},
                     {"parameters", QueryOf(schemas, *method, nullptr)},
                     {"responses", Responses(schemas, *method)}};
    }
    path["post"] = {{"operationId", method->name()},
                    {"requestBody", Body(schemas, *method)},
                    {"responses", Responses(schemas, *method)}};
  }
}

// REQUIRES: there is one of that name.
const MethodDescriptor& MethodNamed(const std::string& name) {
  const std::vector<const MethodDescriptor*> methods = RestMethods();
  const auto found =
      std::find_if(methods.begin(), methods.end(),
                   [&name](const MethodDescriptor* method) { return method->name() == name; });
  MUSTER_CHECK(found != methods.end());
  return **found;
}

void AddAliases(Schemas& schemas, Tree& paths) {
  for (const Alias& alias : Aliases()) {
    const MethodDescriptor& method = MethodNamed(alias.rpc);
    const bool reads = std::string(alias.method) == "GET";
    Tree operation = {
        {"operationId", absl::StrCat(alias.method, alias.path)},
        {"summary", absl::StrCat("the same as /v1/", alias.rpc)},
        {"parameters", PathOf(alias.path)},
    };
    if (reads) {
      for (Tree& parameter : QueryOf(schemas, method, &alias)) {
        operation["parameters"].push_back(parameter);
      }
    } else {
      operation["requestBody"] = Body(schemas, method);
    }
    operation["responses"] = Responses(schemas, method);
    paths[alias.path][reads ? "get" : "post"] = std::move(operation);
  }
}

Tree Parameter(const char* name, const char* where, const char* type) {
  return {{"name", name}, {"in", where}, {"schema", {{"type", type}}}};
}

// Server-sent events are no message of the service's.
Tree StreamOperation(const char* id, const char* summary, Tree parameters, const char* events) {
  return {{"operationId", id},
          {"summary", summary},
          {"parameters", std::move(parameters)},
          {"responses",
           {{"200",
             {{"description", events},
              {"content", {{"text/event-stream", {{"schema", {{"type", "string"}}}}}}}}},
            {"default",
             {{"description", "what went wrong (RFC 9457)"},
              {"content", {{"application/problem+json", {{"schema", Reference("Problem")}}}}}}}}}};
}

Tree ProblemSchema() {
  return {{"type", "object"},
          {"required", Tree::array({"type", "title", "status", "code", "detail"})},
          {"properties",
           {{"type", {{"type", "string"}}},
            {"title", {{"type", "string"}}},
            {"status", {{"type", "integer"}}},
            {"code", {{"type", "string"}}},
            {"detail", {{"type", "string"}}}}}};
}

}  // namespace

std::string MakeOpenApi(const std::string& version) {
  Schemas schemas;
  Tree paths = Tree::object();
  AddAliases(schemas, paths);
  AddMethods(schemas, paths);
  paths["/v1/events"]["get"] = StreamOperation(
      "getEvents", "what happens, as server-sent events whose data are CloudEvents 1.0",
      Tree::array({Parameter("from", "query", "integer"), Parameter("job", "query", "integer"),
                   Parameter("user", "query", "string"),
                   Parameter("Last-Event-ID", "header", "string")}),
      "events, without an end");
  Tree job = Parameter("job", "path", "integer");
  job["required"] = true;
  paths["/v1/jobs/{job}/watch"]["get"] = StreamOperation(
      "watchJob", "a job's state now and after each change, as server-sent events",
      Tree::array({std::move(job)}),
      "events named job, whose data are a WatchJobReply, until one named end: the job is over");
  Tree all = schemas.Take();
  all["Problem"] = ProblemSchema();
  const Tree document = {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Muster"},
        {"version", version},
        {"description",
         "The controller's service for clients, in protobuf's JSON mapping. Times are UTC "
         "milliseconds since 1970. A method that changes nothing may be called by GET."},
        {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"servers", Tree::array({{{"url", "/"}}})},
      {"security", Tree::array({{{"token", Tree::array()}}})},
      {"paths", std::move(paths)},
      {"components",
       {{"securitySchemes",
         {{"token", {{"type", "http"}, {"scheme", "bearer"}, {"bearerFormat", "JWT"}}}}},
        {"schemas", std::move(all)}}}};
  return document.dump(1) + "\n";
}

}  // namespace muster::daemon
