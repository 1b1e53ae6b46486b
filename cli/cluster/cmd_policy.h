#pragma once

// muster partition, qos, accounts and reservation: who may have what, shown and changed.
//
// The verbs' options, help and action; see verb.h for the frame. Thread promise: run on the main
// thread.

#include "cli/frame/verb.h"

namespace muster {

Verb PartitionVerb();
Verb QosVerb();
Verb AccountsVerb();
Verb ReservationVerb();

}  // namespace muster
