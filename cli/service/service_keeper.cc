#include "cli/service/service_keeper.h"

#include <poll.h>

#include <chrono>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/page/text.h"
#include "cli/service/service_upkeep.h"
#include "cli/service/terms/service_scaler.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

constexpr std::chrono::milliseconds kLookEvery{1'000};
constexpr Duration kScaleEvery = std::chrono::seconds(10);

absl::Status AddMissing(const ServiceCalls& calls, std::uint32_t count, const TellChange& tell) {
  ASSIGN_OR_RETURN(const JobId added, calls.add(count));
  tell(absl::StrCat(Counted(count, "replica is", "replicas are"), " missing: job ", added.value()));
  return absl::OkStatus();
}

class ServiceKeeper {
 public:
  ServiceKeeper(const ServiceCalls& calls, const KeepTerms& terms, const TellChange& tell)
      : calls_(calls), terms_(terms), tell_(tell), upkeep_(terms.lost_after) {}

  // False: the service was stopped.
  absl::StatusOr<bool> Look() {
    ASSIGN_OR_RETURN(ServiceNow now, calls_.find());
    if (now.terms.change == 0) {  // of a version that did not write down what was asked
      RETURN_IF_ERROR(calls_.ask(now.terms));
      return true;
    }
    if (now.terms.replicas == 0) {
      return false;
    }
    RETURN_IF_ERROR(Scale(now));
    const UpkeepStep step = upkeep_.Look(now, calls_.now(), clock_.SteadyNow());
    if (!step.end.empty()) {
      RETURN_IF_ERROR(EndReplicas(calls_, step.end, terms_.drain));
      for (const ServiceReplica& replica : step.end) {
        tell_(absl::StrCat("job ", replica.label, " is ended: ",
                           replica.lost ? "its node is lost" : "it is one too many"));
      }
    }
    if (step.add > 0) {
      RETURN_IF_ERROR(AddMissing(calls_, step.add, tell_));
    }
    return true;
  }

 private:
  // By the rule, if there is one and it is time.
  absl::Status Scale(ServiceNow& now) {
    const bool rolls = MostMeant(now.terms, calls_.now()) > now.terms.replicas;
    if (!now.terms.rule.has_value() || rolls || clock_.SteadyNow() < next_scale_) {
      return absl::OkStatus();
    }
    const ScaleRule& rule = *now.terms.rule;
    next_scale_ = clock_.SteadyNow() + kScaleEvery;
    ASSIGN_OR_RETURN(const std::vector<double> said, calls_.reported(now.replicas, rule));
    const std::uint32_t before = now.terms.replicas;
    const std::uint32_t chosen = scaler_.Choose(rule, before, said, clock_.SteadyNow());
    if (chosen == before) {
      return absl::OkStatus();
    }
    const double average = said.empty() ? 0
                                        : std::accumulate(said.begin(), said.end(), 0.0) /
                                              static_cast<double>(said.size());
    now.terms.replicas = chosen;
    RETURN_IF_ERROR(calls_.ask(now.terms));
    tell_(absl::StrCat("from ", before, " to ", Counted(chosen, "replica"), ": ", rule.metric,
                       " is ", average, ", to be ", rule.target));
    return absl::OkStatus();
  }

  const SystemClock clock_;
  const ServiceCalls& calls_;
  const KeepTerms& terms_;
  const TellChange& tell_;
  ServiceUpkeep upkeep_;
  ServiceScaler scaler_;
  SteadyTime next_scale_;
};

}  // namespace

absl::StatusOr<int> KeepService(const ServiceCalls& calls, const KeepTerms& terms,
                                const TellChange& tell, const UniqueFd& signals) {
  ASSIGN_OR_RETURN(const ServiceNow at_first, calls.find());
  if (at_first.replicas.empty()) {  // what could not be submitted now never could
    RETURN_IF_ERROR(AddMissing(calls, at_first.terms.replicas, tell));
  }
  ServiceKeeper keeper(calls, terms, tell);
  std::string trouble;
  for (;;) {
    const absl::StatusOr<bool> goes_on = keeper.Look();
    if (goes_on.ok() && !*goes_on) {
      tell("the service is stopped");
      return 0;
    }
    if (const std::string said(goes_on.status().message()); said != trouble) {
      trouble = said;
      std::cerr << "muster service: "
                << (goes_on.ok() ? "the service is kept again" : Printable(said)) << std::endl;
    }
    pollfd watched = {signals.get(), POLLIN, 0};
    if (poll(&watched, 1, static_cast<int>(kLookEvery.count())) == 1) {
      return 0;
    }
  }
}

}  // namespace muster::cli
