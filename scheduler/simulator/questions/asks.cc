#include "scheduler/simulator/questions/asks.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/core/explain/elastic_text.h"
#include "scheduler/core/handle/nodes/health_handlers.h"
#include "scheduler/core/place/locality.h"
#include "scheduler/core/place/worth/largest_gpu_job.h"
#include "scheduler/core/place/worth/placement_quality.h"
#include "scheduler/core/plan/search/elastic_size.h"
#include "scheduler/core/share/cost.h"
#include "scheduler/core/share/live_shares.h"
#include "scheduler/core/state/tables/checkpoint_account.h"
#include "scheduler/model/settings/prices.h"
#include "scheduler/model/view/view.h"
#include "scheduler/simulator/questions/drawn_questions.h"
#include "scheduler/simulator/questions/plan_check.h"
#include "scheduler/simulator/workload/draws.h"

namespace muster::sim {
namespace {

constexpr std::uint32_t kAsked = 200;   // thousandths of the cycles
constexpr std::uint32_t kChanges = 80;  // of these, of which also what would help is asked

// What is said of a placement contradicts itself.
std::optional<std::string> WrongWorth(const Job& job, const Snapshot& snapshot,
                                      const Network* network) {
  const Allocation& allocation = job.attempt->allocation;
  PlacementQuality worth = core::WorthOf(allocation, snapshot.nodes, network);
  core::Compare(job.id, allocation, job.spec->request, snapshot.nodes, network, worth);
  if (worth.local_ranks > worth.ranks) {
    return absl::StrCat("of job ", ToString(job.id), " ", worth.local_ranks, " of ", worth.ranks,
                        " ranks are said to be local");
  }
  return std::nullopt;
}

Prices DrawPrices(RandomSequence& random, Time now) {
  PriceStep first;
  first.cpu_hour = 20'000 * (1 + Draw(random, 3));
  first.gpu_hour = 2'000'000;
  first.kwh = 300'000;
  PriceStep later = first;
  later.since = now - std::chrono::seconds(Draw(random, 60));
  later.node_hour = 1'000'000;
  Prices prices{"EUR", {first}};
  if (Chance(random, 500)) {
    prices.steps.push_back(later);
  }
  if (Chance(random, 100)) {
    prices.steps.clear();
  }
  return prices;
}

std::optional<std::string> WrongCost(const Job& job, RandomSequence& random, Time now) {
  AttemptUse use;
  use.start_time = Chance(random, 50) ? kNoTime : job.attempt->started;
  use.end_time = Chance(random, 300) ? now : kNoTime;
  use.cpus = 4;
  use.node_count = 1;
  const Prices prices = DrawPrices(random, now);
  const Cost cost = core::CostOf(use, prices, now);
  use.cpus = 8;
  return core::CostOf(use, prices, now) < cost ? std::optional("more threads are said to cost less")
                                               : std::nullopt;
}

}  // namespace

std::optional<std::string> Asks::Look(const core::ClusterState& state, const Snapshot& snapshot,
                                      const Plan& plan, const SchedulerConfig& config) {
  if (config.priority.order != QueueRule::kPrompt) {
    promises_.Plan(plan, snapshot.now);
  }
  if (!Chance(random_, kAsked)) {
    return std::nullopt;
  }
  const core::PromiseReport report = promises_.Report();
  if (report.first.held > report.starts || report.last.held > report.starts) {
    return "more promises are said to have held than were made";
  }
  for (std::optional<std::string> wrong :
       {AskOfJob(state, snapshot, plan, config), AskOfNodes(state, snapshot, config),
        WrongAnswerToAnything(random_), WrongAnswerToAnything(random_),
        WrongAnswerToAnything(random_)}) {
    if (wrong.has_value()) {
      return wrong;
    }
  }
  return std::nullopt;
}

std::optional<std::string> Asks::AskOfJob(const core::ClusterState& state, const Snapshot& snapshot,
                                          const Plan& plan, const SchedulerConfig& config) {
  if (!plan.waiting.empty()) {
    const JobId job = plan.waiting[random_.Below(plan.waiting.size())].job;
    const JobId asked = Chance(random_, 50) ? JobId(1 + Draw(random_, 100)) : job;
    if (auto wrong =
            WrongAnswer(snapshot, asked, plan, config, asked == job && Chance(random_, kChanges))) {
      return wrong;
    }
  }
  for (const auto& [id, job] : state.jobs()) {
    if (!job.attempt.has_value() || !Chance(random_, 300)) {
      continue;
    }
    if (job.spec->elastic &&
        core::ElasticText(job, core::FindResize(&plan, job), snapshot.now).empty()) {
      return absl::StrCat("nothing is said of the size of elastic job ", ToString(id));
    }
    PlannedResize any;
    any.verdict = static_cast<ResizeVerdict>(random_.Below(6));
    any.gain = Chance(random_, 500) ? core::kNeverEnds : std::chrono::minutes(3);
    static_cast<void>(core::ElasticText(job, &any, snapshot.now));
    static_cast<void>(core::FindResize(nullptr, job));
    const CheckpointTotals totals = core::TotalsSoFar(job);
    if (totals.held < totals.lost) {
      return absl::StrCat("job ", ToString(id), " is said to have lost more than it held");
    }
    const Network* network = config.network.get();
    if (auto wrong = WrongWorth(job, snapshot, Chance(random_, 200) ? nullptr : network)) {
      return wrong;
    }
    if (auto wrong = WrongCost(job, random_, snapshot.now)) {
      return wrong;
    }
  }
  return std::nullopt;
}

std::optional<std::string> Asks::AskOfNodes(const core::ClusterState& state,
                                            const Snapshot& snapshot,
                                            const SchedulerConfig& config) {
  for (const LargestGpuJob& largest : core::LargestGpuJobs(snapshot.nodes, config.network.get())) {
    if (largest.on_nvlink > largest.on_node || largest.on_node > largest.anywhere ||
        largest.anywhere > largest.free || largest.free > largest.gpus) {
      return absl::StrCat("of GPUs ", largest.model, " more are said to be had together than are");
    }
  }
  for (const auto& [id, health] : state.health().nodes()) {
    static_cast<void>(core::HealthWord(health));
    if (state.health().SickPermilleOf(id, snapshot.now) > 1000) {
      return "a node is said to be sick with more than certainty";
    }
  }
  const core::LiveShares shares = core::LiveSharesOf(snapshot);
  static_cast<void>(core::ShareStatusesOf(shares.tree, config.priority));
  return std::nullopt;
}

}  // namespace muster::sim
