#pragma once

// Requests and replies of the client service's methods: model <-> messages, at both ends of a call.
//
// A request is a struct of scheduler/model with `kMethod` and `Reply`; `client_service` finds its
// messages by the method's name. Thread promise: safe from any thread. Invariants: (1) a reply that
// is no struct (a list, a number, an id) is the first field of its message; (2) a request whose
// fields its message does not have ends the process at first use.

#include <google/protobuf/message.h>

#include "absl/status/status.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/request/cluster_questions.h"
#include "scheduler/model/request/job_questions.h"

namespace muster {

// Defined for the requests of the lists in the headers above.
template <ClientRequest Request>
void WriteRequest(const Request& request, google::protobuf::Message* message);
template <ClientRequest Request>
absl::Status ReadRequest(const google::protobuf::Message& message, Request* request);
template <ClientRequest Request>
void WriteReply(const typename Request::Reply& reply, google::protobuf::Message* message);
template <ClientRequest Request>
absl::Status ReadReply(const google::protobuf::Message& message, typename Request::Reply* reply);

}  // namespace muster
