#include "agent/supervisor/step/step_verdict.h"

namespace muster::agent {

void StepVerdict::TakeLaunchFailure(const std::string& text) {
  if (launch_error_.empty()) {
    launch_error_ = text;
  }
}

void StepVerdict::TakeRemark(const std::string& text) {
  if (remark_.empty()) {
    remark_ = text;
  }
}

void StepVerdict::TakeStatus(ExitStatus status) {
  if (status_.success()) {
    status_ = status;
  }
}

void StepVerdict::TellToEnd(bool by_others) {
  terminating_ = true;
  told_ = true;
  ended_by_others_ = ended_by_others_ || by_others;
}

void StepVerdict::BreakBy(std::uint32_t rank) {
  broken_ = true;
  culprit_ = rank;
}

void StepVerdict::Abort(std::uint32_t rank, int code) {
  BreakBy(rank);
  aborted_ = true;
  TakeStatus({.code = AbortCode(code), .signal = 0});
}

void StepVerdict::TakeBreak(const StepBreak& why) {
  // The loss of a supervisor is nobody's exit: then what becomes of the ranks here counts.
  broken_ = why.rank.has_value();
  ExitStatus status = why.status;
  status.code = status.success() ? 1 : status.code;
  TakeStatus(status);
}

ExitMeaning StepVerdict::MeaningOf(std::uint32_t rank, ExitStatus status, bool own,
                                   const std::optional<MpiPart>& mpi) const {
  ExitMeaning meaning;
  meaning.with_others = (broken_ && culprit_ != rank) || (ended_by_others_ && !own);
  meaning.aborted = own || (aborted_ && culprit_ == rank);
  if (mpi.has_value() && !terminating_) {
    meaning.fatal = mpi->joined || status.signal != 0;
    meaning.unjoined = !mpi->ever_joined;
  }
  return meaning;
}

int AbortCode(int code) {
  const int low = code & 0xff;
  return low == 0 ? 1 : low;
}

}  // namespace muster::agent
