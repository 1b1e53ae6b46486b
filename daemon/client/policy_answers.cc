// The questions about policy and shares (client_methods.h).
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/client/client_methods.h"
#include "daemon/client/views/policy_views.h"
#include "daemon/client/views/sight.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/share/live_shares.h"

namespace muster::daemon {
namespace {

constexpr std::uint32_t kHistoryDefault = 100;
constexpr std::uint32_t kHistoryMax = 100'000;
constexpr PolicyKind kAllKinds[] = {PolicyKind::kPartition, PolicyKind::kQos, PolicyKind::kAccount,
                                    PolicyKind::kAssociation, PolicyKind::kReservation};

std::set<PolicyKind> Wanted(const std::vector<PolicyKind>& kinds) {
  return kinds.empty() ? std::set<PolicyKind>(std::begin(kAllKinds), std::end(kAllKinds))
                       : std::set<PolicyKind>(kinds.begin(), kinds.end());
}

// After this many half-lives a billing-second is worth less than the millionth that is shown.
constexpr int kHalfLivesBack = 40;

// From when on a run's end still weighs.
Time WeighsSince(Time now, Duration half_life) {
  return half_life.count() <= 0 || half_life > (now - kNoTime) / kHalfLivesBack
             ? kNoTime
             : now - half_life * kHalfLivesBack;
}

using Runs = std::map<std::string, std::vector<ChargedRun>>;

void AddRuns(const Snapshot& snapshot, const std::string& user, Runs& runs) {
  for (const RunningJob& job : snapshot.running) {
    if (job.spec->user.name == user && !job.billing.zero()) {
      runs[job.spec->account].push_back(
          {job.id, job.billing, job.started + job.suspended, snapshot.now});
    }
  }
}

// The tree as it is now; without anybody's runs.
Shares SharesIn(const Snapshot& snapshot, const PriorityConfig& config) {
  Shares shares;
  static_cast<AccountTree&>(shares) = core::LiveSharesOf(snapshot).tree;
  shares.now = snapshot.now;
  shares.half_life = snapshot.usage.half_life;
  shares.SetRule(config);
  return shares;
}

// What a user has in an account, without what is used of it where that is private.
void HideUse(const Sight& sight, PolicyView& view) {
  const std::size_t slash = view.name.find('/');
  if (!sight.Shows(Private::kUsage, view.name.substr(slash + 1), view.name.substr(0, slash))) {
    view.jobs_submitted = 0;
    view.jobs_running = 0;
    view.held.clear();
    view.spent.clear();
  }
}

// Shares without the names of users of whom the caller is not shown what they used: the factors of
// all others follow from their numbers.
void HideUsers(const Sight& sight, bool own_runs, Shares& shares) {
  std::size_t others = 0;
  for (Association& each : shares.associations) {
    if (!sight.Shows(Private::kUsage, each.user, each.account)) {
      each.user = absl::StrCat("(private ", ++others, ")");
    }
  }
  std::erase_if(shares.runs, [&](const UserRuns& runs) {
    return !own_runs && !sight.accounts().contains(runs.account);
  });
}

void AnswerListPolicy(const Backend& backend, const Call<ListPolicy>& call,
                      const ListPolicy& asked) {
  backend.controller.Look(
      [call, kinds = Wanted(asked.kinds)](const StateView& state_view) -> Controller::Reply {
        const auto views = std::make_shared<std::vector<PolicyView>>();
        const Sight sight(call.caller, state_view.state());
        for (const PolicyKind kind : kinds) {
          for (PolicyView& view : PolicyViewsOf(state_view.state(), kind, state_view.now())) {
            if (kind == PolicyKind::kAssociation) {
              HideUse(sight, view);
            }
            views->push_back(std::move(view));
          }
        }
        return [call, views](const absl::Status& status) { call.Finish(status, *views); };
      });
}

void AnswerPolicyHistory(const Backend& backend, const Call<PolicyHistory>& call,
                         const PolicyHistory& asked) {
  call.Aside(backend.reader, [backend, call, asked] {
    const std::uint32_t limit = asked.limit == 0 ? kHistoryDefault : asked.limit;
    const std::set<PolicyKind> kinds = Wanted(asked.kinds);
    const absl::StatusOr<std::vector<PolicyChanged>> changes =
        backend.store.ReadPolicyHistory(kHistoryMax);
    if (!changes.ok()) {
      call.Refuse(changes.status());
      return;
    }
    std::vector<PolicyChangeView> views;
    for (const PolicyChanged& change : *changes) {
      const bool wanted = kinds.contains(KindOf(change.object)) &&
                          (asked.name.empty() || NameOf(change.object) == asked.name);
      if (wanted && views.size() < limit) {
        views.push_back(muster::daemon::ViewOf(change));
      }
    }
    call.Finish(absl::OkStatus(), views);
  });
}

void FinishListShares(const Backend& backend, const Call<ListShares>& call, const std::string& user,
                      const Sight& sight, const Snapshot& snapshot) {
  Shares shares = SharesIn(snapshot, backend.controller.policy()->priority);
  if (!user.empty()) {
    absl::StatusOr<Runs> runs =
        backend.accounting.Runs(user, WeighsSince(snapshot.now, snapshot.usage.half_life));
    if (!runs.ok()) {
      call.Refuse(runs.status());
      return;
    }
    AddRuns(snapshot, user, *runs);
    for (auto& [account, of_account] : *runs) {
      shares.runs.push_back(UserRuns{account, std::move(of_account)});
    }
  }
  if (sight.Hides(Private::kUsage)) {
    HideUsers(sight, user == sight.user(), shares);
  }
  call.Finish(absl::OkStatus(), shares);
}

void AnswerListShares(const Backend& backend, const Call<ListShares>& call,
                      const ListShares& asked) {
  backend.controller.Look(
      [backend, call, user = asked.explain_user](const StateView& state_view) -> Controller::Reply {
        const auto snapshot = core::BuildSnapshot(state_view.state(), state_view.now());
        const Sight sight(call.caller, state_view.state());
        // What has ended by now is durable once this answer leaves.
        return [backend, call, snapshot, sight, user](const absl::Status& status) {
          if (!status.ok()) {
            call.Refuse(status);
            return;
          }
          call.Aside(backend.reader, [backend, call, snapshot, sight, user] {
            FinishListShares(backend, call, user, sight, *snapshot);
          });
        };
      });
}

}  // namespace

void ServePolicyQuestions(Methods& methods, const Backend& backend) {
  AnswerAtOnce<ListPolicy>(methods, backend, AnswerListPolicy);
  AnswerInTurn<PolicyHistory>(methods, backend, AnswerPolicyHistory);
  AnswerInTurn<ListShares>(methods, backend, AnswerListShares);
}

}  // namespace muster::daemon
