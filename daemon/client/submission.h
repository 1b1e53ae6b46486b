#pragma once

// Requests that name other jobs, on their way to the controller: what the accounting knows of those
// jobs goes with them, because jobs that have ended are not in the state.
//
// Thread promise: safe from any thread; the accounting is read on `reader`'s thread. Invariants: a
// job that ends between the look-up and the turn is looked up again, so that no outcome is missed.

#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/accounting.h"
#include "proto/controller.pb.h"
#include "scheduler/model/change/command.h"

namespace muster::daemon {

// What a request submits, as the caller's. InvalidArgument when it cannot be read.
absl::StatusOr<SubmitJob> ReadSubmission(const wire::SubmitRequest& request, const User& user);

// As Controller::Take, for a SubmitJob or an UpdateJob; those that name no jobs go straight there.
// REQUIRES: all three outlive the answer.
void TakeWithHistory(Controller& controller, Accounting& accounting, Worker& reader,
                     Command command, Controller::Done done);

}  // namespace muster::daemon
