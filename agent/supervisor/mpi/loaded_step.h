#pragma once

// A step with PMIx: ties its namespace in the process that serves PMIx to the exchange with the
// other nodes.
//
// Thread promise: the loop's thread; what the ranks say is posted to the loop, so that whoever
// reads it is never called back within. Invariants: whether a rank had joined is known once Hear()
// has returned after its end; what was posted does nothing once the step is gone.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/mpi/step_pmix.h"
#include "agent/supervisor/pmix/pmix_process.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

// The nodes of a step that have ranks, and where each rank is.
struct StepShape {
  std::vector<std::string> nodes;           // names
  std::vector<std::uint32_t> index;         // of each in the placement
  std::uint32_t position = 0;               // ours among them
  std::vector<std::uint32_t> node_of_rank;  // positions
};

// Nothing when the node at `node_index` has no rank; InvalidArgument when ranks are not numbered
// from 0 without a gap.
absl::StatusOr<StepShape> ShapeOf(const Allocation& placement, std::uint32_t node_index);

// The addresses of the step's nodes, by their positions among those that have ranks.
std::vector<std::vector<std::string>> ByPosition(const StepShape& shape,
                                                 const std::vector<StepPeerAddress>& peers);

struct LoadedStepConfig {
  PmixStepConfig pmix;
  StepShape shape;
  std::string secret;  // the attempt's
};

class LoadedStep final : public StepPmix {
 public:
  static absl::StatusOr<std::unique_ptr<LoadedStep>> Start(EventLoop& loop, ClosingSockets& closing,
                                                           const Logger& log, PmixProcess& process,
                                                           LoadedStepConfig config, PmixNews news);

  absl::StatusOr<std::vector<std::string>> RankEnv(std::uint32_t rank) const override;
  void Hear(std::uint32_t) override { step_->Hear(); }
  bool Joined(std::uint32_t rank) const override { return joined_.count(rank) != 0; }
  bool EverJoined(std::uint32_t rank) const override { return ever_.count(rank) != 0; }
  std::vector<std::string> Addresses() const override;
  void Meet(const std::vector<StepPeerAddress>& peers) override;
  void Break(const StepBreak& why) override;
  void Leave(bool told) override;

 private:
  LoadedStep(EventLoop& loop, LoadedStepConfig config, PmixNews news);
  absl::Status OpenExchange(ClosingSockets& closing, const Logger& log);
  PmixProcessHandlers Handlers();
  void OnFence(std::uint64_t id, std::vector<std::uint32_t> ranks, std::string data);
  void OnModex(std::uint64_t id, std::uint32_t rank);
  void OnAsked(std::uint32_t asker, std::uint64_t id, std::uint32_t rank);
  void OnPublished(std::uint64_t id, const std::optional<std::string>& data);
  void OnLost(const std::string& why);

  struct Question {
    std::uint32_t asker = 0;
    std::uint64_t id = 0;
  };

  EventLoop& loop_;
  const LoadedStepConfig config_;
  const PmixNews news_;
  std::set<std::uint32_t> joined_;  // and not finalized
  std::set<std::uint32_t> ever_;
  std::unique_ptr<Exchange> exchange_;  // null: one node
  std::map<std::uint64_t, Question> questions_;
  std::uint64_t next_question_ = 1;
  std::shared_ptr<const bool> alive_;
  std::unique_ptr<ServedStep> step_;  // last: its end comes first, and with it the handlers' end
};

}  // namespace muster::agent
