// The method of the client service that shows shares and what they are made of.

#include <map>
#include <utility>
#include <vector>

#include "daemon/client/client_service.h"
#include "proto/convert/convert.h"
#include "scheduler/core/plan/snapshot_builder.h"
#include "scheduler/core/share/live_shares.h"

namespace muster {
namespace {

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
  const LiveShares shares = LiveSharesOf(snapshot);
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

ClientService::Unary* ClientService::ListShares(Context* context,
                                                const wire::ListSharesRequest* request,
                                                wire::ListSharesReply* reply) {
  std::optional<Caller> caller;
  Unary* reactor = Admit(context, "ListShares", caller);
  if (!caller.has_value()) {
    return reactor;
  }
  controller_.Look([this, reactor, reply,
                    user = request->explain_user()](const Picture& picture) -> Controller::Reply {
    const auto snapshot = BuildSnapshot(picture.state(), picture.now());
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
  return reactor;
}

}  // namespace muster
