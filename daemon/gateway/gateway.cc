#include "daemon/gateway/gateway.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "daemon/gateway/page/page_files.h"
#include "daemon/gateway/rest/json_message.h"
#include "daemon/gateway/rest/open_api.h"
#include "daemon/gateway/rest/open_metrics.h"
#include "daemon/gateway/rest/routes.h"
#include "daemon/gateway/slurm/slurm_door.h"
#include "daemon/gateway/slurm/slurm_paths.h"

namespace muster::daemon {
namespace {

using http::Problem;
using http::Response;

constexpr const char* kMetrics = "/metrics";
constexpr const char* kEvents = "/v1/events";
constexpr const char* kOpenApi = "/v1/openapi.json";
constexpr const char* kLogin = "/session";
constexpr const char* kLogout = "/session/end";
constexpr std::uint64_t kOpenBodyMost = 4 << 10;

struct CodeName {
  grpc::StatusCode code;
  unsigned status;
  const char* name;
};

// As google.rpc.Code maps its codes to HTTP.
constexpr CodeName kCodes[] = {
    {grpc::StatusCode::CANCELLED, 499, "CANCELLED"},
    {grpc::StatusCode::INVALID_ARGUMENT, 400, "INVALID_ARGUMENT"},
    {grpc::StatusCode::DEADLINE_EXCEEDED, 504, "DEADLINE_EXCEEDED"},
    {grpc::StatusCode::NOT_FOUND, 404, "NOT_FOUND"},
    {grpc::StatusCode::ALREADY_EXISTS, 409, "ALREADY_EXISTS"},
    {grpc::StatusCode::PERMISSION_DENIED, 403, "PERMISSION_DENIED"},
    {grpc::StatusCode::UNAUTHENTICATED, 401, "UNAUTHENTICATED"},
    {grpc::StatusCode::RESOURCE_EXHAUSTED, 429, "RESOURCE_EXHAUSTED"},
    {grpc::StatusCode::FAILED_PRECONDITION, 400, "FAILED_PRECONDITION"},
    {grpc::StatusCode::ABORTED, 409, "ABORTED"},
    {grpc::StatusCode::OUT_OF_RANGE, 400, "OUT_OF_RANGE"},
    {grpc::StatusCode::UNIMPLEMENTED, 501, "UNIMPLEMENTED"},
    {grpc::StatusCode::UNAVAILABLE, 503, "UNAVAILABLE"},
};

// All numbers, or a page of Slurm's: /metrics/nodes.
bool IsMetricsPath(const std::string& path) {
  return path == kMetrics || absl::StartsWith(path, absl::StrCat(kMetrics, "/"));
}

Response Json(std::string body) {
  return {200, "application/json", std::move(body), {}};
}

Response WrongMethod(const std::string& allowed) {
  Response response = Problem(405, "UNIMPLEMENTED", absl::StrCat("this path takes ", allowed));
  response.headers.emplace_back("Allow", allowed);
  return response;
}

grpc::Status ToGrpc(const absl::Status& status) {
  return {static_cast<grpc::StatusCode>(status.code()), std::string(status.message())};
}

Response NotThere(const std::string& detail) {
  return Problem(404, "NOT_FOUND", detail);
}

bool IsJson(const std::string& type) {
  return type.empty() || absl::StartsWithIgnoreCase(type, "application/json");
}

void AddCertificateEnd(std::int64_t end, wire::ReadMetricsReply& metrics) {
  wire::MetricFamily& family = *metrics.add_families();
  family.set_name("muster_gateway_certificate_end_seconds");
  family.set_help("When the gateway's TLS certificate ends, in seconds since 1970");
  family.set_kind(wire::METRIC_KIND_GAUGE);
  family.add_samples()->set_value(static_cast<double>(end));
}

// What everybody may read, and who posts a code: without a token.
bool IsOpen(const std::string& path) {
  return path == "/livez" || path == "/readyz" || path == kLogin || path == kOpenApi ||
         FindPageFile(path) != nullptr;
}

// `found`: whether the path and the method are known.
std::optional<Response> ScreenRoute(const http::Request& head, const absl::Status& found) {
  if (absl::IsFailedPrecondition(found)) {
    return WrongMethod(std::string(found.message()));
  }
  if (!found.ok()) {
    return NotThere(std::string(found.message()));
  }
  if (head.method == "POST" && !IsJson(head.content_type)) {
    return Problem(415, "INVALID_ARGUMENT", "a body is application/json");
  }
  return std::nullopt;
}

}  // namespace

Response ProblemOf(const grpc::Status& status) {
  for (const CodeName& row : kCodes) {
    if (row.code == status.error_code()) {
      return Problem(row.status, row.name, status.error_message());
    }
  }
  return Problem(500, "INTERNAL", status.error_message());
}

Gateway::Gateway(ControllerLink& link, WebSessions& sessions, const std::string& version)
    : link_(link),
      sessions_(sessions),
      events_(link, ProblemOf),
      jobs_(link, ProblemOf, [](const wire::WatchJobReply& view) { return WriteJson(view); }),
      open_api_(MakeOpenApi(version)) {}

std::optional<Response> Gateway::Screen(const http::Request& head) {
  if (IsOpen(head.path) || head.path == kLogout) {
    if (head.body_bytes > kOpenBodyMost) {
      return Problem(413, "OUT_OF_RANGE", "the body is too large");
    }
    const std::string allowed = absl::StartsWith(head.path, kLogin) ? "POST" : "GET";
    return head.method == allowed
               ? std::nullopt
               : std::optional(WrongMethod(allowed == "GET" ? "GET, HEAD" : allowed));
  }
  const bool slurm = slurm::IsSlurmPath(head.path);
  if (!absl::StartsWith(head.path, "/v1/") && !IsMetricsPath(head.path) && !slurm) {
    return NotThere(absl::StrCat(head.path, ": nothing is there; see /v1/openapi.json"));
  }
  // Who says nothing of himself does not learn either what is here.
  if (sessions_.TokenOf(head.bearer).empty()) {
    return Problem(401, "UNAUTHENTICATED", "say Authorization: Bearer TOKEN, of: muster token");
  }
  if (IsMetricsPath(head.path) || head.path == kEvents ||
      JobWatches::JobOf(head.path).has_value()) {
    return head.method == "GET" ? std::nullopt : std::optional(WrongMethod("GET, HEAD"));
  }
  return ScreenRoute(head, slurm ? slurm::CheckSlurmPath(head) : FindRoute(head).status());
}

void Gateway::Judge(const http::Request& head, http::Handlers::Verdict verdict) {
  link_.Call(*ControllerLink::FindMethod("Ping"), wire::PingRequest(),
             sessions_.TokenOf(head.bearer),
             [verdict = std::move(verdict)](const grpc::Status& status,
                                            const std::unique_ptr<google::protobuf::Message>&) {
               verdict(status.ok() ? std::nullopt : std::optional(ProblemOf(status)));
             });
}

void Gateway::Serve(const http::Request& request, std::shared_ptr<http::ReplyPath> reply) {
  if (request.path == "/livez") {
    reply->Send({200, "text/plain; charset=utf-8", "ok\n", {}});
  } else if (request.path == "/readyz") {
    const bool ready = link_.Connected();
    reply->Send({ready ? 200U : 503U,
                 "text/plain; charset=utf-8",
                 ready ? "ok\n" : "the controller does not answer\n",
                 {}});
  } else if (request.path == kOpenApi) {
    reply->Send(Json(open_api_));
  } else if (request.path == kLogin) {
    ServeLogin(request, *reply);
  } else if (request.path == kLogout) {
    sessions_.End(request.bearer);
    reply->Send(Json("{}\n"));
  } else if (const PageFile* const file = FindPageFile(request.path)) {
    reply->Send({200, file->type, std::string(file->text), {}});
  } else if (IsMetricsPath(request.path)) {
    ServeMetrics(request, sessions_.TokenOf(request.bearer), std::move(reply));
  } else if (request.path == kEvents) {
    ServeEvents(request, sessions_.TokenOf(request.bearer), reply);
  } else if (const std::optional<std::uint64_t> job = JobWatches::JobOf(request.path)) {
    jobs_.Serve(*job, sessions_.TokenOf(request.bearer), reply);
  } else if (slurm::IsSlurmPath(request.path)) {
    slurm::ServeSlurm(link_, request, sessions_.TokenOf(request.bearer), std::move(reply),
                      [](const grpc::Status& status) { return ProblemOf(status).status; });
  } else {
    ServeCall(request, sessions_.TokenOf(request.bearer), std::move(reply));
  }
}

void Gateway::ServeLogin(const http::Request& request, http::ReplyPath& reply) {
  const nlohmann::json body = nlohmann::json::parse(request.body, nullptr, false);
  const auto code = body.find("code");  // of what is no object: end()
  if (!IsJson(request.content_type) || code == body.end() || !code->is_string()) {
    reply.Send(Problem(400, "INVALID_ARGUMENT", "say {\"code\":\"…\"} in JSON"));
    return;
  }
  const absl::StatusOr<std::string> session = sessions_.Redeem(code->get<std::string>());
  reply.Send(session.ok()
                 ? Json(nlohmann::json{{"session", *session}}.dump() + "\n")
                 : Problem(401, "UNAUTHENTICATED", std::string(session.status().message())));
}

void Gateway::ServeCall(const http::Request& request, const std::string& token,
                        std::shared_ptr<http::ReplyPath> reply) {
  absl::StatusOr<RestCall> call = ReadCall(request);
  if (!call.ok()) {
    reply->Send(Problem(400, "INVALID_ARGUMENT", std::string(call.status().message())));
    return;
  }
  link_.Call(
      *call->method, *call->request, token,
      [reply = std::move(reply), fields = std::move(call->fields)](
          const grpc::Status& status, const std::unique_ptr<google::protobuf::Message>& answer) {
        if (!status.ok()) {
          reply->Send(ProblemOf(status));
          return;
        }
        absl::StatusOr<std::string> json =
            fields.empty() ? WriteJson(*answer) : WriteJson(*answer, fields);
        reply->Send(json.ok() ? Json(*std::move(json)) : ProblemOf(ToGrpc(json.status())));
      });
}

void Gateway::ServeEvents(const http::Request& request, const std::string& token,
                          const std::shared_ptr<http::ReplyPath>& reply) {
  const absl::StatusOr<wire::WatchEventsRequest> asked = EventHub::ReadQuery(request);
  if (asked.ok()) {
    events_.Serve(*asked, token, reply);
  } else {
    reply->Send(Problem(400, "INVALID_ARGUMENT", std::string(asked.status().message())));
  }
}

void Gateway::ServeMetrics(const http::Request& request, const std::string& token,
                           std::shared_ptr<http::ReplyPath> reply) {
  wire::ReadMetricsRequest asked;
  asked.set_page(std::string(absl::StripPrefix(absl::StripPrefix(request.path, kMetrics), "/")));
  link_.Call(
      *ControllerLink::FindMethod("ReadMetrics"), asked, token,
      [reply = std::move(reply), end = asked.page().empty() ? certificate_end_ : std::nullopt,
       open = AcceptsOpenMetrics(request.accept)](
          const grpc::Status& status, const std::unique_ptr<google::protobuf::Message>& answer) {
        auto* const metrics = dynamic_cast<wire::ReadMetricsReply*>(answer.get());
        if (metrics == nullptr) {
          reply->Send(ProblemOf(status));
          return;
        }
        if (end.has_value()) {
          AddCertificateEnd(*end, *metrics);
        }
        reply->Send(
            {200, open ? kOpenMetricsType : kPlainMetricsType, PrintMetrics(*metrics, open), {}});
      });
}

}  // namespace muster::daemon
