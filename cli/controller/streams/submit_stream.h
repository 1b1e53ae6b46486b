#pragma once

// Many submissions over one connection, each with an answer of its own.
//
// Thread promise: the calling thread's; it blocks. Invariants: answers come in the order of the
// submissions; what was sent and not answered when the controller went away is sent again with the
// same token, so that it has one effect.

#include <functional>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "cli/controller/connection.h"
#include "scheduler/model/change/command.h"
#include "scheduler/model/value/ids.h"

namespace muster::cli {

// Submits the jobs; `tell` hears each answer. An error: the rest has no answer.
absl::Status SubmitAll(const Address& address, std::span<const SubmitJob> submissions,
                       const std::function<void(const absl::StatusOr<JobId>&)>& tell,
                       RetryPolicy retry = {});

}  // namespace muster::cli
