#include "daemon/client/policy_handler.h"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "daemon/access/rpc.h"
#include "daemon/client/policy_views.h"
#include "proto/convert/convert.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/share/live_shares.h"

namespace muster::daemon {
namespace {

constexpr std::uint32_t kHistoryDefault = 100;
constexpr std::uint32_t kHistoryMax = 100'000;
constexpr PolicyKind kAllKinds[] = {PolicyKind::kPartition, PolicyKind::kQos, PolicyKind::kAccount,
                                    PolicyKind::kAssociation, PolicyKind::kReservation};

template <class Kinds>
std::set<PolicyKind> Wanted(const Kinds& kinds) {
  std::set<PolicyKind> wanted;
  for (const int kind : kinds) {
    wanted.insert(static_cast<PolicyKind>(kind));
  }
  if (wanted.empty()) {
    wanted.insert(std::begin(kAllKinds), std::end(kAllKinds));
  }
  return wanted;
}

absl::StatusOr<muster::ChangePolicy> ReadChange(const wire::ChangePolicyRequest& request) {
  if (!wire::PolicyVerb_IsValid(request.verb()) || !wire::PolicyKind_IsValid(request.kind())) {
    return absl::InvalidArgumentError("unknown verb or kind; update musterd");
  }
  muster::ChangePolicy input;
  input.verb = static_cast<PolicyVerb>(request.verb());
  input.kind = static_cast<PolicyKind>(request.kind());
  input.name = request.name();
  for (const wire::Assignment& assignment : request.assignments()) {
    input.assignments.push_back(Assignment{assignment.key(), assignment.value()});
  }
  return input;
}

// After so many half-lives a billing-second is worth less than the millionth that is shown.
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

void AddTree(const Snapshot& snapshot, const PriorityConfig& config, wire::ListSharesReply& reply) {
  const core::LiveShares shares = core::LiveSharesOf(snapshot);
  for (const Account& account : shares.tree.accounts) {
    ToWire(account, reply.add_accounts());
  }
  for (const Association& association : shares.tree.associations) {
    ToWire(association, reply.add_associations());
  }
  reply.set_now(snapshot.now.time_since_epoch().count());
  reply.set_half_life(snapshot.usage.half_life.count());
  reply.set_algorithm(config.fairshare == FairshareRule::kClassic ? "classic" : "fair-tree");
  reply.set_damping(config.damping);
}

}  // namespace

void PolicyHandler::ChangePolicy(const Call& call, const wire::ChangePolicyRequest& request,
                                 wire::ChangePolicyReply* /*reply*/) {
  auto* const reactor = call.reactor;
  absl::StatusOr<muster::ChangePolicy> input = ReadChange(request);
  if (!input.ok()) {
    call.Finish(input.status());
    return;
  }
  input->by = call.caller.user;
  controller_.Take(*std::move(input),
                   [reactor](const core::Transition&, const absl::Status& status) {
                     reactor->Finish(ToGrpc(status));
                   });
}

void PolicyHandler::ListPolicy(const Call& call, const wire::ListPolicyRequest& request,
                               wire::ListPolicyReply* reply) {
  auto* const reactor = call.reactor;
  controller_.Look([reactor, reply, kinds = Wanted(request.kinds())](
                       const StateView& state_view) -> Controller::Reply {
    for (const PolicyKind kind : kinds) {
      for (const PolicyView& view : PolicyViewsOf(state_view.state(), kind, state_view.now())) {
        ToWire(view, reply->add_objects());
      }
    }
    return [reactor](const absl::Status& status) { reactor->Finish(ToGrpc(status)); };
  });
}

void PolicyHandler::PolicyHistory(const Call& call, const wire::PolicyHistoryRequest& request,
                                  wire::PolicyHistoryReply* reply) {
  auto* const reactor = call.reactor;
  const std::uint32_t limit = request.limit() == 0 ? kHistoryDefault : request.limit();
  ReadAside(reader_, reactor,
            [this, reactor, reply, limit, name = request.name(), kinds = Wanted(request.kinds())] {
              const absl::StatusOr<std::vector<PolicyChanged>> changes =
                  store_.ReadPolicyHistory(kHistoryMax);
              if (!changes.ok()) {
                reactor->Finish(ToGrpc(changes.status()));
                return;
              }
              for (const PolicyChanged& change : *changes) {
                const bool wanted = kinds.contains(KindOf(change.object)) &&
                                    (name.empty() || NameOf(change.object) == name);
                if (wanted && static_cast<std::uint32_t>(reply->changes_size()) < limit) {
                  ToWire(muster::daemon::ViewOf(change), reply->add_changes());
                }
              }
              reactor->Finish(grpc::Status::OK);
            });
}

void PolicyHandler::ListShares(const Call& call, const wire::ListSharesRequest& request,
                               wire::ListSharesReply* reply) {
  auto* const reactor = call.reactor;
  controller_.Look([this, reactor, reply, user = request.explain_user()](
                       const StateView& state_view) -> Controller::Reply {
    const auto snapshot = core::BuildSnapshot(state_view.state(), state_view.now());
    // What has ended by now is durable once this answer leaves.
    return [this, reactor, reply, snapshot, user](const absl::Status& status) {
      ReadAside(reader_, reactor, [this, reactor, reply, snapshot, user, status] {
        AddTree(*snapshot, controller_.policy()->priority, *reply);
        absl::StatusOr<Runs> runs = Runs();
        if (!user.empty()) {
          runs = accounting_.Runs(user, WeighsSince(snapshot->now, snapshot->usage.half_life));
        }
        if (!status.ok() || !runs.ok()) {
          reactor->Finish(ToGrpc(status.ok() ? runs.status() : status));
          return;
        }
        if (!user.empty()) {
          AddRuns(*snapshot, user, *runs);
        }
        for (const auto& [account, of_account] : *runs) {
          wire::UserRuns* wire = reply->add_runs();
          wire->set_account(account);
          for (const ChargedRun& run : of_account) {
            ToWire(run, wire->add_runs());
          }
        }
        reactor->Finish(grpc::Status::OK);
      });
    };
  });
}

}  // namespace muster::daemon
