#include "scheduler/core/share/running_charges.h"

namespace muster::core {
namespace {

// Owners that have gone are forgotten when there are this many more than there are charges.
constexpr std::size_t kOwnersAside = 10'000;

Time Beginning(const RunningJob& job) {
  return job.started + job.suspended;
}

}  // namespace

RunningCharges::Run RunningCharges::NewRun(const RunningJob& job, const ChargingMoment& moment) {
  const auto owner = owners_.try_emplace({job.spec->account, job.spec->user.name},
                                         static_cast<std::uint32_t>(owners_.size()));
  return Run{job.id, Beginning(job), job.billing, moment.Before(job.billing, Beginning(job)),
             owner.first->second};
}

const std::vector<RunningCharges::Charge>& RunningCharges::Of(const Snapshot& snapshot) {
  const ChargingMoment moment(snapshot.now, snapshot.usage.half_life);
  if (moment.period() != period_ || snapshot.usage.half_life != half_life_ ||
      owners_.size() > charges_.size() + kOwnersAside) {
    runs_.clear();
    owners_.clear();
  }
  period_ = moment.period();
  half_life_ = snapshot.usage.half_life;
  charges_.clear();
  place_.assign(owners_.size(), 0);
  std::vector<Run> runs;
  runs.reserve(snapshot.running.size());
  auto known = runs_.begin();
  for (const RunningJob& job : snapshot.running) {
    while (known != runs_.end() && known->job < job.id) {
      ++known;
    }
    const bool is_same = known != runs_.end() && known->job == job.id &&
                         known->from == Beginning(job) && known->rate == job.billing;
    const Run& run = runs.emplace_back(is_same ? *known : NewRun(job, moment));
    place_.resize(owners_.size(), 0);
    std::uint32_t& place = place_[run.owner];
    if (place == 0) {
      charges_.push_back({&job.spec->account, &job.spec->user.name, 0, false});
      place = static_cast<std::uint32_t>(charges_.size());
    }
    Charge& charge = charges_[place - 1];
    if (snapshot.now > run.from) {
      charge.grains += moment.Grains(run.rate, run.from, run.before);
      charge.any = true;
    }
  }
  runs_ = std::move(runs);
  return charges_;
}

}  // namespace muster::core
