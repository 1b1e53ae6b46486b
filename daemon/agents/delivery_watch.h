#pragma once

// Launch orders that break the stream of the agent that they are for.
//
// An agent whose stream breaks comes back and is sent again what it does not have. Where it breaks
// again at the same order, that would go on for ever, and nothing else would ever start there.
// Thread promise: none; its owner locks. Invariants: (1) of the orders of a stream that broke, only
// the first that the agent came back without is suspected: those before it arrived, those after it
// were not read; (2) an order that was suspected kBreaksMax times in a row is not to be sent again.

#include <chrono>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler/model/machine/node.h"
#include "scheduler/model/value/ids.h"

namespace muster::daemon {

class DeliveryWatch {
 public:
  using Now = std::chrono::steady_clock::time_point;
  using Launched = std::pair<JobId, AttemptNumber>;
  static constexpr unsigned kBreaksMax = 3;
  // A stream that breaks later was not broken by the order.
  static constexpr std::chrono::seconds kSoon{30};

  // A launch order went out on the node's stream.
  void Sent(NodeId node, Launched order, Now now);
  // The node's stream ended, and not by the controller's will.
  void Broke(NodeId node, Now now);
  // The node's agent is back with those attempts. The order that is not to be sent again, if there
  // is one.
  std::optional<Launched> Back(NodeId node, const std::vector<KnownAttempt>& known);
  [[nodiscard]] bool MayGo(NodeId node, Launched order) const;

 private:
  struct Order {
    Launched launched;
    Now when;
  };
  struct Stream {
    std::vector<Order> sent;
    std::optional<Now> broke;
    std::optional<Launched> suspect;
    unsigned breaks = 0;  // of the suspect
  };
  std::map<NodeId, Stream> streams_;
};

}  // namespace muster::daemon
