#pragma once

// slurmrestd's calls that portals make: /slurm/v0.0.40/… and /slurmdb/v0.0.40/….
//
// Each is one or two calls of the controller, by the caller's own token, and an answer out of what
// they say. Thread promise: immutable. Invariant: only a POST or a DELETE changes something.

#include <google/protobuf/message.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/gateway/http/message.h"
#include "daemon/gateway/slurm/slurm_values.h"

namespace muster::daemon::slurm {

using Messages = std::vector<std::unique_ptr<google::protobuf::Message>>;

struct Question {
  const char* method;  // of the client service
  std::unique_ptr<google::protobuf::Message> request;
};
struct SlurmCall {
  std::vector<Question> questions;
  // Of the answers, in their order; an error is the whole answer's.
  std::function<absl::StatusOr<SlurmAnswer>(const Messages& answers)> answer;
};

// Whether the path is one of these, by its beginning.
bool IsSlurmPath(const std::string& path);
// NotFound when nothing is there; FailedPrecondition when the path takes another method of HTTP,
// which the message names.
absl::Status CheckSlurmPath(const http::Request& head);
// InvalidArgument when the request is none of that path.
absl::StatusOr<SlurmCall> ReadSlurmCall(const http::Request& request);

}  // namespace muster::daemon::slurm
