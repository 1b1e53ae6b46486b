#pragma once

// The agents' streams: which agent is connected as which node, and the way to send it an order.
//
// Thread promise: Send, CloseAll and TakeExpired from any thread; gRPC's threads only parse, hand
// over and return. Invariants: (1) at most one session speaks for a node: a new one of the same
// agent takes the old one's place, whose end then means nothing; (2) an order for a node without a
// session is dropped (it is made again at registration); (3) a session whose queue passes its limit
// is ended; (4) a session whose caller is an agent speaks for the node of its certificate; (5)
// every order is signed for one stream and its place in it; (6) an order that no agent would take,
// or that broke its stream again and again, is not sent: its attempt ends.

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/access/gate.h"
#include "daemon/agents/delivery_watch.h"
#include "daemon/agents/image_shares.h"
#include "daemon/agents/live_usage.h"
#include "daemon/agents/node_questions.h"
#include "daemon/agents/order_signer.h"
#include "daemon/controller/controller.h"
#include "proto/agent.grpc.pb.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class AgentSession;

class AgentSessions : public AgentGateway {
 public:
  explicit AgentSessions(const Logger& log) : log_(log) {}
  void Send(NodeId node, const Order& order) override;
  void CloseAll() override;
  std::vector<LoseAgent> TakeExpired() override;

  // The session speaks for the node from now on.
  void Admit(NodeId node, std::shared_ptr<AgentSession> session);
  // True when the session still spoke for the node: the node is lost with it. `broken`: the stream
  // did not end by the controller's will.
  bool Remove(NodeId node, const AgentSession* session, bool broken);
  // The node's agent is back with those attempts: the launch that is given up, if one is.
  std::optional<FailLaunch> Back(NodeId node, const std::vector<KnownAttempt>& known);
  [[nodiscard]] const Logger& log() const { return log_; }
  // What is asked of the agents that are connected.
  [[nodiscard]] NodeQuestions& questions() { return questions_; }

  static constexpr Duration kHeartbeat = std::chrono::seconds(5);
  static_assert(3 * kHeartbeat < kAgentLease);

 private:
  [[nodiscard]] std::shared_ptr<AgentSession> Find(NodeId node) const;
  bool MayGo(NodeId node, const LaunchOrder& order);
  bool SendQuestion(NodeId node, const wire::NodeQuestion& question);
  const Logger& log_;
  NodeQuestions questions_{[this](NodeId node, const wire::NodeQuestion& question) {
    return SendQuestion(node, question);
  }};
  mutable Mutex mutex_;
  std::map<NodeId, std::shared_ptr<AgentSession>> sessions_ ABSL_GUARDED_BY(mutex_);
  DeliveryWatch deliveries_ ABSL_GUARDED_BY(mutex_);
};

// The gRPC service over them.
class AgentService final : public wire::AgentLink::CallbackService {
 public:
  // What every stream needs; the references outlive the service.
  struct Setting {
    std::string cluster;
    const Clock& clock;
    const Gate& gate;
    OrderSigner& signer;
    LiveUsage& usage;
    ImageShares* images = nullptr;  // the service's own
  };
  AgentService(Controller& controller, AgentSessions& sessions, const Setting& setting)
      : controller_(controller),
        sessions_(sessions),
        images_(controller, sessions.questions(), sessions.log()),
        setting_{setting.cluster, setting.clock, setting.gate,
                 setting.signer,  setting.usage, &images_} {}
  grpc::ServerBidiReactor<wire::AgentMessage, wire::ControllerMessage>* Attach(
      grpc::CallbackServerContext* context) override;
  // Who gives an image that a node wants.
  [[nodiscard]] ImageShares& images() { return images_; }

 private:
  Controller& controller_;
  AgentSessions& sessions_;
  ImageShares images_;
  const Setting setting_;
};

}  // namespace muster::daemon
