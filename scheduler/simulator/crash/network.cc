#include "scheduler/simulator/crash/network.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace muster::sim {
namespace {

constexpr Duration kNoticeMin{1};
constexpr Duration kNoticeMax{30'000};  // the lease: silence for so long is a loss

}  // namespace

Session SimulatedNetwork::Connect(std::size_t agent) {
  if (!listening_) {
    return 0;
  }
  open_[++last_].agent = agent;
  return last_;
}

// A delay that does not overtake what is under way.
Duration SimulatedNetwork::InOrder(Time& last) {
  last = std::max(last, clock_.now() + faults_.MessageDelay());
  return last - clock_.now();
}

void SimulatedNetwork::Arrive(Session session, std::uint64_t listener, bool late,
                              const ToController& message) {
  if (listener != listener_ || !listening_) {
    return;
  }
  if (!open_.contains(session)) {
    if (!late) {
      return;
    }
    ++faults_.counts().reports_late;
  }
  handlers_.up(session, message);
}

void SimulatedNetwork::SendUp(Session session, ToController message) {
  const auto stream = open_.find(session);
  if (stream == open_.end()) {
    return;
  }
  const bool report = std::holds_alternative<Report>(message);
  const bool late = report && faults_.Fault(faults_.rates().report_late);
  const Duration delay = InOrder(stream->second.last_up);
  if (report && faults_.Fault(faults_.rates().report_duplicated)) {
    ++faults_.counts().reports_duplicated;
    clock_.After(delay + faults_.Between(Duration(0), Duration(5'000)),
                 [this, session, listener = listener_, message] {
                   Arrive(session, listener, true, message);
                 });
  }
  clock_.After(delay, [this, session, late, listener = listener_, message = std::move(message)] {
    Arrive(session, listener, late, message);
  });
}

void SimulatedNetwork::SendDown(Session session, ToAgent message) {
  const auto stream = open_.find(session);
  if (stream == open_.end()) {
    return;
  }
  const std::size_t agent = stream->second.agent;
  clock_.After(InOrder(stream->second.last_down),
               [this, session, agent, message = std::move(message)] {
                 if (open_.contains(session)) {
                   handlers_.down(agent, session, message);
                 }
               });
}

void SimulatedNetwork::Cut(Session session) {
  const auto stream = open_.find(session);
  if (stream == open_.end()) {
    return;
  }
  const std::size_t agent = stream->second.agent;
  open_.erase(stream);
  clock_.After(faults_.Between(kNoticeMin, kNoticeMax),
               [this, session, agent] { handlers_.agent_noticed_loss(agent, session); });
  const Duration silent = faults_.Between(kNoticeMin, kNoticeMax);
  clock_.After(silent, [this, session, silent, listener = listener_] {
    if (listener == listener_ && listening_) {
      handlers_.controller_noticed_loss(session, silent);
    }
  });
}

Session SimulatedNetwork::AnyOpen(std::uint64_t choice) const {
  if (open_.empty()) {
    return 0;
  }
  return std::next(open_.begin(), static_cast<std::ptrdiff_t>(choice % open_.size()))->first;
}

void SimulatedNetwork::Listen() {
  listening_ = true;
}

void SimulatedNetwork::StopListening() {
  listening_ = false;
  ++listener_;
  while (!open_.empty()) {
    Cut(open_.begin()->first);
  }
}

}  // namespace muster::sim
