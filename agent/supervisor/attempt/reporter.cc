#include "agent/supervisor/attempt/reporter.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

constexpr std::chrono::seconds kRetryInterval{1};
constexpr std::chrono::milliseconds kCompanyWait{5};

bool CanWait(const Fact& fact) {
  return std::holds_alternative<RunStarted>(fact) || std::holds_alternative<BindingRead>(fact);
}

}  // namespace

void Reporter::Report(Fact fact, bool end_follows) {
  const bool can_wait = end_follows || CanWait(fact);
  waiting_.push_back({std::move(fact), can_wait});
  if (!retrying_) {
    Flush();
  }
}

void Reporter::WhenWritten(std::function<void()> done) {
  when_written_ = std::move(done);
  if (!retrying_) {
    Flush();
  }
}

void Reporter::Flush() {
  bool added = false;
  bool urgent = false;
  while (!waiting_.empty()) {
    const absl::Status status = journal_.Append(waiting_.front().fact);
    if (!status.ok()) {
      log_.Error("journal", absl::StrCat(status.ToString(), "; trying again each second"));
      retrying_ = true;
      loop_.RunAfter(kRetryInterval, [this] {
        retrying_ = false;
        Flush();
      });
      break;
    }
    urgent = urgent || !waiting_.front().can_wait;
    waiting_.pop_front();
    added = true;
  }
  if (urgent) {
    Notify();
  } else if (added && !std::exchange(notifies_later_, true)) {
    timers_.After(kCompanyWait, [this] {
      if (notifies_later_) {
        Notify();
      }
    });
  }
  if (waiting_.empty() && when_written_) {
    const std::function<void()> done = std::exchange(when_written_, nullptr);
    done();
  }
}

void Reporter::Notify() {
  notifies_later_ = false;
  NotifyAgent(agent_socket_, name_);
}

}  // namespace muster::agent
