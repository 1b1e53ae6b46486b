#include "agent/supervisor/pmix/pmix_upcalls.h"

#include <cstring>
#include <vector>

#include "agent/supervisor/pmix/pmix_server.h"

namespace muster::agent {
namespace {

// The number of parameters is libpmix's.
// NOLINTBEGIN(readability-function-size)

pmix_status_t ClientConnected(const pmix_proc_t* proc, void*, pmix_info_t*, size_t,
                              pmix_op_cbfunc_t, void*) {
  PmixServer::Instance().NoteConnected(*proc);
  PmixServer::Instance().Tell(*proc, [proc](const PmixCallbacks& callbacks) {
    if (callbacks.on_connected != nullptr) {
      callbacks.on_connected(callbacks.context, proc->rank);
    }
  });
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t ClientFinalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
  PmixServer::Instance().Tell(*proc, [proc](const PmixCallbacks& callbacks) {
    if (callbacks.on_finalized != nullptr) {
      callbacks.on_finalized(callbacks.context, proc->rank);
    }
  });
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t ClientAborted(const pmix_proc_t* proc, void*, int status, const char message[],
                            pmix_proc_t*, size_t, pmix_op_cbfunc_t done, void* data) {
  const char* text = message != nullptr ? message : "";
  PmixServer::Instance().Tell(*proc, [proc, status, text](const PmixCallbacks& callbacks) {
    if (callbacks.on_abort != nullptr) {
      callbacks.on_abort(callbacks.context, proc->rank, status, text);
    }
  });
  if (done != nullptr) {
    done(PMIX_SUCCESS, data);
  }
  return PMIX_SUCCESS;
}

// Ranks of this node wait for others: whoever carries the step's fences answers. libpmix serves a
// fence among ranks of one node by itself.
pmix_status_t FenceEntered(const pmix_proc_t* procs, size_t count, const pmix_info_t*, size_t,
                           char* data, size_t size, pmix_modex_cbfunc_t done, void* context) {
  std::vector<uint32_t> ranks;
  bool all = false;
  for (size_t i = 0; i < count; ++i) {
    if (std::strncmp(procs[i].nspace, procs[0].nspace, PMIX_MAX_NSLEN) != 0) {
      return PMIX_ERR_NOT_SUPPORTED;  // between jobs nothing is carried
    }
    all = all || procs[i].rank == PMIX_RANK_WILDCARD;
    ranks.push_back(procs[i].rank);
  }
  if (count == 0) {
    return PMIX_ERR_BAD_PARAM;
  }
  if (all) {
    ranks.clear();
  }
  PmixServer& server = PmixServer::Instance();
  const uint64_t id = server.Keep(procs[0].nspace, done, context);
  bool carried = false;
  server.Tell(procs[0], [&](const PmixCallbacks& callbacks) {
    if (callbacks.on_fence != nullptr) {
      carried = true;
      callbacks.on_fence(callbacks.context, id, ranks.data(), static_cast<uint32_t>(ranks.size()),
                         data, size);
    }
  });
  if (!carried) {
    server.Drop(id);
    return PMIX_ERR_NOT_SUPPORTED;
  }
  return PMIX_SUCCESS;
}

pmix_status_t ModexAsked(const pmix_proc_t* proc, const pmix_info_t*, size_t,
                         pmix_modex_cbfunc_t done, void* context) {
  PmixServer& server = PmixServer::Instance();
  const uint64_t id = server.Keep(proc->nspace, done, context);
  bool carried = false;
  server.Tell(*proc, [&](const PmixCallbacks& callbacks) {
    if (callbacks.on_modex != nullptr) {
      carried = true;
      callbacks.on_modex(callbacks.context, id, proc->rank);
    }
  });
  if (!carried) {
    server.Drop(id);
    return PMIX_ERR_NOT_FOUND;
  }
  return PMIX_SUCCESS;
}

pmix_status_t SpawnRefused(const pmix_proc_t*, const pmix_info_t*, size_t, const pmix_app_t*,
                           size_t, pmix_spawn_cbfunc_t, void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

// Events of the environment are not raised yet; asking for them is allowed.
pmix_status_t EventsAccepted(pmix_status_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t,
                             void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t EventsDropped(pmix_status_t*, size_t, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

// libpmix answers questions about the namespace by itself; what is left concerns the scheduler.
pmix_status_t QueryRefused(pmix_proc_t*, pmix_query_t*, size_t, pmix_info_cbfunc_t, void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

// NOLINTEND(readability-function-size)

}  // namespace

pmix_server_module_t PmixUpcalls() {
  pmix_server_module_t module = {};
  module.client_connected2 = ClientConnected;
  module.client_finalized = ClientFinalized;
  module.abort = ClientAborted;
  module.fence_nb = FenceEntered;
  module.direct_modex = ModexAsked;
  module.spawn = SpawnRefused;
  module.register_events = EventsAccepted;
  module.deregister_events = EventsDropped;
  module.query = QueryRefused;
  return module;
}

}  // namespace muster::agent
