#pragma once

// Which request is which call: every method of the client service by its name, and short paths for
// the things that people ask for.
//
//   POST /v1/METHOD     any method that has one answer; the body is its request in JSON
//   GET  /v1/METHOD     those that change nothing; the query is its request
//   GET  /v1/jobs/7 …   the paths of Aliases()
//
// Thread promise: immutable. Invariant: a method that may change something is never a GET.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/gateway/http/message.h"

namespace muster::daemon {

// "GET /v1/jobs/{job.job}": what stands in braces is the field of the request that it fills.
struct Alias {
  const char* method;
  const char* path;
  const char* rpc;
  // Names in the query that mean a field of another name.
  std::vector<std::pair<const char*, const char*>> names = {};
};
const std::vector<Alias>& Aliases();

// The methods with one request and one answer, in the order of the service.
std::vector<const google::protobuf::MethodDescriptor*> RestMethods();

struct RestCall {
  const google::protobuf::MethodDescriptor* method = nullptr;
  std::unique_ptr<google::protobuf::Message> request;
  std::vector<std::string> fields;  // of the members of the answer's lists; none named: all
};
// The name in a query that is no field of a request: which fields an answer's lists are to have.
inline constexpr const char* kFieldsParameter = "fields";

// The method of a head, without its request. NotFound when no method is there; FailedPrecondition
// when this path takes another method of HTTP, which the message names.
absl::StatusOr<const google::protobuf::MethodDescriptor*> FindRoute(const http::Request& head);
// The whole call. InvalidArgument when the request is none of that method.
absl::StatusOr<RestCall> ReadCall(const http::Request& request);

}  // namespace muster::daemon
