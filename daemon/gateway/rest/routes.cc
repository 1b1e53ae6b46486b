#include "daemon/gateway/rest/routes.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/gateway/rest/json_message.h"
#include "proto/convert/client_service.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

using google::protobuf::MethodDescriptor;

// What the braces of a path stood for.
using Filled = std::vector<std::pair<std::string, std::string>>;

std::optional<Filled> Match(const std::string& pattern, const std::string& path) {
  const std::vector<std::string> wanted = absl::StrSplit(pattern, '/');
  const std::vector<std::string> given = absl::StrSplit(path, '/');
  if (wanted.size() != given.size()) {
    return std::nullopt;
  }
  Filled filled;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string& piece = wanted[i];
    if (piece.size() > 2 && piece.front() == '{' && piece.back() == '}' && !given[i].empty()) {
      filled.emplace_back(piece.substr(1, piece.size() - 2), given[i]);
    } else if (piece != given[i]) {
      return std::nullopt;
    }
  }
  return filled;
}

struct Route {
  const MethodDescriptor* method = nullptr;
  const Alias* alias = nullptr;
  Filled filled;
};

absl::Status WrongMethod(const std::string& allowed) {
  return absl::FailedPreconditionError(allowed);
}

// By its own name: /v1/ListJobs.
absl::StatusOr<Route> FindByName(const http::Request& head) {
  const std::optional<Filled> name = Match("/v1/{rpc}", head.path);
  const MethodDescriptor* const method =
      name.has_value() ? ClientServiceType().FindMethodByName(name->front().second) : nullptr;
  if (method == nullptr || !IsUnary(*method)) {
    return absl::NotFoundError(
        absl::StrCat(head.path, ": nothing is there; /v1/openapi.json lists what is"));
  }
  const bool reads = ChangesNothing(*method);
  if (head.method != "POST" && !(reads && head.method == "GET")) {
    return WrongMethod(reads ? "GET, HEAD, POST" : "POST");
  }
  return Route{method, nullptr, {}};
}

absl::StatusOr<Route> Find(const http::Request& head) {
  std::string allowed;
  for (const Alias& alias : Aliases()) {
    std::optional<Filled> filled = Match(alias.path, head.path);
    if (filled.has_value() && head.method == alias.method) {
      return Route{ClientServiceType().FindMethodByName(alias.rpc), &alias, *std::move(filled)};
    }
    if (filled.has_value()) {
      absl::StrAppend(&allowed, allowed.empty() ? "" : ", ", alias.method);
    }
  }
  if (!allowed.empty()) {
    return WrongMethod(allowed);
  }
  return FindByName(head);
}

std::string FieldOf(const Alias* alias, const std::string& name) {
  if (alias != nullptr) {
    for (const auto& [given, field] : alias->names) {
      if (name == given) {
        return field;
      }
    }
  }
  return name;
}

}  // namespace

const std::vector<Alias>& Aliases() {
  static const std::vector<Alias> aliases = {
      {"GET", "/v1/ping", "Ping", {}},
      {"GET", "/v1/jobs", "ListJobs", {{"state", "states"}, {"job", "jobs"}}},
      {"POST", "/v1/jobs", "Submit", {}},
      {"GET", "/v1/jobs/{job.job}", "ShowJob", {}},
      {"GET", "/v1/jobs/{job.job}/explanation", "Explain", {}},
      {"GET", "/v1/history", "ListHistory", {{"state", "states"}, {"job", "jobs"}}},
      {"GET", "/v1/jobs/{job.job}/curve", "ShowCurve", {}},
      {"GET", "/v1/jobs/{job}/output", "ReadOutput", {}},
      {"GET", "/v1/jobs/{job}/ranks", "ListRanks", {}},
      {"GET", "/v1/plan", "ShowPlan", {}},
      {"GET", "/v1/nodes", "ListNodes", {{"name", "names"}}},
      {"GET", "/v1/nodes/{names}", "ListNodes", {}},
      {"GET", "/v1/health", "ListHealth", {{"name", "names"}}},
      {"GET", "/v1/alerts", "ListAlerts", {}},
      {"GET", "/v1/policy", "ListPolicy", {{"kind", "kinds"}}},
      {"GET", "/v1/shares", "ListShares", {}},
      {"GET", "/v1/tokens", "ListTokens", {}},
  };
  return aliases;
}

std::vector<const MethodDescriptor*> RestMethods() {
  std::vector<const MethodDescriptor*> methods;
  for (int i = 0; i < ClientServiceType().method_count(); ++i) {
    if (IsUnary(*ClientServiceType().method(i))) {
      methods.push_back(ClientServiceType().method(i));
    }
  }
  return methods;
}

absl::StatusOr<const MethodDescriptor*> FindRoute(const http::Request& head) {
  ASSIGN_OR_RETURN(const Route route, Find(head));
  return route.method;
}

absl::StatusOr<RestCall> ReadCall(const http::Request& request) {
  ASSIGN_OR_RETURN(const Route route, Find(request));
  RestCall call;
  call.method = route.method;
  call.request = NewRequest(*route.method);
  if (request.method == "POST" && !request.body.empty()) {
    RETURN_IF_ERROR(ReadJson(request.body, call.request.get()));
  }
  for (const auto& [name, value] : request.query) {
    if (name == kFieldsParameter) {
      call.fields = absl::StrSplit(value, ',', absl::SkipEmpty());
      continue;
    }
    RETURN_IF_ERROR(SetField(FieldOf(route.alias, name), value, call.request.get()));
  }
  for (const auto& [field, value] : route.filled) {
    RETURN_IF_ERROR(SetField(field, value, call.request.get()));
  }
  return call;
}

}  // namespace muster::daemon
