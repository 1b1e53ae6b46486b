#include "daemon/agents/agent_sessions.h"

#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <atomic>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/access/rpc.h"
#include "daemon/agents/agent_claims.h"
#include "daemon/agents/outgoing_queue.h"
#include "proto/convert/job.h"
#include "proto/convert/node.h"
#include "proto/convert/order_purpose.h"
#include "scheduler/model/job/order_limits.h"

namespace muster::daemon {
namespace {

constexpr std::size_t kQueueMax = 65536;
constexpr auto kNoAnswer = [](const core::Transition&, const absl::Status&) {};
constexpr const char* kAttach = "/muster.wire.AgentLink/Attach";

}  // namespace

// One agent's stream. It keeps itself alive until gRPC is done with it.
class AgentSession final
    : public grpc::ServerBidiReactor<wire::AgentMessage, wire::ControllerMessage>,
      public std::enable_shared_from_this<AgentSession> {
 public:
  AgentSession(Controller& controller, AgentSessions& sessions,
               const AgentService::Setting& setting)
      : controller_(controller), sessions_(sessions), setting_(setting) {}

  // `context` lives until OnDone.
  void Begin(Caller caller, grpc::CallbackServerContext* context) {
    self_ = shared_from_this();
    caller_ = std::move(caller);
    {
      const MutexLock lock(&mutex_);
      context_ = context;
    }
    heard_ = std::chrono::steady_clock::now();
    StartRead(&incoming_);
  }

  // Ends a stream that the access rules refuse.
  void Refuse(const absl::Status& status) {
    self_ = shared_from_this();
    Finish(ToGrpc(status));
  }

  void Send(wire::ControllerMessage message) {
    const MutexLock lock(&mutex_);
    if (MayQueue()) {
      outgoing_.Push(std::move(message));
      WriteNext();
    }
  }

  void Acknowledge(const muster::Acknowledge& done) {
    const MutexLock lock(&mutex_);
    if (MayQueue()) {
      outgoing_.PushAck(done);
      WriteNext();
    }
  }

  // Sends an order, or a question, for this node and this stream alone. False: it does not go out.
  bool SendSigned(wire::ControllerMessage message, Time expiry, const Order* order) {
    if (!CheckStillGood()) {
      return false;
    }
    if (message.has_question()) {
      message.mutable_question()->set_node(node_.load());
      message.mutable_question()->set_epoch(controller_.epoch().value());
      expiry = setting_.clock.Now() + kOrderLife;
    }
    wire::OrderBody body =
        BodyOf(std::move(message),
               {registration_.registration.name, challenge_, setting_.clock.Now()}, expiry);
    if (const std::size_t bytes = body.ByteSizeLong(); bytes > kOrderBytesMax) {
      if (order != nullptr) {
        GiveUp(*order, bytes);
      }
      return false;
    }
    const MutexLock lock(&mutex_);
    const bool may = MayQueue();
    if (may) {
      outgoing_.PushOrder(std::move(body));
      WriteNext();
    }
    return may;
  }

  // False when nothing more goes out: the stream ends, or ends now because nobody reads it.
  bool MayQueue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!closing_ && outgoing_.size() >= kQueueMax) {
      sessions_.log().Warning("agents", "an agent does not read its orders; its stream is ended");
      CloseLocked();
    }
    return !closing_;
  }

  // Once what is queued is written.
  void Close() {
    const MutexLock lock(&mutex_);
    CloseLocked();
  }

  // A certificate that was revoked ends the stream for which it was shown, at once: whoever holds
  // it may read and answer nothing.
  bool CheckStillGood() {
    const absl::Status good = setting_.gate.StillGood(caller_);
    if (good.ok()) {
      return true;
    }
    const MutexLock lock(&mutex_);
    if (grpc::CallbackServerContext* const context = std::exchange(context_, nullptr)) {
      setting_.gate.Note(caller_, kAttach, good);
      closing_ = true;
      context->TryCancel();
    }
    return false;
  }

  // Hands over who uses GPUs, where that had to wait.
  void HandOverOccupants() {
    if (std::optional<TakeGpuOccupants> due = intake_.occupants.Due(setting_.clock.SteadyNow())) {
      controller_.Take(*std::move(due), kNoAnswer);
    }
  }

  [[nodiscard]] Duration Silent() const {
    return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - heard_.load());
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      return Break();
    }
    if (!CheckStillGood()) {
      return;  // nothing more is read from it
    }
    heard_ = std::chrono::steady_clock::now();
    if (incoming_.has_registration()) {
      Register(incoming_);
    } else if (incoming_.has_heartbeat()) {
      AnswerHeartbeat(incoming_.heartbeat());
    } else if (incoming_.has_report()) {
      TakeReport(incoming_.report());
    } else if (incoming_.has_reports()) {
      for (const wire::Report& report : incoming_.reports().reports()) {
        TakeReport(report);
      }
    } else if (incoming_.has_health()) {
      TakeHealth(incoming_.health());
    } else if (incoming_.has_fault()) {
      TakeFault(incoming_.fault());
    } else if (incoming_.has_usage()) {
      TakeUsage(incoming_.usage());
    } else if (incoming_.has_answer() && node_.load() != 0) {
      sessions_.questions().Take(NodeId(node_.load()), incoming_.answer());
    } else if (incoming_.has_wanted() && node_.load() != 0) {
      setting_.images->WantForAttempt(NodeId(node_.load()), incoming_.wanted());
    }
    ReadOn();
  }

  void OnWriteDone(bool ok) override {
    const MutexLock lock(&mutex_);
    writing_ = false;
    if (!ok) {
      outgoing_.Clear();
      BreakLocked();
      return;
    }
    WriteNext();
  }

  void OnCancel() override { Break(); }

  void OnDone() override {
    {
      const MutexLock lock(&mutex_);
      context_ = nullptr;
    }
    const NodeId node(node_.load());
    if (node.valid() && sessions_.Remove(node, this, broken_)) {
      setting_.usage.Forget(node);
      sessions_.questions().Lose(node);
      controller_.Take(LoseAgent{node, Silent()}, kNoAnswer);
    }
    self_.reset();
  }

 private:
  // One that says more than an agent has to say is read no faster than it may.
  void ReadOn() {
    const Duration wait = intake_.pace.Take(incoming_.reports().reports_size(),
                                            incoming_.ByteSizeLong(), setting_.clock.SteadyNow());
    incoming_.Clear();
    if (wait <= Duration(0)) {
      return StartRead(&incoming_);
    }
    intake_.next_read = std::make_unique<grpc::Alarm>();  // the last one's call may not be over
    intake_.next_read->Set(
        std::chrono::system_clock::now() + wait, [weak = weak_from_this()](bool) {
          if (const std::shared_ptr<AgentSession> session = weak.lock()) {
            const MutexLock lock(&session->mutex_);
            if (!session->finished_) {  // then gRPC may be done with it at any moment
              session->StartRead(&session->incoming_);
            }
          }
        });
  }

  void WriteNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (writing_ || finished_) {
      return;
    }
    if (!outgoing_.empty()) {
      const absl::StatusOr<const wire::ControllerMessage*> next = outgoing_.Next(setting_.signer);
      if (next.ok()) {
        writing_ = true;
        StartWrite(*next);
        return;
      }
      sessions_.log().Error("agents", std::string(next.status().message()));
      outgoing_.Clear();
      closing_ = true;
    }
    if (closing_) {
      finished_ = true;
      Finish(grpc::Status::OK);
    }
  }

  void CloseLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    closing_ = true;
    WriteNext();
  }

  // The stream ended without the controller's doing.
  void Break() {
    const MutexLock lock(&mutex_);
    BreakLocked();
  }

  void BreakLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    broken_ = broken_ || !closing_;
    CloseLocked();
  }

  // An order that is larger than the agent takes would end its stream. Validation leaves none such;
  // a journal of an older version may.
  void GiveUp(const Order& order, std::size_t bytes) {
    const std::string why =
        absl::StrCat("its order is ", bytes, " bytes long; an agent takes ", kOrderBytesMax);
    std::visit(
        [&](const auto& held) {
          if constexpr (requires { held.program; }) {
            sessions_.log().Warning("agents", absl::StrCat("job ", held.job.value(), ": ", why));
            controller_.Take(FailLaunch{held.job, held.attempt, why}, kNoAnswer);
          } else {
            sessions_.log().Warning("agents", absl::StrCat("not sent: ", why));
          }
        },
        order);
  }

  void SayRefusal(const std::string& text, bool permanent) {
    wire::ControllerMessage message;
    message.mutable_refusal()->set_text(text);
    message.mutable_refusal()->set_permanent(permanent);
    Send(std::move(message));
    Close();
  }

  // An agent whose node is taken for lost gets no answer.
  void AnswerHeartbeat(const wire::Heartbeat& heartbeat) {
    if (heartbeat.number() > 0 && node_.load() != 0) {
      wire::ControllerMessage message;
      message.mutable_heard()->set_number(heartbeat.number());
      Send(std::move(message));
    }
  }

  void Register(const wire::AgentMessage& message) {
    if (node_.load() != 0 || !challenge_.empty()) {
      SayRefusal("the agent registered twice on one stream", true);
      return;
    }
    RegisterAgent input;
    absl::Status claims = CheckClaims(caller_, message);
    setting_.gate.Note(caller_, kAttach, claims);
    claims.Update(FromWire(message.registration(), &input.registration));
    if (!claims.ok()) {
      SayRefusal(std::string(claims.message()), true);
      return;
    }
    const std::string name = input.registration.name;
    const std::string trouble =
        ClockTrouble(name, Time(Duration(message.time())), setting_.clock.Now());
    if (!trouble.empty()) {
      sessions_.log().Warning("agents", trouble);
      SayRefusal(trouble, false);
      return;
    }
    challenge_ = message.challenge();
    {
      const MutexLock lock(&mutex_);
      outgoing_.TakeMany(message.takes_many());
    }
    registration_ = input;
    controller_.Take(std::move(input),
                     [session = shared_from_this(), name](const core::Transition& transition,
                                                          const absl::Status& status) {
                       session->Registered(name, transition, status);
                     });
  }

  void Registered(const std::string& name, const core::Transition& transition,
                  const absl::Status& status) {
    if (!status.ok()) {
      if (controller_.leads()) {  // agents ask a standby now and then
        sessions_.log().Warning("agents", absl::StrCat(name, ": ", std::string(status.message())));
      }
      SayRefusal(std::string(status.message()), absl::IsFailedPrecondition(status));
      return;
    }
    node_ = transition.node.value();
    wire::ControllerMessage message;
    message.mutable_welcome()->set_node(transition.node.value());
    message.mutable_welcome()->set_epoch(controller_.epoch().value());
    message.mutable_welcome()->set_cluster(setting_.cluster);
    setting_.signer.Introduce(message.mutable_welcome());
    message.mutable_welcome()->set_takes_many(true);
    message.mutable_welcome()->set_shares_images(true);
    message.mutable_welcome()->set_heartbeat(AgentSessions::kHeartbeat.count());
    Send(std::move(message));
    if (std::optional<FailLaunch> failed =
            sessions_.Back(transition.node, registration_.registration.attempts)) {
      sessions_.log().Warning(
          "agents", absl::StrCat("node ", name, ": job ", failed->job.value(), ": ", failed->text));
      controller_.Take(*std::move(failed), kNoAnswer);
    }
    sessions_.Admit(transition.node, shared_from_this());
    sessions_.log().Info("agents", absl::StrCat("node ", name, " registered"));
    MakeSureItIsConnected(transition.node);
  }

  // The end of the agent's last stream may be judged between this registration and the session's
  // admission: the node then counts as lost although it is here, and registers once more.
  void MakeSureItIsConnected(NodeId node) {
    controller_.Look(
        [session = shared_from_this(), node](const StateView& snapshot) -> Controller::Reply {
          const Node* known = snapshot.state().FindNode(node);
          const bool lost = known != nullptr && !known->connected;
          return [session, lost](const absl::Status& status) {
            if (status.ok() && lost) {
              session->controller_.Take(session->registration_, kNoAnswer);
            }
          };
        });
  }

  void TakeReport(const wire::Report& message) {
    muster::TakeReport input;
    input.node = NodeId(node_.load());
    if (!input.node.valid()) {
      SayRefusal("a report came before the registration", true);
      return;
    }
    if (const absl::Status status = FromWire(message, &input.report); !status.ok()) {
      SayRefusal(std::string(status.message()), true);
      return;
    }
    CutTexts(input.report);
    controller_.Take(std::move(input), [session = shared_from_this()](const core::Transition&,
                                                                      const absl::Status& status) {
      if (!status.ok()) {
        session->sessions_.log().Warning("agents", std::string(status.message()));
        session->Close();
      }
    });
  }

  void TakeFault(const wire::NodeFault& message) {
    const NodeId id(node_.load());
    if (id.valid() && !message.text().empty()) {
      const std::string reason = FaultReason(message);
      sessions_.log().Warning("agents",
                              absl::StrCat("node ", registration_.registration.name, ": ", reason));
      controller_.Take(TakeNodeFault{id, reason}, kNoAnswer);
    }
  }

  // What attempts have used so far is no input: nothing follows from it. Who uses GPUs is one.
  void TakeUsage(const wire::UsageSamples& message) {
    const NodeId node(node_.load());
    absl::StatusOr<std::vector<UsageSample>> samples = ReadSamples(message);
    if (!node.valid() || !samples.ok()) {
      SayRefusal(samples.ok() ? "usage came before the registration"
                              : std::string(samples.status().message()),
                 true);
      return;
    }
    controller_.Look([session = shared_from_this(), node, samples = *std::move(samples),
                      gpus = ReadGpuSamples(message), users = ReadGpuOccupants(node, message)](
                         const StateView& snapshot) -> Controller::Reply {
      session->setting_.usage.Take(node, samples, snapshot.state());
      session->setting_.usage.TakeGpus(node, gpus, snapshot.now());
      session->setting_.usage.LookForStragglers(node, snapshot.state(), snapshot.now());
      return [session, users, news = NewsOf(users, snapshot.state())](const absl::Status&) {
        if (users.has_value()) {
          session->intake_.occupants.Say(news);
          session->HandOverOccupants();
        }
      };
    });
  }

  void TakeHealth(const wire::HealthReport& message) {
    TakeHealthReport input;
    input.node = NodeId(node_.load());
    absl::Status status = FromWire(message, &input.report);
    if (!input.node.valid() || !status.ok()) {
      SayRefusal(status.ok() ? "a health report came before the registration"
                             : std::string(status.message()),
                 true);
      return;
    }
    controller_.Take(std::move(input), [session = shared_from_this()](const core::Transition&,
                                                                      const absl::Status& taken) {
      if (!taken.ok()) {
        session->sessions_.log().Warning("agents", std::string(taken.message()));
      }
    });
  }

  Controller& controller_;
  AgentSessions& sessions_;
  const AgentService::Setting& setting_;
  Caller caller_;
  std::shared_ptr<AgentSession> self_;
  RegisterAgent registration_;
  std::string challenge_;  // the agent's, of its registration
  std::atomic<std::uint32_t> node_ = 0;
  std::atomic<std::chrono::steady_clock::time_point> heard_;
  wire::AgentMessage incoming_;
  AgentIntake intake_;
  Mutex mutex_;
  OutgoingQueue outgoing_ ABSL_GUARDED_BY(mutex_);
  grpc::CallbackServerContext* context_ ABSL_GUARDED_BY(mutex_) = nullptr;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::atomic<bool> broken_ = false;
};

void AgentSessions::Send(NodeId node, const Order& order) {
  if (const std::shared_ptr<AgentSession> session = Find(node)) {
    const auto* launch = std::get_if<LaunchOrder>(&order);
    if (launch != nullptr && !MayGo(node, *launch)) {
      return;
    }
    // An acknowledgement starts and ends nothing.
    if (const auto* done = std::get_if<Acknowledge>(&order)) {
      session->Acknowledge(*done);
    } else {
      session->SendSigned(ToMessage(order), ExpiryOf(order), &order);
    }
  }
}

bool AgentSessions::SendQuestion(NodeId node, const wire::NodeQuestion& question) {
  const std::shared_ptr<AgentSession> session = Find(node);
  wire::ControllerMessage message;
  *message.mutable_question() = question;
  return session != nullptr && session->SendSigned(std::move(message), kNoTime, nullptr);
}

void AgentSessions::CloseAll() {
  std::vector<std::shared_ptr<AgentSession>> all;
  {
    const MutexLock lock(&mutex_);
    deliveries_ = DeliveryWatch();
    for (const auto& [node, session] : sessions_) {
      all.push_back(session);
    }
  }
  for (const std::shared_ptr<AgentSession>& session : all) {
    session->Close();
  }
}

std::vector<LoseAgent> AgentSessions::TakeExpired() {
  std::vector<LoseAgent> expired;
  std::vector<std::shared_ptr<AgentSession>> ended;
  std::vector<std::shared_ptr<AgentSession>> all;
  questions_.Expire(std::chrono::steady_clock::now());
  {
    const MutexLock lock(&mutex_);
    for (auto it = sessions_.begin(); it != sessions_.end();) {
      if (const Duration silent = it->second->Silent(); silent > kAgentLease) {
        expired.push_back(LoseAgent{it->first, silent});
        ended.push_back(std::move(it->second));
        it = sessions_.erase(it);
      } else {
        all.push_back(it->second);
        ++it;
      }
    }
  }
  for (const std::shared_ptr<AgentSession>& session : ended) {
    session->Close();
  }
  for (const std::shared_ptr<AgentSession>& session : all) {
    if (session->CheckStillGood()) {
      session->HandOverOccupants();
    }
  }
  return expired;
}

void AgentSessions::Admit(NodeId node, std::shared_ptr<AgentSession> session) {
  std::shared_ptr<AgentSession> old;
  {
    const MutexLock lock(&mutex_);
    old = std::exchange(sessions_[node], std::move(session));
  }
  if (old != nullptr) {
    old->Close();
  }
}

// Notes that it goes out, if it may.
bool AgentSessions::MayGo(NodeId node, const LaunchOrder& order) {
  const DeliveryWatch::Launched launched(order.job, order.attempt);
  const MutexLock lock(&mutex_);
  if (!deliveries_.MayGo(node, launched)) {
    return false;
  }
  deliveries_.Sent(node, launched, std::chrono::steady_clock::now());
  return true;
}

std::optional<FailLaunch> AgentSessions::Back(NodeId node, const std::vector<KnownAttempt>& known) {
  const MutexLock lock(&mutex_);
  if (sessions_.contains(node)) {  // its end is not seen here yet
    deliveries_.Broke(node, std::chrono::steady_clock::now());
  }
  const std::optional<DeliveryWatch::Launched> failed = deliveries_.Back(node, known);
  if (!failed.has_value()) {
    return std::nullopt;
  }
  return FailLaunch{failed->first, failed->second,
                    absl::StrCat("its order broke the link to the node ", DeliveryWatch::kBreaksMax,
                                 " times; it is not sent again")};
}

bool AgentSessions::Remove(NodeId node, const AgentSession* session, bool broken) {
  const MutexLock lock(&mutex_);
  const auto found = sessions_.find(node);
  if (found == sessions_.end() || found->second.get() != session) {
    return false;
  }
  if (broken) {
    deliveries_.Broke(node, std::chrono::steady_clock::now());
  }
  sessions_.erase(found);
  return true;
}

std::shared_ptr<AgentSession> AgentSessions::Find(NodeId node) const {
  const MutexLock lock(&mutex_);
  const auto found = sessions_.find(node);
  return found == sessions_.end() ? nullptr : found->second;
}

grpc::ServerBidiReactor<wire::AgentMessage, wire::ControllerMessage>* AgentService::Attach(
    grpc::CallbackServerContext* context) {
  auto session = std::make_shared<AgentSession>(controller_, sessions_, setting_);
  const absl::StatusOr<Caller> caller = setting_.gate.Admit(*context, kAttach);
  if (caller.ok()) {
    session->Begin(*caller, context);
  } else {
    session->Refuse(caller.status());
  }
  return session.get();
}

}  // namespace muster::daemon
