#pragma once

// Requests that name other jobs, on their way to the controller: what the accounting knows of those
// jobs goes with them, because jobs that have ended are not in the state.
//
// Thread promise: safe from any thread; the accounting is read on `reader`'s thread. Invariants: a
// job that ends between the look-up and the transition is looked up again, so that no outcome is
// missed.

#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/store/accounting.h"
#include "scheduler/model/change/command.h"

namespace muster::daemon {

// Makes what is submitted the actor's.
void ClaimSubmission(const Actor& actor, SubmitJob& command);

// As Controller::Take; a SubmitJob or an UpdateJob that names jobs takes what is known of them
// along. REQUIRES: all three outlive the answer.
void TakeWithHistory(Controller& controller, Accounting& accounting, Worker& reader,
                     Command command, Controller::Done done);

}  // namespace muster::daemon
