#include "daemon/agents/delivery_watch.h"

#include <algorithm>
#include <utility>

namespace muster::daemon {

void DeliveryWatch::Sent(NodeId node, Launched order, Now now) {
  std::vector<Order>& sent = streams_[node].sent;
  std::erase_if(sent, [now](const Order& earlier) { return now - earlier.when > kSoon; });
  sent.push_back({order, now});
}

void DeliveryWatch::Broke(NodeId node, Now now) {
  streams_[node].broke = now;
}

std::optional<DeliveryWatch::Launched> DeliveryWatch::Back(NodeId node,
                                                           const std::vector<KnownAttempt>& known) {
  Stream& stream = streams_[node];
  const std::vector<Order> sent = std::exchange(stream.sent, {});
  const std::optional<Now> broke = std::exchange(stream.broke, std::nullopt);
  const auto first = std::find_if(sent.begin(), sent.end(), [&](const Order& order) {
    return std::none_of(known.begin(), known.end(), [&](const KnownAttempt& attempt) {
      return Launched(attempt.job, attempt.attempt) == order.launched;
    });
  });
  if (!broke.has_value() || first == sent.end() || *broke - first->when > kSoon) {
    stream.suspect.reset();
    return std::nullopt;
  }
  stream.breaks = stream.suspect == first->launched ? stream.breaks + 1 : 1;
  stream.suspect = first->launched;
  return stream.breaks >= kBreaksMax ? stream.suspect : std::nullopt;
}

bool DeliveryWatch::MayGo(NodeId node, Launched order) const {
  const auto found = streams_.find(node);
  return found == streams_.end() || found->second.suspect != order ||
         found->second.breaks < kBreaksMax;
}

}  // namespace muster::daemon
