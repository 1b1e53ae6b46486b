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
#include "agent/supervisor/pmix/pmix_step_config.h"

namespace muster::agent {

// See PmixServerOptions: `directory` exists and is the ranks' user's, who we are. `shared_memory`
// is a memory file system, where each step gets a directory of its own for Open MPI's segments.
struct PmixServerConfig {
  std::string directory;
  std::string hostname;  // this node's name, as in PmixStepConfig::nodes
  std::string shared_memory = "/dev/shm";
  std::string nspace = {};  // the server's own; "": one of this process
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
  // Those of them that are libpmix's.
  absl::StatusOr<std::vector<std::string>> OwnVariables(uint32_t rank) const;

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
  PmixStep(std::shared_ptr<Server> server, PmixStepConfig config, PmixHandlers handlers);

  std::shared_ptr<Server> server_;
  PmixStepConfig config_;
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

  // Registers a step; its ranks may be started once RankEnv() has given their environment. Makes
  // the directory of its segments, unless it has one.
  absl::StatusOr<std::unique_ptr<PmixStep>> StartStep(const PmixStepConfig& wanted,
                                                      PmixHandlers handlers) const;

 private:
  PmixLoader(std::shared_ptr<PmixStep::Server> server, std::string shared_memory)
      : server_(std::move(server)), shared_memory_(std::move(shared_memory)) {}

  std::shared_ptr<PmixStep::Server> server_;
  std::string shared_memory_;
};

}  // namespace muster::agent
