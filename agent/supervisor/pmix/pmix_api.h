#pragma once

// The C ABI between the process that serves PMIx (pmix_host.h) and libmuster-pmix.so, which alone
// links libpmix; that process loads it as the job's user. Plain structs and functions; no
// exception, no allocation and no C++ type crosses it. The module needs libpmix and the C++ library
// alone: it has to load wherever a libpmix is. Thread promise: the functions are called by
// one thread at a time. The callbacks come on a thread of libpmix, with the module's lock held:
// they must not block and must not call this API (write to an eventfd or a pipe). Invariants: one
// server in its life, any number of steps in it at a time, each under its own namespace. No
// callback of a step comes after end_step() has returned. Strings and arrays given in are copied.

#include <cstddef>
#include <cstdint>

namespace muster::agent {

// Raised when anything below changes; a module of another version is refused.
inline constexpr uint32_t kPmixApiVersion = 6;
inline constexpr const char* kPmixEntryPoint = "muster_pmix_api";
inline constexpr const char* kPmixModuleName = "libmuster-pmix.so";

extern "C" {

// One line of text, NUL-terminated, filled when a function fails.
struct PmixErrorText {
  char text[512];
};

// What the process-wide server needs. `directory` exists and is ours, who are the ranks' user; the
// server keeps the steps' session directories there.
struct PmixServerOptions {
  const char* directory;
  const char* hostname;  // this node's name, as in node_names of the steps
  const char* nspace;    // the server's own; "": one of this process
  // Removes the directories of a step that ended, with all that is in them, beside the caller:
  // ranks may have filled them. Called within end_step() and a start_step() that fails.
  void (*remove)(const char* const* directories, uint32_t count);
};

// What ranks tell the supervisor. Any pointer but `context` may be null.
struct PmixCallbacks {
  void* context;
  // The rank called PMIx_Init and got in.
  void (*on_connected)(void* context, uint32_t rank);
  // The rank called PMIx_Finalize. A rank that is killed never gets here.
  void (*on_finalized)(void* context, uint32_t rank);
  // The rank called MPI_Abort or PMIx_Abort: the step is to be ended. `message` is never null.
  void (*on_abort)(void* context, uint32_t rank, int32_t status, const char* message);
  // The local ranks among `ranks` (rank_count 0: of all ranks) wait for the others with `data`:
  // finish_fence() with what every node brought, one after the other, lets them go on.
  void (*on_fence)(void* context, uint64_t id, const uint32_t* ranks, uint32_t rank_count,
                   const char* data, size_t size);
  // A local rank wants what `rank`, on another node, has published: finish_modex().
  void (*on_modex)(void* context, uint64_t id, uint32_t rank);
  // The answer to ask_modex(); `found` is 0 when there is none.
  void (*on_published)(void* context, uint64_t id, uint32_t found, const char* data, size_t size);
};

// One job step as one PMIx namespace. Ranks are 0..rank_count-1; those whose node_of_rank is
// node_index are local.
struct PmixStepOptions {
  const char* nspace;
  const char* const* node_names;
  uint32_t node_count;
  uint32_t node_index;  // this node's position in node_names
  const uint32_t* node_of_rank;
  uint32_t rank_count;
  // Slots of the allocation; at least rank_count.
  uint32_t universe_size;
  // One per local rank in order of rank: a cpu list ("0-3,8"), or "" when the rank is not bound.
  const char* const* local_cpusets;
  uint32_t local_count;
  // A directory that is the step's own and goes with it, such as of Open MPI's segments; "": none.
  const char* segments;
  PmixCallbacks callbacks;
};

// Receives one "NAME=value" of a rank's environment; the text lives only during the call.
using PmixEnvSink = void (*)(void* context, const char* assignment);

// The functions; each that can fail returns 0 on success and otherwise fills `error`.
struct PmixApi {
  uint32_t version;
  // Starts the server; touches the environment while it runs, so no other thread may. Fails when it
  // is open or was: libpmix aborts the process when it is initialised again.
  int32_t (*open_server)(const PmixServerOptions* options, PmixErrorText* error);
  // Registers a namespace and its local ranks; makes their session directories.
  int32_t (*start_step)(const PmixStepOptions* options, PmixErrorText* error);
  // Hands every variable that libpmix adds to a local rank's environment to `sink`.
  int32_t (*rank_env)(const char* nspace, uint32_t rank, PmixEnvSink sink, void* sink_context,
                      PmixErrorText* error);
  // Answers on_fence; `ok` 0 fails it. Unknown ids are ignored, as those of an ended step are.
  void (*finish_fence)(uint64_t id, uint32_t ok, const char* data, size_t size);
  // Answers on_modex.
  void (*finish_modex)(uint64_t id, uint32_t ok, const char* data, size_t size);
  // Asks for what a local rank has published; on_published answers under the same `id`, once the
  // rank has done so.
  void (*ask_modex)(const char* nspace, uint32_t rank, uint64_t id);
  // Forgets a namespace and has its files removed; never waits. Ranks may be alive, finished or
  // killed; unknown names are ignored. `all_exited` is not 0 when every rank ended by itself, none
  // by a signal: only then, or when every rank had connected, is the namespace's memory freed and
  // its name free again (libpmix 4.2 cannot free one with a rank that died in its handshake).
  void (*end_step)(const char* nspace, uint32_t all_exited);
  // Ends every step left and the server, for good; libpmix's threads stay until the process ends.
  void (*close_server)();
};

// The module's one exported symbol (kPmixEntryPoint). Null when `version` is not the module's own.
using PmixEntryPoint = const PmixApi* (*)(uint32_t version);

}  // extern "C"

}  // namespace muster::agent
