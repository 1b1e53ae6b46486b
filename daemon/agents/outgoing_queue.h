#pragma once

// What waits to go to one agent, in the order in which it was given.
//
// Nothing is sent for each thing by itself while the stream is busy: the orders that wait behind
// one another leave in one message under one signature, and so do acknowledgements, to an agent
// that knows both. Thread promise: the owner's lock. Invariants: (1) the order is kept; (2) each
// signed message has the next place of its stream; (3) an order that expires travels only with
// such, and the earliest expiry holds for all of them.

#include <cstdint>
#include <deque>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "daemon/agents/order_signer.h"
#include "daemon/controller/controller.h"
#include "proto/agent.pb.h"

namespace muster::daemon {

wire::ControllerMessage ToMessage(const Order& order);

// The stream that an order is for, and when that is said.
struct OrderStream {
  const std::string& node;
  const std::string& challenge;
  Time now;
};
// For that node and that stream alone, without a place in it yet.
wire::OrderBody BodyOf(wire::ControllerMessage order, const OrderStream& stream, Time expiry);

// Until when an order is good; kNoTime: it is for ever.
Time ExpiryOf(const Order& order);

class OutgoingQueue {
 public:
  // Whether the agent knows several orders or acknowledgements in one message.
  void TakeMany(bool many) { many_ = many; }

  void Push(wire::ControllerMessage message) { waiting_.emplace_back(std::move(message)); }
  void PushAck(const Acknowledge& done);
  // Without a place in the stream, which it gets when it leaves.
  void PushOrder(wire::OrderBody body) { waiting_.emplace_back(std::move(body)); }

  [[nodiscard]] bool empty() const { return waiting_.empty(); }
  [[nodiscard]] std::size_t size() const { return waiting_.size(); }
  void Clear() { waiting_.clear(); }

  // Takes the next message out; it stays where it is until the next call. REQUIRES: not empty.
  absl::StatusOr<const wire::ControllerMessage*> Next(const OrderSigner& signer);

 private:
  // The body at the front with those that can travel with it.
  wire::OrderBody TakeOrders();

  std::deque<std::variant<wire::ControllerMessage, wire::OrderBody>> waiting_;
  wire::ControllerMessage current_;
  std::uint64_t sequence_ = 0;  // of the last signed message
  bool many_ = false;
};

}  // namespace muster::daemon
