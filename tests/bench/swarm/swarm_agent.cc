#include "tests/bench/swarm/swarm_agent.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <random>

#include "absl/strings/str_cat.h"
#include "tests/bench/swarm/swarm_channel.h"

namespace muster::swarm {
namespace {

using std::chrono::milliseconds;

constexpr int kChallengeBytes = 32;
constexpr int kBackoffLeastMs = 200;
constexpr int kBackoffMostMs = 1500;

std::int64_t NowMs() {
  return std::chrono::duration_cast<milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::mt19937& Random() {
  static thread_local std::mt19937 random(std::random_device{}());
  return random;
}

std::string RandomText(int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>('a' + std::uniform_int_distribution<int>(0, 25)(Random())));
  }
  return text;
}

// For how long the script sleeps: the number after its first "sleep ", in seconds.
milliseconds SleepOf(const std::string& script) {
  constexpr const char* kSleep = "sleep ";
  constexpr double kMillis = 1000;
  const std::size_t at = script.find(kSleep);
  return at == std::string::npos ? milliseconds(0)
                                 : milliseconds(static_cast<std::int64_t>(
                                       kMillis * std::strtod(script.c_str() + at + 6, nullptr)));
}

}  // namespace

// One stream: it ends once, and is then of no more use.
class SwarmAgent::Stream final
    : public grpc::ClientBidiReactor<wire::AgentMessage, wire::ControllerMessage> {
 public:
  explicit Stream(SwarmAgent& agent)
      : agent_(agent), stub_(wire::AgentLink::NewStub(ChannelOfItsOwn(agent.target_))) {}

  void Begin() {
    stub_->async()->Attach(&context_, this);
    StartRead(&incoming_);
    AddHold();
    StartCall();
  }

  // Reports that wait behind one that is being written travel together.
  void Send(wire::AgentMessage message) {
    const std::lock_guard lock(mutex_);
    if (over_) {
      return;
    }
    if (message.has_reports() && outgoing_.size() > 1 && outgoing_.back().has_reports()) {
      outgoing_.back().mutable_reports()->MergeFrom(message.reports());
      return;
    }
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1) {
      StartWrite(&outgoing_.front());
    }
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      Over();
      return;
    }
    agent_.OnMessage(incoming_);
    StartRead(&incoming_);
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    outgoing_.pop_front();
    if (ok && !over_ && !outgoing_.empty()) {
      StartWrite(&outgoing_.front());
    }
  }

  void OnDone(const grpc::Status&) override { agent_.OnStreamEnd(); }

 private:
  void Over() {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(over_, true)) {
        return;
      }
    }
    RemoveHold();
  }

  SwarmAgent& agent_;
  std::unique_ptr<wire::AgentLink::Stub> stub_;
  grpc::ClientContext context_;
  wire::ControllerMessage incoming_;
  std::mutex mutex_;
  std::deque<wire::AgentMessage> outgoing_;
  bool over_ = false;
};

SwarmAgent::SwarmAgent(std::string target, wire::Registration registration, SwarmClock& clock,
                       SwarmCounts& counts)
    : target_(std::move(target)),
      registration_(std::move(registration)),
      clock_(clock),
      counts_(counts) {}

SwarmAgent::~SwarmAgent() = default;

void SwarmAgent::Start() {
  Stream* stream = nullptr;
  wire::AgentMessage message;
  {
    const std::lock_guard lock(mutex_);
    stream_ = std::make_unique<Stream>(*this);
    stream = stream_.get();
    ++streams_;
    *message.mutable_registration() = registration_;
    message.mutable_registration()->set_epoch_seen(epoch_);
    for (const auto& [key, attempt] : attempts_) {
      *message.mutable_registration()->add_attempts() = attempt.known;
    }
  }
  message.set_challenge(RandomText(kChallengeBytes));
  message.set_time(NowMs());
  message.set_takes_many(true);
  stream->Begin();
  stream->Send(std::move(message));
}

void SwarmAgent::Send(wire::AgentMessage message) {
  if (stream_ != nullptr) {
    stream_->Send(std::move(message));
  }
}

void SwarmAgent::OnMessage(const wire::ControllerMessage& message) {
  if (message.has_welcome()) {
    OnWelcome(message.welcome());
  } else if (message.has_refusal()) {
    ++counts_.refusals;
  } else if (message.has_ack()) {
    OnAck(message.ack());
  } else if (message.has_acks()) {
    for (const wire::ReportAck& ack : message.acks().acks()) {
      OnAck(ack);
    }
  } else if (message.has_heard()) {
    const std::lock_guard lock(mutex_);
    heard_ = std::max(heard_, message.heard().number());
  } else if (message.has_signed_()) {
    wire::OrderBody body;
    if (body.ParseFromString(message.signed_().body())) {
      OnOrder(body.order());
      for (const wire::ControllerMessage& order : body.more()) {
        OnOrder(order);
      }
    }
  }
}

void SwarmAgent::OnWelcome(const wire::Welcome& welcome) {
  const std::lock_guard lock(mutex_);
  ++counts_.welcomes;
  ++counts_.registered;
  welcome_ = true;
  epoch_ = welcome.epoch();
  heartbeat_ = milliseconds(welcome.heartbeat());
  beat_ = 0;
  heard_ = 0;
  for (auto& [key, attempt] : attempts_) {
    for (const wire::Report& report : attempt.unacknowledged) {
      SendReport(report);
    }
  }
  const auto first = std::uniform_int_distribution<std::int64_t>(0, heartbeat_.count())(Random());
  clock_.In(milliseconds(first), [this, stream = streams_] { Beat(stream); });
}

void SwarmAgent::Beat(std::uint64_t stream) {
  const std::lock_guard lock(mutex_);
  if (stream != streams_ || !welcome_) {
    return;
  }
  counts_.late_beats += heard_ < beat_ ? 1 : 0;
  ++counts_.beats;
  wire::AgentMessage message;
  message.mutable_heartbeat()->set_time(NowMs());
  message.mutable_heartbeat()->set_number(++beat_);
  Send(std::move(message));
  clock_.In(heartbeat_, [this, stream] { Beat(stream); });
}

void SwarmAgent::OnOrder(const wire::ControllerMessage& order) {
  if (order.has_launch()) {
    Launch(order.launch());
  } else if (order.has_terminate()) {
    Terminate(order.terminate());
  }
}

void SwarmAgent::Launch(const wire::LaunchOrder& order) {
  const Key key(order.job(), order.attempt());
  {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = attempts_.try_emplace(key);
    if (!is_new) {
      return;  // ordered twice
    }
    ++counts_.orders;
    wire::KnownAttempt& known = place->second.known;
    known.set_job(order.job());
    known.set_attempt(order.attempt());
    for (const wire::NodeAllocation& part : order.allocation().nodes()) {
      if (part.node() == order.node()) {
        *known.mutable_allocation() = part;
      }
    }
    wire::Report report;
    report.mutable_run_started()->set_time(NowMs());
    report.mutable_run_started()->set_pid(1);
    report.mutable_run_started()->set_limits("not enforced (a swarm)");
    AddReport(place->second, std::move(report));
  }
  clock_.In(SleepOf(order.program().script()), [this, key] { End(key, false); });
}

void SwarmAgent::Terminate(const wire::TerminateOrder& order) {
  End(Key(order.job(), order.attempt()), true);
}

void SwarmAgent::End(Key key, bool cancelled) {
  const std::lock_guard lock(mutex_);
  const auto found = attempts_.find(key);
  if (found == attempts_.end() || found->second.known.ended()) {
    return;
  }
  found->second.known.set_ended(true);
  wire::Report report;
  report.mutable_run_ended()->set_time(NowMs());
  report.mutable_run_ended()->set_cause(cancelled ? wire::END_CAUSE_CANCELLED
                                                  : wire::END_CAUSE_EXITED);
  AddReport(found->second, std::move(report));
}

void SwarmAgent::AddReport(Attempt& attempt, wire::Report report) {
  report.set_job(attempt.known.job());
  report.set_attempt(attempt.known.attempt());
  report.set_index(++attempt.last);
  attempt.unacknowledged.push_back(report);
  if (welcome_) {
    SendReport(std::move(report));
  }
}

void SwarmAgent::SendReport(wire::Report report) {
  wire::AgentMessage message;
  *message.mutable_reports()->add_reports() = std::move(report);
  Send(std::move(message));
}

void SwarmAgent::OnAck(const wire::ReportAck& ack) {
  const std::lock_guard lock(mutex_);
  const auto found = attempts_.find(Key(ack.job(), ack.attempt()));
  if (found == attempts_.end()) {
    return;
  }
  std::deque<wire::Report>& left = found->second.unacknowledged;
  while (!left.empty() && left.front().index() <= ack.index()) {
    left.pop_front();
  }
  if (left.empty() && found->second.known.ended()) {
    ++counts_.ended;
    attempts_.erase(found);
  }
}

// Called by the stream itself, which is done with: the next one is begun on the clock's thread.
void SwarmAgent::OnStreamEnd() {
  const std::lock_guard lock(mutex_);
  counts_.registered -= welcome_ ? 1 : 0;
  ++counts_.lost_streams;
  welcome_ = false;
  const int pause = std::uniform_int_distribution<int>(kBackoffLeastMs, kBackoffMostMs)(Random());
  clock_.In(milliseconds(pause), [this] { Start(); });
}

}  // namespace muster::swarm
