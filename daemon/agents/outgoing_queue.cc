#include "daemon/agents/outgoing_queue.h"

#include <algorithm>
#include <utility>

#include "proto/convert/node.h"
#include "proto/convert/order.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kGroupBytesMax = std::size_t{1} << 20;
constexpr int kGroupMax = 256;

wire::ReportAck AckOf(const Acknowledge& done) {
  wire::ReportAck ack;
  ack.set_job(done.job.value());
  ack.set_attempt(done.attempt.value());
  ack.set_index(done.index);
  return ack;
}

bool IsOfOneAttempt(const wire::ReportAck& one, const wire::ReportAck& other) {
  return one.job() == other.job() && one.attempt() == other.attempt();
}

}  // namespace

wire::ControllerMessage ToMessage(const Order& order) {
  wire::ControllerMessage message;
  std::visit(
      [&](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, LaunchOrder>) {
          ToWire(held, message.mutable_launch());
        } else if constexpr (std::is_same_v<Held, StepOrder>) {
          ToWire(held, message.mutable_step());
        } else if constexpr (std::is_same_v<Held, TerminateOrder>) {
          ToWire(held, message.mutable_terminate());
        } else if constexpr (std::is_same_v<Held, SuspendOrder>) {
          ToWire(held, message.mutable_suspend());
        } else if constexpr (std::is_same_v<Held, HealthOrder>) {
          ToWire(held, message.mutable_health());
        } else if constexpr (std::is_same_v<Held, LayoutOrder>) {
          ToWire(held, message.mutable_layout());
        } else if constexpr (std::is_same_v<Held, SignalOrder>) {
          ToWire(held, message.mutable_signal());
        } else if constexpr (std::is_same_v<Held, AttachOrder>) {
          ToWire(held, message.mutable_attach());
        } else if constexpr (std::is_same_v<Held, AdviceOrder>) {
          ToWire(held, message.mutable_advice());
        } else {
          *message.mutable_ack() = AckOf(held);
        }
      },
      order);
  return message;
}

wire::OrderBody BodyOf(wire::ControllerMessage order, const OrderStream& stream, Time expiry) {
  wire::OrderBody body;
  *body.mutable_order() = std::move(order);
  body.set_node(stream.node);
  body.set_challenge(stream.challenge);
  body.set_not_before(stream.now.time_since_epoch().count());
  body.set_expiry(expiry.time_since_epoch().count());
  return body;
}

// Until when an order is good; kNoTime: it is for ever.
Time ExpiryOf(const Order& order) {
  return std::visit(
      [](const auto& held) {
        if constexpr (requires { held.expiry; }) {
          return held.expiry;
        } else {
          return kNoTime;
        }
      },
      order);
}

void OutgoingQueue::PushAck(const Acknowledge& done) {
  const wire::ReportAck ack = AckOf(done);
  auto* last = waiting_.empty() ? nullptr : std::get_if<wire::ControllerMessage>(&waiting_.back());
  if (many_ && last != nullptr && last->has_acks()) {
    auto& acks = *last->mutable_acks()->mutable_acks();
    wire::ReportAck& before = *acks.rbegin();
    if (IsOfOneAttempt(before, ack)) {
      before.set_index(std::max(before.index(), ack.index()));
      return;
    }
    if (acks.size() < kGroupMax) {
      *acks.Add() = ack;
      return;
    }
  }
  wire::ControllerMessage message;
  *(many_ ? message.mutable_acks()->add_acks() : message.mutable_ack()) = ack;
  Push(std::move(message));
}

wire::OrderBody OutgoingQueue::TakeOrders() {
  wire::OrderBody body = std::move(std::get<wire::OrderBody>(waiting_.front()));
  waiting_.pop_front();
  std::size_t bytes = body.ByteSizeLong();
  while (many_ && !waiting_.empty() && body.more_size() + 1 < kGroupMax) {
    auto* next = std::get_if<wire::OrderBody>(&waiting_.front());
    if (next == nullptr || (next->expiry() == 0) != (body.expiry() == 0)) {
      break;
    }
    bytes += next->ByteSizeLong();
    if (bytes > kGroupBytesMax) {
      break;
    }
    body.set_not_before(std::max(body.not_before(), next->not_before()));
    body.set_expiry(std::min(body.expiry(), next->expiry()));
    *body.add_more() = std::move(*next->mutable_order());
    waiting_.pop_front();
  }
  return body;
}

absl::StatusOr<const wire::ControllerMessage*> OutgoingQueue::Next(const OrderSigner& signer) {
  if (auto* message = std::get_if<wire::ControllerMessage>(&waiting_.front())) {
    current_ = std::move(*message);
    waiting_.pop_front();
    return &current_;
  }
  wire::OrderBody body = TakeOrders();
  body.set_sequence(++sequence_);
  current_.Clear();
  ASSIGN_OR_RETURN(*current_.mutable_signed_(), signer.Sign(body));
  return &current_;
}

}  // namespace muster::daemon
