#pragma once

// Many submissions over one connection, each with an answer of its own.
//
// Thread promise: the calling thread's; it blocks. Invariants: answers come in the order of the
// submissions; what was sent and not answered when the controller went away is sent again with the
// same token, so that it has one effect.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "cli/controller/connection.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/ids.h"

namespace muster::cli {

// One of them; what it points to lives until its answer.
struct StreamedSubmission {
  const std::string* token = nullptr;
  const JobSpec* spec = nullptr;
  const Program* program = nullptr;
  const std::vector<Component>* components = nullptr;
};

// Submits `count` jobs; `get` says what each is, perhaps more than once, and on a thread of its
// own. `tell` hears each answer. An error: the rest has no answer.
absl::Status SubmitAll(const Address& address, std::size_t count,
                       const std::function<StreamedSubmission(std::size_t)>& get,
                       const std::function<void(const absl::StatusOr<JobId>&)>& tell,
                       RetryPolicy retry = {});

}  // namespace muster::cli
