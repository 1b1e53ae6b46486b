#include "scheduler/core/plan/queue/queue_priority.h"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "scheduler/core/share/priority.h"
#include "scheduler/core/state/tables/usage_keys.h"

namespace muster::core {
namespace {

bool IsReckoned(const PriorityConfig& config) {
  const std::array weights = {
      config.weight_age, config.weight_fairshare, config.weight_job_size, config.weight_partition,
      config.weight_qos, config.weight_cpu,       config.weight_memory,   config.weight_gpu};
  return std::any_of(weights.begin(), weights.end(), [](std::uint32_t w) { return w > 0; });
}

void AddFactor(const char* name, std::uint32_t weight, Factor factor, PriorityRequest& request) {
  if (weight > 0) {
    request.factors.push_back({name, weight, factor});
  }
}

}  // namespace

QueuePriority::QueuePriority(const Snapshot& snapshot, const SchedulerConfig& config,
                             std::optional<Amounts>* whole, RunningCharges* charges)
    : snapshot_(snapshot),
      config_(config.priority),
      charges_(charges),
      reckoned_(IsReckoned(config.priority)),
      tiers_(snapshot.policy == nullptr ? nullptr : snapshot.policy->site.get()) {
  if (reckoned_ || config_.order != QueueRule::kPriority) {
    if (whole != nullptr && !whole->has_value()) {
      *whole = WholeOf(snapshot.nodes);
    }
    whole_ = whole == nullptr ? WholeOf(snapshot.nodes) : **whole;
  }
  if (snapshot.policy != nullptr) {
    for (const auto& [name, partition] : snapshot.policy->site->partitions) {
      partition_max_ = std::max(partition_max_, partition.priority_job_factor);
    }
    for (const auto& [name, qos] : snapshot.policy->site->qos) {
      qos_max_ = std::max(qos_max_, qos.priority);
    }
  }
  if (config_.order == QueueRule::kPrompt) {
    backlog_.emplace(snapshot, whole_);
    prompt_keys_.emplace(snapshot, config, *backlog_);
  }
}

Factor QueuePriority::FairshareOf(const JobSpec& spec) const {
  if (!shares_.has_value()) {
    shares_ = charges_ == nullptr ? LiveSharesOf(snapshot_) : LiveSharesOf(snapshot_, *charges_);
    for (const ShareStatus& fairshare : ShareStatusesOf(shares_->tree, config_).associations) {
      fairshare_.push_back(fairshare.factor);
    }
  }
  return fairshare_[shares_->PositionOf(spec)];
}

Priority QueuePriority::Of(const WaitingJob& job) const {
  const JobSpec& spec = *job.spec;
  PriorityRequest request;
  if (spec.priority > 0) {
    request.site = spec.priority;
    return MakePriority(request);
  }
  request.site = kBasePriority;
  request.nice = spec.nice;
  const Time eligible = std::max(job.submitted, spec.begin);
  AddFactor("age", config_.weight_age, AgeFactor(snapshot_.now - eligible, config_.max_age),
            request);
  if (config_.weight_fairshare > 0) {
    AddFactor("fairshare", config_.weight_fairshare, FairshareOf(spec), request);
  }
  AddSizeFactors(spec, request);
  AddPolicyFactors(spec, request);
  return MakePriority(request);
}

void QueuePriority::AddSizeFactors(const JobSpec& spec, PriorityRequest& request) const {
  const TresUse ask = LeastUse(spec.request);
  const Factor part = RatioFactor(ask.cpus, whole_.cpus);
  AddFactor("jobsize", config_.weight_job_size,
            config_.favor_small ? Factor(kWholeFactor.value() - part.value()) : part, request);
  AddFactor("tres/cpu", config_.weight_cpu, part, request);
  AddFactor("tres/mem", config_.weight_memory, RatioFactor(ask.memory, whole_.memory.value()),
            request);
  AddFactor("tres/gres/gpu", config_.weight_gpu, RatioFactor(GpusOf(ask), whole_.gpu_share),
            request);
}

void QueuePriority::AddPolicyFactors(const JobSpec& spec, PriorityRequest& request) const {
  if (snapshot_.policy == nullptr) {
    return;
  }
  const SitePolicy& site = *snapshot_.policy->site;
  std::uint32_t factor = 0;
  for (const std::string& name : PartitionNames(spec)) {
    const Partition* partition = FindPartition(site, name);
    factor = std::max(factor, partition == nullptr ? 0 : partition->priority_job_factor);
  }
  AddFactor("partition", config_.weight_partition, RatioFactor(factor, partition_max_), request);
  const Qos* qos = FindQos(site, EffectiveQos(spec.qos));
  AddFactor("qos", config_.weight_qos, RatioFactor(qos == nullptr ? 0 : qos->priority, qos_max_),
            request);
}

std::vector<QueueEntry> QueuePriority::Order(std::vector<std::uint32_t>* totals) const {
  std::vector<QueueEntry> order = OrderOfAll(totals);
  const auto resizes = [this](const QueueEntry& queued) {
    return snapshot_.waiting[queued.entry].resizing;
  };
  if (std::any_of(order.begin(), order.end(), resizes)) {
    std::stable_partition(order.begin(), order.end(), resizes);
  }
  return order;
}

std::vector<QueueEntry> QueuePriority::OrderOfAll(std::vector<std::uint32_t>* totals) const {
  const std::size_t count = snapshot_.waiting.size();
  if (count == 1 && config_.order != QueueRule::kDrf) {
    totals->clear();
    return {QueueEntry{0, 0, snapshot_.waiting.front().count}};
  }
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  totals->assign(count, 0);
  std::vector<std::uint64_t> tiers(count, 0);
  for (std::size_t i = 0; i < count && tiers_.differ(); ++i) {
    tiers[i] = tiers_.Of(*snapshot_.waiting[i].spec);
  }
  if (config_.order == QueueRule::kPrompt) {
    order = ByPromptKey(tiers, totals);
  } else if (reckoned_ || tiers_.differ()) {
    for (std::size_t i = 0; i < count && reckoned_; ++i) {
      (*totals)[i] = Of(snapshot_.waiting[i]).total;
    }
    // The snapshot's own order decides ties.
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(tiers[b], (*totals)[b]) < std::tuple(tiers[a], (*totals)[a]);
    });
  }
  std::vector<QueueEntry> entries;
  entries.reserve(count);
  if (config_.order != QueueRule::kDrf) {
    for (const std::uint32_t entry : order) {
      entries.push_back(QueueEntry{entry, 0, snapshot_.waiting[entry].count});
    }
    return entries;
  }
  for (auto first = order.begin(); first != order.end();) {
    const auto last =
        std::find_if(first, order.end(), [&](auto i) { return tiers[i] != tiers[*first]; });
    AddByDominantShare({first, last}, entries);
    first = last;
  }
  return entries;
}

std::vector<std::uint32_t> QueuePriority::ByPromptKey(const std::vector<std::uint64_t>& tiers,
                                                      std::vector<std::uint32_t>* totals) const {
  struct Key {
    std::uint64_t tier = 0;
    bool is_patient = true;
    std::int64_t key = 0;
    JobId job;
    std::uint32_t entry = 0;
  };
  std::vector<Key> keys;
  keys.reserve(tiers.size());
  for (std::uint32_t i = 0; i < tiers.size(); ++i) {
    const WaitingJob& job = snapshot_.waiting[i];
    const bool is_patient = !prompt_keys_->IsImpatient(job);
    const std::int64_t key = KeyOf(job, &(*totals)[i]);
    keys.push_back({tiers[i], is_patient, is_patient ? key : 0, job.id, i});
  }
  std::sort(keys.begin(), keys.end(), [](const Key& a, const Key& b) {
    return std::tuple(b.tier, a.is_patient, a.key, a.job) <
           std::tuple(a.tier, b.is_patient, b.key, b.job);
  });
  std::vector<std::uint32_t> order;
  order.reserve(keys.size());
  for (const Key& key : keys) {
    order.push_back(key.entry);
  }
  return order;
}

// Age is in the key already, and fair share is the fairshare.
std::int64_t QueuePriority::KeyOf(const WaitingJob& job, std::uint32_t* total) const {
  if (!reckoned_) {
    return prompt_keys_->KeyOf(job, kWholeFactor, PlainPriority(*job.spec) - kBasePriority);
  }
  const Priority priority = Of(job);
  *total = priority.total;
  std::int64_t points = std::int64_t{priority.total} - kBasePriority;
  Factor fairshare = kWholeFactor;
  for (const PriorityTerm& term : priority.terms) {
    if (term.name == "age" || term.name == "fairshare") {
      points -= term.points;
    }
    fairshare = term.name == "fairshare" ? term.factor : fairshare;
  }
  return prompt_keys_->KeyOf(job, fairshare, points);
}

// Dominant resource fairness (Ghodsi et al., NSDI 2011, algorithm 1) over the users' queues: each
// user's jobs stay in their order, and the next job is of the user whose dominant share, with the
// jobs before it, is least.
void QueuePriority::AddByDominantShare(const std::vector<std::uint32_t>& tier,
                                       std::vector<QueueEntry>& order) const {
  std::map<std::string, Amounts> held;
  for (const RunningJob& job : snapshot_.running) {
    held[job.spec->user.name] += HeldBy(job);
  }
  std::map<std::string, std::deque<QueueEntry>> queues;
  for (const std::uint32_t entry : tier) {
    const WaitingJob& job = snapshot_.waiting[entry];
    queues[job.spec->user.name].push_back(QueueEntry{entry, 0, job.count});
  }
  std::set<std::pair<std::uint64_t, std::string>> next;
  for (const auto& [user, queue] : queues) {
    next.emplace(DominantShare(held[user], whole_), user);
  }
  while (!next.empty()) {
    const std::string user = next.extract(next.begin()).value().second;
    std::deque<QueueEntry>& queue = queues[user];
    QueueEntry& head = queue.front();
    order.push_back(QueueEntry{head.entry, head.first, 1});
    held[user] += AskOf(*snapshot_.waiting[head.entry].spec);
    ++head.first;
    if (--head.count == 0) {
      queue.pop_front();
    }
    if (!queue.empty()) {
      next.emplace(DominantShare(held[user], whole_), user);
    }
  }
}

}  // namespace muster::core
