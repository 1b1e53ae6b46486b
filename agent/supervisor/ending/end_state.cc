#include "agent/supervisor/ending/end_state.h"

#include <utility>

namespace muster::agent {

bool EndState::Force(EndCause cause, const std::string& text) {
  if (!std::exchange(ending_, true)) {
    cause_ = cause;
    text_ = text;
  }
  return !std::exchange(forced_, true);
}

void EndState::TakeMainStep(ExitStatus status, const std::string& failure,
                            const std::string& remark, SteadyTime now) {
  status_ = status;
  main_ended_ = now;
  if (forced_) {
    return;
  }
  if (failure.empty()) {
    text_ = remark;
  } else {
    cause_ = EndCause::kLaunchFailed;
    text_ = failure;
  }
}

void EndState::Explain(const std::string& text) {
  if (!forced_) {
    text_ = text;
  }
}

void EndState::TakeOutOfMemory(const std::string& text) {
  if (cause_ == EndCause::kExited && !status_.success()) {
    cause_ = EndCause::kOutOfMemory;
    text_ = text;
  }
}

void EndState::RecordNodeFault(const std::string& fault) {
  if (node_fault_.empty()) {
    node_fault_ = fault;
  }
}

RunEnded EndState::Report(Time now, const Usage& usage) const {
  RunEnded fact;
  fact.time = now;
  fact.cause = cause_;
  fact.status = status_;
  fact.usage = usage;
  fact.text = text_;
  fact.node_fault = node_fault_;
  if (cause_ == EndCause::kExited && status_.success() && !save_failure_.empty()) {
    fact.status.code = 1;
    fact.text = save_failure_;
  }
  return fact;
}

bool EndsWithItsCheckpoint(EndCause cause, const JobSpec& spec) {
  return cause == EndCause::kRequeued || cause == EndCause::kPreempted ||
         cause == EndCause::kPreemptedToRequeue || cause == EndCause::kResized ||
         (cause == EndCause::kTimeLimit && spec.requeue == Choice::kYes);
}

}  // namespace muster::agent
