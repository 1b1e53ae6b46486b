#pragma once

// The PMIx server of this process: registers job steps with libpmix and passes on what their ranks
// say. Thread promise: the methods are called by one thread at a time; upcalls arrive on libpmix's
// thread, which holds the lock of the step table while it runs a callback. No method holds that
// lock while it waits for libpmix. Invariants: libpmix allows one server per process and its
// upcalls carry no context, hence Instance(). A step leaves the table before libpmix forgets it, so
// no callback comes after EndStep(). What fails throws std::runtime_error, which pmix_module.cc
// catches: the module has no absl.

#include <pmix_server.h>

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "agent/supervisor/pmix/pmix_api.h"
#include "agent/supervisor/pmix/pmix_job_info.h"

namespace muster::agent {

class PmixServer {
 public:
  // The one server of the process.
  static PmixServer& Instance();

  // Starts libpmix's server, which asks `upcalls`. Its thread takes no signals.
  void Open(const PmixServerOptions& options, pmix_server_module_t upcalls);
  // Registers the namespace and its local ranks.
  void StartStep(const PmixStepOptions& options);
  // The variables ("NAME=value") that make a process rank `rank` of the step.
  std::vector<std::string> RankEnv(const std::string& nspace, uint32_t rank);
  // Forgets the namespace and has its directories removed; never waits for libpmix. `all_exited`
  // says that every rank ended by itself, none by a signal.
  void EndStep(const std::string& nspace, bool all_exited);
  // Hands libpmix what it waits for under `id`; nothing happens when its step has ended.
  void Answer(uint64_t id, bool ok, const char* data, size_t size);
  // Sends the step, under `id`, what its local rank `rank` has published, once it has.
  static void AskPublished(const std::string& nspace, uint32_t rank, uint64_t id);
  // Ends what is left, for good. libpmix's threads stay until the process ends.
  void Close();

  // For the upcall of the same name.
  void NoteConnected(const pmix_proc_t& proc);
  // For the upcalls: what libpmix waits for, until Answer() or Drop() or the end of its step.
  uint64_t Keep(const char* nspace, pmix_modex_cbfunc_t done, void* context);
  void Drop(uint64_t id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_.erase(id);
  }
  // For the upcalls: runs `report(callbacks)` if the namespace of `proc` is known.
  template <typename Report>
  void Tell(const pmix_proc_t& proc, const Report& report) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto step = steps_.find(proc.nspace);
    if (step != steps_.end()) {
      report(step->second.callbacks);
    }
  }

 private:
  struct Step {
    PmixJob job;
    PmixCallbacks callbacks = {};
    std::set<uint32_t> connected;  // local ranks that got through their handshake
  };

  struct Waiting {
    std::string nspace;
    pmix_modex_cbfunc_t done = nullptr;
    void* context = nullptr;
  };

  PmixServer() = default;

  void Register(const PmixJob& job);

  bool open_ = false;
  bool opened_ = false;  // once, ever: libpmix 4.2 aborts the process when it is initialised again
  std::string directory_;
  void (*remove_)(const char* const* directories, uint32_t count) = nullptr;
  std::mutex mutex_;  // guards steps_ and waiting_ against the upcalls
  uint64_t next_id_ = 1;
  uint64_t next_directory_ = 0;
  std::map<uint64_t, Waiting> waiting_;
  std::set<std::string> retired_;      // namespaces that libpmix still holds
  std::map<std::string, Step> steps_;  // by namespace; changed by the calling thread only
};

}  // namespace muster::agent
