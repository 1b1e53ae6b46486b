#pragma once

// Loads libmuster-pmix.so on demand and wraps its C ABI (pmix_api.h): one PMIx server, and a
// PmixStep per job step.
// Thread promise: everything is called by one thread; the handlers run on a thread of libpmix, must
// not block and must not call back into this file (write to an eventfd or a pipe).
// Invariants: one PmixLoader in the life of a process (libpmix cannot start twice), so keep it for
// later steps: opening costs 20 ms, a further step 1 ms. A step keeps the server up; no handler
// runs after its PmixStep is gone.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::agent {

// See PmixServerOptions: `directory` exists and is the ranks' user's, who we are.
struct PmixServerConfig {
  std::string directory;
  std::string hostname;  // this node's name, as in PmixStepConfig::nodes
  std::string shared_memory = "/dev/shm";
};

// See PmixStepOptions. Ranks are the indices of node_of_rank; `local_cpusets` has one cpu list
// ("0-3", or "" for an unbound rank) per rank of this node.
struct PmixStepConfig {
  std::string nspace;  // used once in the process, for example "muster.42.0"
  std::vector<std::string> nodes;
  uint32_t node_index = 0;  // this node's position in `nodes`
  std::vector<uint32_t> node_of_rank;
  std::vector<std::string> local_cpusets;
  uint32_t universe_size = 0;
  bool cores_shared = false;
  bool host_memory_only = false;
  bool one_machine = false;
};

// What ranks say, on libpmix's thread; each may be empty.
struct PmixHandlers {
  std::function<void(uint32_t rank)> on_connected;
  std::function<void(uint32_t rank)> on_finalized;
  std::function<void(uint32_t rank, int status, const std::string& message)> on_abort;
  // See PmixCallbacks; no ranks stand for all.
  std::function<void(uint64_t id, std::vector<uint32_t> ranks, std::string data)> on_fence;
  std::function<void(uint64_t id, uint32_t rank)> on_modex;
  std::function<void(uint64_t id, bool found, std::string data)> on_published;
};

// A job step that the server knows; its end forgets the namespace and removes the step's files.
class PmixStep {
 public:
  ~PmixStep();
  PmixStep(const PmixStep&) = delete;
  PmixStep& operator=(const PmixStep&) = delete;

  // The variables ("NAME=value") to add to the environment of local rank `rank`. Before exec the
  // caller drops the PMIX_* names that it inherited, and closes libpmix's descriptors: not all of
  // them are close-on-exec.
  absl::StatusOr<std::vector<std::string>> RankEnv(uint32_t rank) const;

  // Answers on_fence: what every node brought, one after the other.
  void FinishFence(uint64_t id, const std::string& data) const;
  // Answers on_modex; nothing when it was not found.
  void FinishModex(uint64_t id, const std::optional<std::string>& data) const;
  // Asks for what a local rank has published; on_published answers under `id`, perhaps at once.
  void AskPublished(uint32_t rank, uint64_t id) const;

  // Says that every rank ended by itself, none by a signal: the server can then free the step even
  // when some ranks never spoke to it (see PmixApi::end_step).
  void AllExited() { all_exited_ = true; }

 private:
  friend class PmixLoader;
  struct Server;
  PmixStep(std::shared_ptr<Server> server, std::string nspace, PmixHandlers handlers);

  std::shared_ptr<Server> server_;
  std::string nspace_;
  PmixHandlers handlers_;
  bool started_ = false;
  bool all_exited_ = false;
};

// The module's file in the first of `directories` that holds it; NOT_FOUND when none does.
absl::StatusOr<std::string> FindPmixModule(const std::vector<std::string>& directories);

class PmixLoader {
 public:
  // Loads the module from the first of `directories` that holds it and opens the server; NOT_FOUND
  // when none does. Touches the environment for a moment: no other thread may use it meanwhile.
  static absl::StatusOr<std::unique_ptr<PmixLoader>> Load(
      const std::vector<std::string>& directories, const PmixServerConfig& config);

  // Registers a step; its ranks may be started once RankEnv() has given their environment.
  absl::StatusOr<std::unique_ptr<PmixStep>> StartStep(const PmixStepConfig& config,
                                                      PmixHandlers handlers) const;

 private:
  explicit PmixLoader(std::shared_ptr<PmixStep::Server> server) : server_(std::move(server)) {}

  std::shared_ptr<PmixStep::Server> server_;
};

}  // namespace muster::agent
