#pragma once

// The ranks of a step that meet by PMI-1 (--mpi=pmi1): a channel for each here, and what all nodes'
// ranks have put, exchanged at each barrier.
//
// Thread promise: the loop's thread. Invariants: a rank's channel is its own from its birth, so
// that it identifies the rank; a rank that breaks the protocol loses its channel and nothing else;
// the last message of a rank is read, although it takes no answer any more.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/exchange/exchange.h"
#include "agent/supervisor/mpi/loaded_step.h"
#include "agent/supervisor/mpi/pmi_wire.h"
#include "agent/supervisor/mpi/step_pmix.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

struct PmiStepConfig {
  std::string name;  // the step's, the same on all nodes
  StepShape shape;
  std::vector<std::uint32_t> ranks;  // those here
  std::string secret;                // the attempt's
  bool one_machine = false;
};

class PmiStep final : public StepPmix {
 public:
  static absl::StatusOr<std::unique_ptr<PmiStep>> Start(EventLoop& loop, ClosingSockets& closing,
                                                        const Logger& log, PmiStepConfig config,
                                                        PmixNews news);
  ~PmiStep() override;

  absl::StatusOr<std::vector<std::string>> RankEnv(std::uint32_t rank) const override;
  UniqueFd TakeChannel(std::uint32_t rank) override;
  void Hear(std::uint32_t rank) override;
  bool Joined(std::uint32_t rank) const override { return joined_.count(rank) != 0; }
  bool EverJoined(std::uint32_t rank) const override { return ever_.count(rank) != 0; }
  std::vector<std::string> Addresses() const override;
  void Meet(const std::vector<StepPeerAddress>& peers) override;
  void Break(const StepBreak& why) override;
  void Leave(bool told) override;

 private:
  struct Channel {
    UniqueFd ours;
    UniqueFd theirs;
    std::unique_ptr<PmiSession> session;
  };

  PmiStep(EventLoop& loop, const Logger& log, PmiStepConfig config, PmixNews news)
      : loop_(loop), log_(log), config_(std::move(config)), news_(std::move(news)) {}
  absl::Status OpenChannel(std::uint32_t rank);
  bool Read(std::uint32_t rank);
  void Say(std::uint32_t rank, const std::string& bytes);
  void Close(std::uint32_t rank);
  void EnterBarrier(std::uint32_t rank);
  void LeaveBarrier(const std::string& all);

  EventLoop& loop_;
  const Logger& log_;
  const PmiStepConfig config_;
  const PmixNews news_;
  PmiStore store_;
  std::map<std::uint32_t, Channel> channels_;
  std::set<std::uint32_t> joined_;
  std::set<std::uint32_t> ever_;
  std::set<std::uint32_t> waiting_;     // at the barrier
  std::unique_ptr<Exchange> exchange_;  // null: one node
};

}  // namespace muster::agent
