#include "cli/service/service_changes.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr Duration kLookPause = std::chrono::milliseconds(500);
// How much longer than its parts a step of a rolling may take.
constexpr Duration kStepSlack = std::chrono::minutes(1);

std::string StateText(const ServiceReplica& replica) {
  return absl::StrCat(replica.note.state.empty() ? replica.job_state : replica.note.state,
                      replica.reason.empty() ? "" : ": ", replica.reason);
}

std::vector<ServiceReplica> OfArray(const std::vector<ServiceReplica>& replicas, JobId array) {
  std::vector<ServiceReplica> own;
  std::copy_if(replicas.begin(), replicas.end(), std::back_inserter(own),
               [array](const ServiceReplica& replica) { return replica.job.job == array; });
  return own;
}

// Those of `which` that are still there.
std::vector<ServiceReplica> StillThere(const std::vector<ServiceReplica>& now,
                                       const std::vector<ServiceReplica>& which) {
  std::vector<ServiceReplica> still;
  std::copy_if(
      now.begin(), now.end(), std::back_inserter(still), [&which](const ServiceReplica& replica) {
        return std::any_of(which.begin(), which.end(), [&replica](const ServiceReplica& each) {
          return each.id == replica.id;
        });
      });
  return still;
}

std::string LabelsOf(const std::vector<ServiceReplica>& replicas) {
  return absl::StrJoin(replicas, ", ", [](std::string* text, const ServiceReplica& replica) {
    absl::StrAppend(text, replica.label);
  });
}

// What a step of a rolling needs, beside the calls.
struct RollStep {
  std::size_t count = 0;  // how many new ones
  std::size_t old = 0;    // how many old ones there still are
};

// The new replicas, ready; else why not, with nothing left of them.
absl::StatusOr<std::vector<ServiceReplica>> AwaitReady(const ServiceCalls& calls, JobId array,
                                                       const ChangeTerms& terms,
                                                       const RollStep& step) {
  const auto why = [&](const std::string& label, const std::string& what) {
    return absl::StrCat("the new replica, job ", label, ", ", what, "; the ",
                        Counted(step.old, "old one goes", "old ones go"), " on; muster logs ",
                        label);
  };
  Duration waited{0};
  for (;; waited += kLookPause) {
    ASSIGN_OR_RETURN(const ServiceNow now, calls.find());
    const std::vector<ServiceReplica> own = OfArray(now.replicas, array);
    if (own.size() < step.count) {
      RETURN_IF_ERROR(EndReplicas(calls, own, terms.drain));
      std::size_t ended = 0;  // the first that is missing
      while (ended < own.size() && own[ended].label == absl::StrCat(array.value(), "_", ended)) {
        ++ended;
      }
      return absl::FailedPreconditionError(
          why(absl::StrCat(array.value(), "_", ended), "has ended"));
    }
    const auto late = std::find_if(own.begin(), own.end(),
                                   [](const ServiceReplica& replica) { return !replica.ready(); });
    if (late == own.end()) {
      return own;
    }
    if (waited >= terms.patience) {
      RETURN_IF_ERROR(calls.leave(own));
      RETURN_IF_ERROR(calls.cancel(own));
      return absl::DeadlineExceededError(
          why(late->label, absl::StrCat("was not ready within ", SecondsText(terms.patience), " (",
                                        StateText(*late), ") and is cancelled")));
    }
    calls.wait(kLookPause);
  }
}

// That more than asked are meant, and how many, until the step is surely over.
absl::Status SayFurther(const ServiceCalls& calls, std::size_t further, const ChangeTerms& terms) {
  ASSIGN_OR_RETURN(ServiceNow now, calls.find());
  now.terms.further = static_cast<std::uint32_t>(further);
  now.terms.further_until =
      further == 0 ? kNoTime : calls.now() + terms.patience + terms.drain + kStepSlack;
  return calls.ask(now.terms);
}

// New ones in place of those; their labels.
absl::StatusOr<std::string> Replace(const ServiceCalls& calls,
                                    const std::vector<ServiceReplica>& old, std::size_t all_old,
                                    const ChangeTerms& terms) {
  RETURN_IF_ERROR(SayFurther(calls, old.size(), terms));
  ASSIGN_OR_RETURN(const JobId added, calls.add(static_cast<std::uint32_t>(old.size())));
  ASSIGN_OR_RETURN(const std::vector<ServiceReplica> fresh,
                   AwaitReady(calls, added, terms, {old.size(), all_old}));
  ASSIGN_OR_RETURN(const ServiceNow now, calls.find());
  RETURN_IF_ERROR(EndReplicas(calls, StillThere(now.replicas, old), terms.drain));
  return LabelsOf(fresh);
}

// To the number that is asked; who is lost counts as missing.
absl::Status BringTo(const ServiceCalls& calls, const ServiceNow& now, const ServiceTerms& asked,
                     const ChangeTerms& terms, const TellChange& tell) {
  std::vector<ServiceReplica> all = BestFirst(Staying(now.replicas));
  const auto there = static_cast<std::uint32_t>(std::count_if(
      all.begin(), all.end(), [](const ServiceReplica& replica) { return !replica.lost; }));
  const std::uint32_t count = asked.replicas;
  if (there < count) {
    ASSIGN_OR_RETURN(const JobId added, calls.add(count - there));
    RETURN_IF_ERROR(calls.ask(asked));
    tell(absl::StrCat(Counted(count - there, "further replica"), ", job ", added.value()));
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(calls.ask(asked));
  if (all.size() > count) {
    const std::size_t less = all.size() - count;
    all.erase(all.begin(), all.begin() + count);
    RETURN_IF_ERROR(EndReplicas(calls, all, terms.drain));
    tell(absl::StrCat(Counted(less, "replica"), " less"));
  } else {
    tell(absl::StrCat(Counted(count, "replica"), " already"));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<ServiceReplica> BestFirst(std::vector<ServiceReplica> replicas) {
  std::stable_sort(
      replicas.begin(), replicas.end(), [](const ServiceReplica& a, const ServiceReplica& b) {
        return std::tuple(a.lost, !a.ready(), a.id) < std::tuple(b.lost, !b.ready(), b.id);
      });
  return replicas;
}

absl::Status EndReplicas(const ServiceCalls& calls, const std::vector<ServiceReplica>& replicas,
                         Duration drain) {
  std::vector<ServiceReplica> ready;
  std::copy_if(replicas.begin(), replicas.end(), std::back_inserter(ready),
               [](const ServiceReplica& replica) { return replica.ready(); });
  if (!ready.empty() && drain > Duration(0)) {
    RETURN_IF_ERROR(calls.leave(ready));
    calls.wait(drain);
  }
  return replicas.empty() ? absl::OkStatus() : calls.cancel(replicas);
}

absl::Status ScaleService(const ServiceCalls& calls, std::uint32_t count, const ChangeTerms& terms,
                          const TellChange& tell) {
  ASSIGN_OR_RETURN(const ServiceNow now, calls.find());
  ServiceTerms asked = now.terms;
  asked.replicas = count;
  asked.rule.reset();
  return BringTo(calls, now, asked, terms, tell);
}

absl::Status ScaleByRule(const ServiceCalls& calls, const ScaleRule& rule, const ChangeTerms& terms,
                         const TellChange& tell) {
  ASSIGN_OR_RETURN(const ServiceNow now, calls.find());
  ServiceTerms asked = now.terms;
  asked.replicas = std::clamp(asked.replicas, rule.least, rule.most);
  asked.rule = rule;
  RETURN_IF_ERROR(BringTo(calls, now, asked, terms, tell));
  tell(absl::StrCat("from now on ", RuleText(asked), ", by muster service keep"));
  return absl::OkStatus();
}

absl::Status RollService(const ServiceCalls& calls, std::uint32_t rolling, const ChangeTerms& terms,
                         const TellChange& tell) {
  ASSIGN_OR_RETURN(const ServiceNow before, calls.find());
  const std::vector<ServiceReplica> old = Staying(before.replicas);
  const std::size_t most = std::max(rolling > 0 ? rolling : before.terms.rolling, 1U);
  absl::Status done;
  for (std::size_t i = 0; i < old.size() && done.ok();) {
    const std::size_t count = std::min(most, old.size() - i);
    const auto first = old.begin() + static_cast<std::ptrdiff_t>(i);
    const std::vector<ServiceReplica> some(first, first + static_cast<std::ptrdiff_t>(count));
    const absl::StatusOr<std::string> fresh = Replace(calls, some, old.size() - i, terms);
    done = fresh.status();
    i += count;
    if (done.ok()) {
      tell(absl::StrCat(count == 1 ? "job " : "jobs ", *fresh, " in place of ", LabelsOf(some),
                        " (", i, " of ", old.size(), ")"));
    }
  }
  const absl::Status said = SayFurther(calls, 0, terms);
  return done.ok() ? said : done;
}

absl::StatusOr<std::size_t> StopService(const ServiceCalls& calls) {
  ASSIGN_OR_RETURN(const ServiceNow now, calls.find());
  ServiceTerms asked = now.terms;
  asked.replicas = 0;
  RETURN_IF_ERROR(calls.ask(asked));
  RETURN_IF_ERROR(EndReplicas(calls, now.replicas, Duration(0)));
  return now.replicas.size();
}

}  // namespace muster::cli
