#pragma once

// Answers slurmrestd's paths: makes the calls of one, one after the other, and answers.
//
// Thread promise: Serve on the server's thread, where it does not block; answers come on gRPC's.
// Invariant: an answer is slurmrestd's in form, also one that refuses.

#include <memory>
#include <string>

#include "daemon/gateway/http/message.h"
#include "daemon/gateway/link/controller_link.h"

namespace muster::daemon::slurm {

// `link` outlives the calls. `status_of` gives a status of the controller's its number in HTTP.
void ServeSlurm(ControllerLink& link, const http::Request& request, const std::string& token,
                std::shared_ptr<http::ReplyPath> reply,
                unsigned (*status_of)(const grpc::Status& status));

}  // namespace muster::daemon::slurm
