#pragma once

// Requests and replies of the client service's methods: model <-> the bytes of their messages, at
// both ends of a call.
//
// A request is a struct of scheduler/model with `kMethod` and `Reply`; its messages are those that
// the method of that name has in proto/controller.proto. Invariants: (1) a reply that is no struct
// (a list, a number, an id) is the first field of its message; (2) a request whose fields its
// message does not have does not compile.

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/request/cluster_questions.h"
#include "scheduler/model/request/job_questions.h"

namespace muster {

// Defined for the requests of the lists in the headers above.
template <ClientRequest Request>
void AppendRequest(const Request& request, std::string* bytes);
template <ClientRequest Request>
absl::Status ReadRequest(std::string_view bytes, Request* request);
template <ClientRequest Request>
void AppendReply(const typename Request::Reply& reply, std::string* bytes);
template <ClientRequest Request>
absl::Status ReadReply(std::string_view bytes, typename Request::Reply* reply);
// By the mark that controller.proto gives the method.
template <ClientRequest Request>
bool ChangesNothing();

}  // namespace muster
