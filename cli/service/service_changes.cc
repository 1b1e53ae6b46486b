#include "cli/service/service_changes.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr Duration kLookPause = std::chrono::milliseconds(500);

std::vector<ServiceReplica> Staying(std::vector<ServiceReplica> replicas) {
  std::erase_if(replicas, [](const ServiceReplica& replica) { return replica.leaves(); });
  return replicas;
}

std::string StateText(const ServiceReplica& replica) {
  return absl::StrCat(replica.note.state.empty() ? replica.job_state : replica.note.state,
                      replica.reason.empty() ? "" : ": ", replica.reason);
}

std::vector<ServiceReplica> OfArray(const std::vector<ServiceReplica>& replicas, JobId array) {
  std::vector<ServiceReplica> own;
  for (const ServiceReplica& replica : replicas) {
    if (replica.job.job == array) {
      own.push_back(replica);
    }
  }
  return own;
}

// The new replica, ready; else why not, with nothing left of it.
absl::StatusOr<ServiceReplica> AwaitReady(const ServiceCalls& calls, JobId array,
                                          const ChangeTerms& terms, std::size_t old) {
  const std::string go_on = absl::StrCat("; the ", Counted(old, "old one goes", "old ones go"),
                                         " on; muster logs ", array.value(), "_0");
  Duration waited{0};
  for (;; waited += kLookPause) {
    ASSIGN_OR_RETURN(const std::vector<ServiceReplica> replicas, calls.find());
    const std::vector<ServiceReplica> own = OfArray(replicas, array);
    if (own.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the new replica, job ", array.value(), "_0, has ended", go_on));
    }
    if (own.front().ready()) {
      return own.front();
    }
    if (waited >= terms.patience) {
      RETURN_IF_ERROR(calls.leave(own));
      RETURN_IF_ERROR(calls.cancel(own));
      return absl::DeadlineExceededError(absl::StrCat(
          "the new replica, job ", own.front().label, ", was not ready within ",
          SecondsText(terms.patience), " (", StateText(own.front()), ") and is cancelled", go_on));
    }
    calls.wait(kLookPause);
  }
}

}  // namespace

absl::Status EndReplicas(const ServiceCalls& calls, const std::vector<ServiceReplica>& replicas,
                         Duration drain) {
  std::vector<ServiceReplica> ready;
  std::copy_if(replicas.begin(), replicas.end(), std::back_inserter(ready),
               [](const ServiceReplica& replica) { return replica.ready(); });
  if (!ready.empty() && drain > Duration(0)) {
    RETURN_IF_ERROR(calls.leave(ready));
    calls.wait(drain);
  }
  return calls.cancel(replicas);
}

absl::Status ScaleService(const ServiceCalls& calls, std::uint32_t count, const ChangeTerms& terms,
                          const TellChange& tell) {
  ASSIGN_OR_RETURN(std::vector<ServiceReplica> all, calls.find());
  std::vector<ServiceReplica> replicas = Staying(std::move(all));
  const std::size_t before = replicas.size();
  if (before < count) {
    ASSIGN_OR_RETURN(const JobId added, calls.add(count - static_cast<std::uint32_t>(before)));
    tell(absl::StrCat(Counted(count - before, "further replica"), ", job ", added.value()));
  } else if (before > count) {
    replicas.erase(replicas.begin(), replicas.begin() + count);
    RETURN_IF_ERROR(EndReplicas(calls, replicas, terms.drain));
    tell(absl::StrCat(Counted(before - count, "replica"), " less"));
  } else {
    tell(absl::StrCat(Counted(before, "replica"), " already"));
  }
  return absl::OkStatus();
}

absl::Status RollService(const ServiceCalls& calls, const ChangeTerms& terms,
                         const TellChange& tell) {
  ASSIGN_OR_RETURN(std::vector<ServiceReplica> all, calls.find());
  const std::vector<ServiceReplica> old = Staying(std::move(all));
  for (std::size_t i = 0; i < old.size(); ++i) {
    ASSIGN_OR_RETURN(const JobId added, calls.add(1));
    ASSIGN_OR_RETURN(const ServiceReplica fresh, AwaitReady(calls, added, terms, old.size() - i));
    ASSIGN_OR_RETURN(const std::vector<ServiceReplica> now, calls.find());
    const auto still = std::find_if(now.begin(), now.end(), [&old, i](const ServiceReplica& each) {
      return each.id == old[i].id;
    });
    if (still != now.end()) {
      RETURN_IF_ERROR(EndReplicas(calls, {*still}, terms.drain));
    }
    tell(absl::StrCat("job ", fresh.label, " in place of ", old[i].label, " (", i + 1, " of ",
                      old.size(), ")"));
  }
  return absl::OkStatus();
}

}  // namespace muster::cli
