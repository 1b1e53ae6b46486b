#pragma once

// The input of a step whose nodes hand it on in their tree (Program::stdin_path kTreeInput): the
// client sends it to the first node alone, piece by piece, and every node gets every piece.
//
// Each piece is one collective of the exchange, which proves it under the attempt's secret; the
// next begins when all nodes have room for it. Thread promise: the loop's thread. Invariants: all
// nodes get the same bytes in the same order; at most kQueuedBytesMax wait at the first node.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/supervisor/exchange/exchange.h"
#include "agent/supervisor/mpi/loaded_step.h"
#include "agent/supervisor/mpi/step_pmix.h"
#include "agent/supervisor/user_space/peer_address.h"
#include "scheduler/runtime/closing_sockets.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

inline constexpr const char* kTreeInput = "tree";

struct TreeInputConfig {
  std::string name;  // the step's, the same on all nodes
  StepShape shape;
  std::string secret;  // the attempt's
  bool one_machine = false;
  PeerTraffic traffic = {};
};

class TreeInput final : public StepPmix {
 public:
  static constexpr std::size_t kQueuedBytesMax = std::size_t{4} << 20;

  static absl::StatusOr<std::unique_ptr<TreeInput>> Start(EventLoop& loop, ClosingSockets& closing,
                                                          const Logger& log, TreeInputConfig config,
                                                          PmixNews news);

  bool TakesInput() const override { return true; }
  void BeginInput(InputHandlers handlers) override;
  void Input(const std::string& data) override;

  absl::StatusOr<std::vector<std::string>> RankEnv(std::uint32_t) const override {
    return std::vector<std::string>();
  }
  bool Joined(std::uint32_t) const override { return false; }
  bool EverJoined(std::uint32_t) const override { return true; }
  std::vector<std::string> Addresses() const override;
  void Meet(const std::vector<StepPeerAddress>& peers) override;
  void Break(const StepBreak& why) override;
  void Leave(bool told) override;

 private:
  TreeInput(EventLoop& loop, TreeInputConfig config, PmixNews news)
      : loop_(loop), config_(std::move(config)), news_(std::move(news)) {}
  [[nodiscard]] bool IsFirst() const { return config_.shape.position == 0; }
  void Next();
  void Came(const std::string& piece);

  EventLoop& loop_;
  const TreeInputConfig config_;
  const PmixNews news_;
  InputHandlers handlers_;
  std::string queued_;      // of the first node
  bool ended_ = false;      // all of it was queued
  bool over_ = false;       // all of it came
  bool under_way_ = false;  // a piece
  bool paused_ = false;     // the client
  const std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
  std::unique_ptr<Exchange> exchange_;  // null: one node
};

}  // namespace muster::agent
