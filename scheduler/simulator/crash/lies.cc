#include "scheduler/simulator/crash/lies.h"

#include <algorithm>

namespace muster::sim {
namespace {

constexpr std::uint64_t kJobs = 40;         // that it guesses at
constexpr std::uint64_t kFarAhead = 1'000;  // reports that no attempt has
constexpr AttemptNumber kPhantomAttempt{1'000};
constexpr std::uint64_t kPhantomCpus = 2;

}  // namespace

std::optional<Report> DrawFalseReport(Faults& faults, Time now) {
  if (!faults.Fault(faults.rates().lie)) {
    return std::nullopt;
  }
  ++faults.counts().lies;
  Report report;
  report.job = JobId(1 + faults.Below(kJobs));
  report.attempt = AttemptNumber(static_cast<AttemptNumber::rep>(1 + faults.Below(2)));
  report.index = kFarAhead + faults.Below(kFarAhead);
  switch (faults.Below(4)) {
    case 0: {
      RunStarted started;
      started.time = now;
      report.fact = started;
      break;
    }
    case 1: {
      StepEnded ended;
      ended.step = StepId(static_cast<StepId::rep>(faults.Below(kJobs)));
      ended.time = now;
      report.fact = ended;
      break;
    }
    case 2:
      report.fact = RunSuspended{now, static_cast<std::uint32_t>(faults.Below(kJobs)), true};
      break;
    default: {
      RunEnded ended;
      ended.time = now;
      ended.cause = EndCause::kExited;
      report.fact = ended;
    }
  }
  return report;
}

std::optional<KnownAttempt> DrawPhantom(Faults& faults) {
  if (!faults.Fault(faults.rates().lie)) {
    return std::nullopt;
  }
  ++faults.counts().lies;
  KnownAttempt phantom;
  phantom.job = JobId(1 + faults.Below(kJobs));
  phantom.attempt = kPhantomAttempt;
  phantom.allocation.cpus.Insert(static_cast<std::uint32_t>(faults.Below(kPhantomCpus)));
  return phantom;
}

}  // namespace muster::sim
