#pragma once

// What a step wants of its PMIx namespace; the supervisor's pmix_steps makes them.
//
// Thread promise: called by the loop's thread, and calls back on it. Invariants: while it lives the
// ranks can talk to the server; its end forgets the namespace, and nothing is called back any more.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/exchange/exchange.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

// What a step learns of its ranks and of the other nodes.
struct PmixNews {
  // A rank called MPI_Abort or PMIx_Abort.
  std::function<void(std::uint32_t rank, int code, const std::string& text)> on_abort;
  // A rank has joined the others.
  std::function<void()> on_joined;
  // The step cannot go on, for a reason that is not here.
  std::function<void(const StepBreak&)> on_broken;
};

// Where the supervisor on a node of the step can be called.
struct StepPeerAddress {
  std::uint32_t node_index = 0;  // its position in the step's placement
  std::vector<std::string> addresses;
};

// What an input that comes through the other nodes (TreeInput) needs of its step.
struct InputHandlers {
  std::function<void(const std::string& data)> give;  // to the ranks here; empty: its end
  std::function<bool()> full;                         // they have not taken what they have
  std::function<void(bool paused)> pause;             // the client
};

class StepPmix {
 public:
  StepPmix() = default;
  StepPmix(const StepPmix&) = delete;
  StepPmix& operator=(const StepPmix&) = delete;
  virtual ~StepPmix() = default;

  // "NAME=value" to add to the environment of rank `rank`.
  [[nodiscard]] virtual absl::StatusOr<std::vector<std::string>> RankEnv(
      std::uint32_t rank) const = 0;
  // What rank `rank` has as descriptor 3; taken once. Invalid: nothing.
  virtual UniqueFd TakeChannel(std::uint32_t) { return {}; }
  // Whether the client's input is for this to hand on, from BeginInput on.
  [[nodiscard]] virtual bool TakesInput() const { return false; }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): who hands input on keeps them
  virtual void BeginInput(InputHandlers) {}
  virtual void Input(const std::string&) {}
  // The rank has ended: takes in its messages from before that.
  virtual void Hear(std::uint32_t) {}
  // True when the rank joined the others and has not finalized: if it ends like that, they would
  // wait for it for ever.
  [[nodiscard]] virtual bool Joined(std::uint32_t rank) const = 0;
  // True when the rank joined the others at some time.
  [[nodiscard]] virtual bool EverJoined(std::uint32_t rank) const = 0;

  // Where the other nodes' supervisors can call us; nothing when there are none.
  [[nodiscard]] virtual std::vector<std::string> Addresses() const = 0;
  // Where those of all nodes can be called.
  virtual void Meet(const std::vector<StepPeerAddress>& peers) = 0;
  // Tells the other nodes that the step cannot go on.
  virtual void Break(const StepBreak& why) = 0;
  // All ranks here have ended; see Exchange::Leave.
  virtual void Leave(bool told) = 0;
};

// What a step gets of PMIx.
struct PmixGrant {
  std::unique_ptr<StepPmix> pmix;           // null: the ranks run without it
  absl::Status refusal = absl::OkStatus();  // not OK: the step asked for it and cannot have it
  std::string note;                         // why it is not there although it could be wanted
};

}  // namespace muster::agent
