#include "agent/link/controller_link.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::agent {
namespace {

constexpr const char* kLinkComponent = "link";
constexpr std::chrono::milliseconds kFirstDelay{50};
constexpr std::chrono::milliseconds kLongestDelay{5000};
constexpr unsigned kDoublingsMax = 7;  // 50 ms * 2^7 is beyond the longest delay
// The controller may ask for heartbeats, not for a flood of them.
constexpr std::chrono::milliseconds kShortestHeartbeat{10};
constexpr std::size_t kUnheardMax = 64;
constexpr int kHeartbeatsUnheard = 2;
constexpr std::chrono::milliseconds kLongestAmongSeveral{1000};

double Jitter() {
  std::random_device source;
  return std::uniform_real_distribution<double>(0.0, 1.0)(source);
}

}  // namespace

std::chrono::milliseconds BackoffDelay(unsigned failures, double jitter) {
  const unsigned doublings = std::min(failures > 0 ? failures - 1 : 0, kDoublingsMax);
  const auto whole = std::min(kFirstDelay * (1U << doublings), kLongestDelay);
  return std::chrono::duration_cast<std::chrono::milliseconds>(whole * (0.5 + 0.5 * jitter));
}

ControllerLink::ControllerLink(EventLoop& loop, const Logger& log, Config config, Owner* owner)
    : loop_(loop),
      log_(log),
      config_(std::move(config)),
      addresses_(absl::StrSplit(config_.address, ',')),
      owner_(owner) {}

ControllerLink::~ControllerLink() {
  CancelTimer(&connect_timer_);
  CancelTimer(&welcome_timer_);
  CancelTimer(&heartbeat_timer_);
  if (stream_ != nullptr) {
    stream_->CloseAndWait();
  }
}

void ControllerLink::CancelTimer(std::optional<EventLoop::TimerId>* timer) {
  if (timer->has_value()) {
    loop_.Cancel(**timer);
    timer->reset();
  }
}

void ControllerLink::Connect() {
  connect_timer_.reset();
  absl::StatusOr<std::shared_ptr<grpc::Channel>> channel =
      LinkStream::MakeChannel({addresses_[place_], config_.tls, config_.node});
  if (config_.tls.empty() && absl::IsPermissionDenied(channel.status())) {
    owner_->Failed(channel.status());
    return;
  }
  if (!channel.ok()) {
    Lost(channel.status());
    return;
  }
  introduced_ = SystemClock().SteadyNow();
  absl::StatusOr<wire::AgentMessage> first = owner_->Introduce();
  if (!first.ok()) {
    Lost(first.status());
    return;
  }
  channel_ = *std::move(channel);
  stream_ = std::make_shared<LinkStream>(loop_, static_cast<LinkStream::Owner*>(this), channel_,
                                         config_.messages_waiting_max);
  stream_->Open(*std::move(first));
  welcome_timer_ = loop_.RunAfter(config_.welcome_within, [this] {
    welcome_timer_.reset();
    stream_->Cancel();
  });
}

bool ControllerLink::Send(const wire::AgentMessage& message) {
  if (!attached_) {
    return false;
  }
  if (!stream_->Write(message)) {
    starved_ = true;
    return false;
  }
  return true;
}

void ControllerLink::Break() {
  attached_ = false;
  refused_ = true;
  Reconnect();
}

void ControllerLink::Reconnect() {
  if (stream_ != nullptr) {
    stream_->Cancel();
  }
}

void ControllerLink::Drained() {
  if (attached_ && std::exchange(starved_, false)) {
    owner_->Writable();
  }
}

void ControllerLink::Handle(const wire::ControllerMessage& message) {
  if (message.has_refusal()) {
    Refuse(message.refusal());
  } else if (message.has_welcome()) {
    Welcome(message.welcome());
  } else if (attached_ && message.has_heard()) {
    TakeHeard(message.heard().number());
  } else if (attached_) {
    owner_->Received(message);
  }
}

void ControllerLink::Welcome(const wire::Welcome& welcome) {
  if (attached_) {
    return;  // one is enough
  }
  CancelTimer(&welcome_timer_);
  attached_ = true;
  const absl::Status taken = owner_->Welcomed(welcome, stream_->PeerCertificate());
  if (!taken.ok()) {
    attached_ = false;
    refused_ = true;
    log_.Error(kLinkComponent, std::string(taken.message()));
    stream_->Cancel();
    return;
  }
  failures_ = 0;
  owner_->HeardAt(introduced_);
  log_.Info(kLinkComponent, absl::StrCat("attached to cluster ", welcome.cluster(), " as node ",
                                         welcome.node(), ", epoch ", welcome.epoch()));
  heartbeat_ = std::chrono::milliseconds(welcome.heartbeat());
  if (heartbeat_.count() > 0) {
    heartbeat_ = std::max(heartbeat_, kShortestHeartbeat);
    Beat();
  }
}

void ControllerLink::Beat() {
  if (Unheard()) {
    log_.Warning(kLinkComponent, absl::StrCat("the controller at ", addresses_[place_],
                                              " hears us no more; trying another"));
    stream_->Cancel();
    return;
  }
  const SystemClock clock;
  wire::AgentMessage message;
  message.mutable_heartbeat()->set_time(clock.Now().time_since_epoch().count());
  message.mutable_heartbeat()->set_number(++beats_);
  said_.emplace_back(beats_, clock.SteadyNow());
  if (said_.size() > kUnheardMax) {
    said_.pop_front();
  }
  stream_->Write(message);  // when the queue is full, what is in it shows that we live
  heartbeat_timer_ = loop_.RunAfter(heartbeat_, [this] { Beat(); });
}

void ControllerLink::TakeHeard(std::uint64_t number) {
  while (!said_.empty() && said_.front().first < number) {
    said_.pop_front();
  }
  if (!said_.empty() && said_.front().first == number) {
    owner_->HeardAt(said_.front().second);
  }
}

void ControllerLink::Refuse(const wire::Refusal& refusal) {
  refused_ = true;
  if (refusal.permanent()) {
    owner_->Failed(absl::PermissionDeniedError(absl::StrCat(
        "the controller at ", addresses_[place_], " refuses this agent: ", refusal.text())));
    return;
  }
  if (addresses_.size() == 1) {
    log_.Warning(kLinkComponent, absl::StrCat("the controller does not take us: ", refusal.text(),
                                              "; trying again"));
  }
  stream_->Cancel();
}

void ControllerLink::Lost(const absl::Status& status) {
  const bool told = std::exchange(refused_, false);
  const bool was_attached = std::exchange(attached_, false);
  starved_ = false;
  CancelTimer(&welcome_timer_);
  CancelTimer(&heartbeat_timer_);
  stream_.reset();
  said_.clear();
  beats_ = 0;
  ++failures_;
  if ((was_attached || failures_ == 1) && !told) {
    // Once: the failures that follow are the same one.
    log_.Warning(
        kLinkComponent,
        absl::StrCat(was_attached ? "lost" : "cannot reach", " the controller at ", addresses_[place_],
                     ": ", status.ok() ? "it ended the stream" : std::string(status.message()),
                     "; trying again"));
  }
  place_ = (place_ + 1) % addresses_.size();
  connect_timer_ = loop_.RunAfter(Delay(), [this] { Connect(); });
}

// Of several controllers one leads soon: each is tried as often as the only one would be.
std::chrono::milliseconds ControllerLink::Delay() const {
  const auto count = static_cast<unsigned>(addresses_.size());
  const std::chrono::milliseconds delay = BackoffDelay((failures_ + count - 1) / count, Jitter());
  return count == 1 ? delay : std::min(delay, kLongestAmongSeveral);
}

// True when nothing that was said for some heartbeats was heard, and there is another controller.
bool ControllerLink::Unheard() const {
  return addresses_.size() > 1 && !said_.empty() &&
         SystemClock().SteadyNow() - said_.front().second > heartbeat_ * kHeartbeatsUnheard;
}

}  // namespace muster::agent
