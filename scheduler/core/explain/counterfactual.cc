#include "scheduler/core/explain/counterfactual.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/core/place/nodes/node_timeline.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/planner.h"
#include "scheduler/core/plan/queue/queue_priority.h"
#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "scheduler/core/policy/permission.h"
#include "scheduler/core/state/tables/usage_keys.h"

namespace muster::core {
namespace {

using Change = std::function<void(JobSpec&)>;

struct Variant {
  std::string option;  // as one would write it
  Change change;
};

// The snapshot without the jobs behind this one, in the order in which a cycle looks at them.
struct Ahead {
  Snapshot snapshot;
  std::size_t components = 1;  // how many of the last that wait are the job
};

// Nothing when the job is not there.
std::optional<Ahead> UpTo(const Snapshot& snapshot, JobId job, const SchedulerConfig& config) {
  std::vector<std::uint32_t> totals;
  std::vector<WaitingJob> queue;
  for (const QueueEntry& queued : QueuePriority(snapshot, config).Order(&totals)) {
    const WaitingJob& entry = snapshot.waiting[queued.entry];
    if (entry.het_size > 0) {
      if (entry.id != entry.submission) {
        continue;  // a whole group has its leader's place
      }
      std::copy_if(snapshot.waiting.begin(), snapshot.waiting.end(), std::back_inserter(queue),
                   [&](const WaitingJob& other) { return other.submission == entry.id; });
      if (job >= entry.id && job.value() - entry.id.value() < entry.het_size) {
        Ahead ahead{snapshot, entry.het_size};
        ahead.snapshot.waiting = std::move(queue);
        return ahead;
      }
      continue;
    }
    const std::uint64_t offset = job.value() - entry.id.value();
    if (offset < queued.first || offset - queued.first >= queued.count) {
      queue.push_back(ElementsOf(entry, queued.first, queued.count));
      continue;
    }
    const auto before = static_cast<std::uint32_t>(offset - queued.first);
    if (before > 0) {
      queue.push_back(ElementsOf(entry, queued.first, before));
    }
    queue.push_back(ElementsOf(entry, queued.first + before));
    Ahead ahead{snapshot};
    ahead.snapshot.waiting = std::move(queue);
    return ahead;
  }
  return std::nullopt;
}

// Of the job that is asked for; `job` is it, or one of its components.
Forecast ForecastOfLast(const Ahead& ahead, JobId job, const SchedulerConfig& config) {
  SchedulerConfig all = config;
  all.backfill = Backfill::kConservative;
  all.priority = PriorityConfig();  // they stand in order
  const std::vector<WaitingJob>& waiting = ahead.snapshot.waiting;
  const JobId first = waiting[waiting.size() - ahead.components].id;
  const auto is_of_it = [&](JobId id) {
    return id >= first && id.value() - first.value() < ahead.components;
  };
  const Plan plan = MakePlan(ahead.snapshot, all);
  Forecast forecast;
  for (const PlannedStart& start : plan.starts) {
    if (is_of_it(start.job)) {
      forecast.start = ahead.snapshot.now;
      for (const NodeAllocation& part : start.allocation.nodes) {
        forecast.nodes.push_back(part.node);
      }
    }
  }
  for (const PlannedReservation& reservation : plan.reservations) {
    if (is_of_it(reservation.job)) {
      forecast.start = reservation.start;
      for (const ReservedNode& reserved : reservation.nodes) {
        forecast.nodes.push_back(reserved.node);
      }
    }
  }
  std::sort(forecast.nodes.begin(), forecast.nodes.end());
  forecast.nodes.erase(std::unique(forecast.nodes.begin(), forecast.nodes.end()),
                       forecast.nodes.end());
  for (const LeftWaiting& left : plan.waiting) {
    if (left.Has(job)) {
      forecast.reason = left.ReasonOf(job);
    }
  }
  return forecast;
}

std::string TimeOption(Duration limit) {
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(limit).count();
  return absl::StrFormat("--time=%d:%02d:00", minutes / 60, minutes % 60);
}

// Shorter limits, the longest first.
std::vector<Variant> ShorterTimes(const JobSpec& spec) {
  std::vector<Duration> limits;
  const Duration limit = PlannedDuration(spec.time_limit);
  if (limit.count() == 0) {
    limits = {std::chrono::hours(24), std::chrono::hours(4), std::chrono::hours(1),
              std::chrono::minutes(15)};
  } else {
    for (Duration shorter = limit / 2; shorter >= std::chrono::minutes(1) && limits.size() < 4;
         shorter /= 2) {
      limits.emplace_back(std::chrono::floor<std::chrono::minutes>(shorter));
    }
  }
  std::vector<Variant> variants;
  variants.reserve(limits.size());
  for (const Duration shorter : limits) {
    variants.push_back({TimeOption(shorter), [shorter](JobSpec& s) { s.time_limit = shorter; }});
  }
  return variants;
}

void AddGpuVariant(const ResourceRequest& request, std::vector<Variant>& variants) {
  const GpuRequest& gpus = GpuKind(request);
  if (gpus.count > 0 && !gpus.type.empty()) {
    variants.push_back({absl::StrCat("any GPU in place of ", gpus.type), [](JobSpec& spec) {
                          spec.request.gpus_per_task.type.clear();
                          spec.request.gpus_per_node.type.clear();
                        }});
  }
  if (gpus.count > 0 && !gpus.memory.zero()) {
    variants.push_back({"GPUs with any memory", [](JobSpec& spec) {
                          spec.request.gpus_per_task.memory = Bytes();
                          spec.request.gpus_per_node.memory = Bytes();
                        }});
  }
}

// Everything but time, one thing at a time.
std::vector<Variant> SmallerRequests(const JobSpec& spec) {
  const ResourceRequest& request = spec.request;
  std::vector<Variant> variants;
  if (request.min_nodes > 1 && request.tasks_per_node == 0) {
    variants.push_back({absl::StrCat("--nodes=1-", request.max_nodes),
                        [](JobSpec& s) { s.request.min_nodes = 1; }});
  }
  if (request.tasks > 1) {
    const std::uint32_t half = request.tasks / 2;
    variants.push_back({absl::StrCat("--ntasks=", half), [half](JobSpec& s) {
                          s.request.tasks = half;
                          s.request.max_nodes = std::min(s.request.max_nodes, half);
                          s.request.min_nodes = std::min(s.request.min_nodes, half);
                        }});
  }
  if (request.cpus_per_task > 1) {
    const std::uint32_t half = request.cpus_per_task / 2;
    variants.push_back({absl::StrCat("--cpus-per-task=", half),
                        [half](JobSpec& s) { s.request.cpus_per_task = half; }});
  }
  if (request.memory_per_node.value() > kMebibyte.value()) {
    const Bytes half(request.memory_per_node.value() / 2);
    variants.push_back({absl::StrCat("--mem=", half.value() / kMebibyte.value(), "M"),
                        [half](JobSpec& s) { s.request.memory_per_node = half; }});
  }
  if (request.exclusive) {
    variants.push_back({"no --exclusive", [](JobSpec& s) { s.request.exclusive = false; }});
  }
  if (request.exclusive_user) {
    variants.push_back(
        {"no --exclusive-user", [](JobSpec& s) { s.request.exclusive_user = false; }});
  }
  if (request.switches > 0) {
    variants.push_back({"no --switches", [](JobSpec& s) { s.request.switches = 0; }});
  }
  if (request.segment > 1) {
    variants.push_back({"no --segment", [](JobSpec& s) { s.request.segment = 0; }});
  }
  AddGpuVariant(request, variants);
  return variants;
}

// GPUs that others use, where there are some.
std::vector<Variant> OccupiedGpus(const Snapshot& snapshot, const JobSpec& spec) {
  const bool hides =
      std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(),
                  [&spec](const NodeSnapshot& node) { return HidesGpus(node, spec.request); });
  if (!hides) {
    return {};
  }
  return {{"--gpu-occupied=ok", [](JobSpec& s) { s.request.gpu_occupied = true; }}};
}

// Other partitions that take the job.
std::vector<Variant> OtherPartitions(const Snapshot& snapshot, const JobSpec& spec) {
  std::vector<Variant> variants;
  if (snapshot.policy == nullptr) {
    return variants;
  }
  const std::vector<std::string> named = PartitionNames(spec);
  for (const auto& [name, partition] : snapshot.policy->site->partitions) {
    if (std::find(named.begin(), named.end(), name) != named.end() ||
        !MayUsePartition(partition, spec).ok()) {
      continue;
    }
    variants.push_back(
        {absl::StrCat("--partition=", name), [other = name](JobSpec& s) { s.partition = other; }});
  }
  return variants;
}

bool IsSooner(Time start, Time than) {
  return start != kNoTime && (than == kNoTime || start < than);
}

// Plans with one variant after the other in place of one component's request.
class Trial {
 public:
  Trial(Ahead ahead, std::size_t component, Time as_it_is, const SchedulerConfig& config)
      : ahead_(std::move(ahead)),
        place_(ahead_.snapshot.waiting.size() - ahead_.components + component),
        prefix_(ahead_.components > 1 ? absl::StrCat("component ", component, ": ") : ""),
        config_(config),
        spec_(ahead_.snapshot.waiting[place_].spec),
        as_it_is_(as_it_is) {}

  // All that help; of shorter limits the longest.
  void Run(std::vector<Suggestion>& suggestions) {
    for (const Variant& variant : ShorterTimes(*spec_)) {
      if (Try(variant, suggestions)) {
        break;  // a shorter one still is no better advice
      }
    }
    for (const Variant& variant : SmallerRequests(*spec_)) {
      Try(variant, suggestions);
    }
    for (const Variant& variant : OccupiedGpus(ahead_.snapshot, *spec_)) {
      Try(variant, suggestions);
    }
    for (const Variant& variant : OtherPartitions(ahead_.snapshot, *spec_)) {
      Try(variant, suggestions);
    }
  }

 private:
  bool Try(const Variant& variant, std::vector<Suggestion>& suggestions) {
    JobSpec changed = *spec_;
    variant.change(changed);
    WaitingJob& job = ahead_.snapshot.waiting[place_];
    job.spec = std::make_shared<const JobSpec>(std::move(changed));
    const Time start = ForecastOfLast(ahead_, job.id, config_).start;
    if (!IsSooner(start, as_it_is_)) {
      return false;
    }
    suggestions.push_back(Suggestion{prefix_ + variant.option, start});
    return true;
  }

  Ahead ahead_;
  const std::size_t place_;
  const std::string prefix_;
  const SchedulerConfig& config_;
  const std::shared_ptr<const JobSpec> spec_;
  const Time as_it_is_;
};

}  // namespace

Forecast ForecastOf(const Snapshot& snapshot, JobId job, const SchedulerConfig& config) {
  const std::optional<Ahead> ahead = UpTo(snapshot, job, config);
  return ahead.has_value() ? ForecastOfLast(*ahead, job, config) : Forecast();
}

std::vector<Suggestion> SuggestChanges(const Snapshot& snapshot, JobId job,
                                       const SchedulerConfig& config) {
  std::vector<Suggestion> suggestions;
  const std::optional<Ahead> ahead = UpTo(snapshot, job, config);
  if (!ahead.has_value()) {
    return suggestions;
  }
  const Time as_it_is = ForecastOfLast(*ahead, job, config).start;
  for (std::size_t i = 0; i < ahead->components; ++i) {
    Trial(*ahead, i, as_it_is, config).Run(suggestions);
  }
  std::stable_sort(suggestions.begin(), suggestions.end(),
                   [](const Suggestion& a, const Suggestion& b) { return a.start < b.start; });
  return suggestions;
}

}  // namespace muster::core
