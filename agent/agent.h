#pragma once

// The agent: brings about on this node what the controller orders, and reports what happened.
//
// Desired state comes down the link, facts go up; what is under way belongs to supervisors and goes
// on without us. Thread promise: everything happens on the loop's thread. Invariants: (1) an order
// that the controller did not sign for this node and stream, of an older epoch or past its time
// changes nothing; (2) an order taken twice has one effect; (3) an attempt's directory goes only
// when the controller has acknowledged its end.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/attempts/attempts.h"
#include "agent/attempts/notification_socket.h"
#include "agent/attempts/place/state_directory.h"
#include "agent/link/controller_link.h"
#include "agent/link/order_check.h"
#include "agent/link/outbox.h"
#include "agent/node/health_check.h"
#include "agent/node/sample_timer.h"
#include "agent/node_samples.h"
#include "agent/questions/question_desk.h"
#include "agent/supervisor/attempt/container_order.h"
#include "scheduler/model/job/order.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class Agent final : public ControllerLink::Owner {
 public:
  struct Config {
    std::string name;
    std::string hostname;
    std::string module_dir;
    Machine machine;  // what this node is, or plays
    std::vector<std::string> features;
    std::vector<std::string> discovered;  // further features, which no reload changes
    std::uint32_t weight = 0;
    LayoutReport layout;  // what became of the last order to divide a GPU
    std::function<void(const std::string& status)> ready;  // called at each Welcome
    ControllerLink::Config link;
    Attempts::Config attempts;
    CopiesAhead ahead = CopiesAhead::kNone;
    HealthCheck::Config health;
    JobUsers users;
    std::chrono::milliseconds check_every{2000};  // for notifications that were lost
    UsageSampler::Sources sources;                // outlive the agent
    std::chrono::milliseconds sample_every{10000};
  };

  // All references outlive the agent.
  Agent(EventLoop& loop, const Clock& clock, const Logger& log, StateDirectory& state,
        Config config);
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent() override;

  // Takes up the attempts on record, opens the notification socket and begins to connect. The rest
  // happens in the loop, until it is stopped.
  absl::Status Start();

  // Other words about this node from now on, also at the controller, and other scripts for attempts
  // that come.
  void Reconfigure(std::vector<std::string> features, std::uint32_t weight, SiteScripts scripts);

  // A GPU is to be divided, which others that use the GPU's library forbid: whoever runs the agent
  // does that once the agent is gone, and begins again.
  struct Division {
    LayoutOrder order;
    std::string refused;  // why it cannot be; empty: it is to be tried
  };
  // Why the agent stopped the loop itself; OK and nothing when it did not.
  struct Outcome {
    absl::Status status;
    std::optional<Division> division;
  };
  const Outcome& outcome() const { return outcome_; }

  absl::StatusOr<wire::AgentMessage> Introduce() override;
  absl::Status Welcomed(const wire::Welcome& welcome, const std::string& certificate) override;
  void Received(const wire::ControllerMessage& message) override;
  void HeardAt(SteadyTime said) override;
  void Writable() override;
  void Failed(const absl::Status& why) override;

 private:
  // Where an order is for, in words of all three kinds.
  struct Address {
    const std::string* cluster;  // null: the order names none
    NodeId node;
    Epoch epoch;
    Time expiry;
  };
  absl::Status Execute(const wire::ControllerMessage& message);
  void TakeSigned(const wire::SignedOrder& order);
  absl::Status Admit(const Address& order);
  absl::Status Launch(const wire::LaunchOrder& message);
  // Admits an order and passes it to the attempt's supervisor.
  absl::Status Pass(const PassedOrder& order);
  absl::Status CheckHealth(const wire::HealthOrder& message);
  void TellHealth();
  void Acknowledged(const wire::ReportAck& ack);
  void News(const AttemptKey& key);
  // The end of an attempt with what its ranks had of GPUs.
  bool SendReport(const Report& written);
  // Sends the reports that have gathered in this round of the loop.
  void SendGathered();
  void Check();
  void Sample();
  // Tells the controller what attempts have used so far; what is lost is made good by the next.
  void TellUsage();
  // Tells the controller of GPUs that broke; of none: again what it may not have heard.
  void TellFaults(const std::vector<GpuFault>& gpus);

  EventLoop& loop_;
  const Clock& clock_;
  const Logger& log_;
  StateDirectory& state_;
  Config config_;
  Outcome outcome_;
  NodeId node_;  // from the last Welcome, like the cluster
  std::string cluster_;
  OrderCheck check_;
  // What the controller can do.
  struct {
    bool takes_many = false;     // several reports in one message
    bool shares_images = false;  // says who gives an image that is wanted here
  } controller_;
  wire::AgentMessage gathered_;  // reports for it
  std::size_t gathered_bytes_ = 0;
  Outbox outbox_;
  Attempts attempts_;
  QuestionDesk desk_;
  NodeSamples samples_;
  SampleTimer sample_timer_;
  SteadyTime lease_until_ = SteadyTime::min();  // up to when parts of elastic jobs may run
  std::string fault_;                           // what is wrong with the node; empty: nothing
  HealthCheck health_;
  bool health_untold_ = false;  // since the link last took it
  // Attempts whose end was acknowledged: an order for one that still arrives is refused. The oldest
  // are forgotten; by then their orders have expired.
  struct {
    std::set<AttemptKey> keys;
    std::deque<AttemptKey> order;
  } finished_;
  std::unique_ptr<NotificationSocket> notifications_;
  EventLoop::TimerId check_timer_{};
  ControllerLink link_;  // last: it is destroyed first, and calls nothing after that
};

}  // namespace muster::agent
