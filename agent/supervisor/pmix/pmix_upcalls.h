#pragma once

// What libpmix's server asks of its host, passed on to PmixServer. Thread promise: the functions
// run on libpmix's thread; PmixUpcalls() may be called from any. Invariants: nothing here waits;
// every question is answered, refused or dropped with its step.

#include <pmix_server.h>

namespace muster::agent {

// The table to start libpmix's server with. More processes, and questions about the scheduler, are
// refused as not supported.
pmix_server_module_t PmixUpcalls();

}  // namespace muster::agent
