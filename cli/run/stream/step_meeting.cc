#include "cli/run/stream/step_meeting.h"

#include <algorithm>
#include <utility>

namespace muster::cli {
namespace {

bool IsBad(const wire::StepRankExit& exit) {
  return (exit.code() != 0 || exit.signal() != 0 || !exit.text().empty()) && !exit.with_others();
}

wire::StepFrame FrameOf(const wire::StepBroken& failure) {
  wire::StepFrame frame;
  *frame.mutable_broken() = failure;
  return frame;
}

}  // namespace

void StepMeeting::Joined(ConnectionId connection, std::size_t component,
                         const wire::StepHello& hello) {
  nodes_[connection] = Node{component, hello.node()};
  wire::StepPeer peer;
  peer.set_node_index(hello.node_index());
  peer.set_node(hello.node());
  *peer.mutable_exchange() = hello.exchange();
  Component& whole = components_[component];
  whole.peers.push_back(std::move(peer));
  if (whole.broken) {
    replies_.push_back(StepReply{connection, FrameOf(*whole.failure)});
  }
}

void StepMeeting::Left(ConnectionId connection, bool early) {
  const auto node = nodes_.find(connection);
  if (node == nodes_.end()) {
    return;
  }
  Component& component = components_[node->second.component];
  if (early && component.asked) {
    wire::StepBroken lost;
    lost.set_node(node->second.name);
    Fail(component, std::move(lost));
  }
  nodes_.erase(node);
}

std::optional<wire::StepBroken> StepMeeting::Asked(ConnectionId connection) {
  Component& component = components_[nodes_.at(connection).component];
  const bool first = !std::exchange(component.asked, true);
  if (!first || !component.unjoined.has_value()) {
    return std::nullopt;
  }
  Fail(component, *component.unjoined);
  return component.unjoined;
}

bool StepMeeting::Ended(ConnectionId connection, const wire::StepRankExit& exit) {
  const Node& node = nodes_.at(connection);
  Component& component = components_[node.component];
  wire::StepBroken ended;
  ended.set_node(node.name);
  *ended.mutable_exit() = exit;
  if (exit.unjoined() && !component.unjoined.has_value()) {
    component.unjoined = ended;
  }
  const bool fails = exit.fatal() || exit.aborted() || (exit.unjoined() && component.asked);
  if (fails) {
    Fail(component, ended);
  }
  if (end_on_bad_exit_ && IsBad(exit)) {
    for (auto& [number, each] : components_) {
      Fail(each, ended);
    }
  }
  return fails;
}

void StepMeeting::Fail(Component& component, wire::StepBroken failure) {
  if (!component.failure.has_value()) {
    component.failure = std::move(failure);
  }
}

std::vector<StepReply> StepMeeting::Take(bool all_here) {
  for (auto& [number, component] : components_) {
    if (component.asked && all_here && !std::exchange(component.introduced, true)) {
      std::sort(component.peers.begin(), component.peers.end(),
                [](const wire::StepPeer& a, const wire::StepPeer& b) {
                  return a.node_index() < b.node_index();
                });
      wire::StepFrame frame;
      for (const wire::StepPeer& peer : component.peers) {
        *frame.mutable_peers()->add_peers() = peer;
      }
      if (component.peers.size() > 1) {
        TellAll(number, frame);
      }
    }
    if (component.failure.has_value() && !std::exchange(component.broken, true)) {
      TellAll(number, FrameOf(*component.failure));
    }
  }
  return std::exchange(replies_, {});
}

void StepMeeting::TellAll(std::size_t component, const wire::StepFrame& frame) {
  for (const auto& [connection, node] : nodes_) {
    if (node.component == component) {
      replies_.push_back(StepReply{connection, frame});
    }
  }
}

}  // namespace muster::cli
