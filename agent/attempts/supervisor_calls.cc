#include "agent/attempts/supervisor_calls.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::agent {

SupervisorCalls::SupervisorCalls(EventLoop& loop, const Logger& log, StateDirectory& state,
                                 std::chrono::milliseconds answer_within)
    : loop_(loop), log_(log), state_(state), answer_within_(answer_within) {}

ControlCall& SupervisorCalls::To(const AttemptKey& key) {
  std::unique_ptr<ControlCall>& call = calls_[key];
  if (call == nullptr) {
    call = std::make_unique<ControlCall>(loop_, state_.Attempt(key).Control(), answer_within_);
  }
  return *call;
}

void SupervisorCalls::Say(const AttemptKey& key, const std::string& what,
                          const absl::Status& status) {
  log_.Warning("attempts",
               absl::StrCat(what, " ", ToString(key),
                            " not taken by its supervisor: ", std::string(status.message())),
               ToString(key.job));
}

void SupervisorCalls::Send(const AttemptKey& key, const std::string& packet,
                           const std::string& what) {
  To(key).Send(packet, [this, key, what](const absl::Status& status) {
    if (!status.ok()) {
      Say(key, what, status);
    }
  });
}

void SupervisorCalls::SendEnd(const AttemptKey& key, const std::string& packet,
                              std::function<void()> unheard) {
  To(key).Send(packet, [this, key, unheard = std::move(unheard)](const absl::Status& status) {
    if (status.ok()) {
      return;
    }
    Say(key, "end of", status);
    if (absl::IsDeadlineExceeded(status)) {
      unheard();
    }
  });
}

}  // namespace muster::agent
