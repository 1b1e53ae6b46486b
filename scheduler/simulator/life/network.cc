#include "scheduler/simulator/life/network.h"

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
  std::size_t& tried = tried_[agent];
  for (std::size_t turn = 0; turn < doors_.size(); ++turn, tried = (tried + 1) % doors_.size()) {
    if (doors_[tried].listening && !doors_[tried].cut_off) {
      Stream& stream = open_[++last_];
      stream.agent = agent;
      stream.controller = tried;
      return last_;
    }
  }
  return 0;
}

// A delay that does not overtake what is under way.
Duration SimulatedNetwork::InOrder(Time& last) {
  last = std::max(last, clock_.now() + faults_.MessageDelay());
  return last - clock_.now();
}

void SimulatedNetwork::Arrive(Session session, const Listener& listener, bool late,
                              const ToController& message) {
  if (!IsThere(listener)) {
    return;
  }
  if (!open_.contains(session)) {
    if (!late) {
      return;
    }
    ++faults_.counts().reports_late;
  }
  handlers_.up(listener.controller, session, message);
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
                 [this, session, listener = ListenerOf(stream->second), message] {
                   Arrive(session, listener, true, message);
                 });
  }
  clock_.After(delay, [this, session, late, listener = ListenerOf(stream->second),
                       message = std::move(message)] { Arrive(session, listener, late, message); });
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
  const Listener listener = ListenerOf(stream->second);
  open_.erase(stream);
  clock_.After(faults_.Between(kNoticeMin, kNoticeMax),
               [this, session, agent] { handlers_.agent_noticed_loss(agent, session); });
  const Duration silent = faults_.Between(kNoticeMin, kNoticeMax);
  clock_.After(silent, [this, session, silent, listener] {
    if (IsThere(listener)) {
      handlers_.controller_noticed_loss(listener.controller, session, silent);
    }
  });
}

Session SimulatedNetwork::AnyOpen(std::uint64_t choice) const {
  if (open_.empty()) {
    return 0;
  }
  return std::next(open_.begin(), static_cast<std::ptrdiff_t>(choice % open_.size()))->first;
}

void SimulatedNetwork::Listen(std::size_t controller) {
  doors_[controller].listening = true;
}

void SimulatedNetwork::StopListening(std::size_t controller) {
  doors_[controller].listening = false;
  ++doors_[controller].listener;
  CutAll(controller);
}

void SimulatedNetwork::CutOff(std::size_t controller, bool cut_off) {
  doors_[controller].cut_off = cut_off;
  if (cut_off) {
    CutAll(controller);
  }
}

void SimulatedNetwork::CutAll(std::size_t controller) {
  std::vector<Session> lost;
  for (const auto& [session, stream] : open_) {
    if (stream.controller == controller) {
      lost.push_back(session);
    }
  }
  for (const Session session : lost) {
    Cut(session);
  }
}

}  // namespace muster::sim
