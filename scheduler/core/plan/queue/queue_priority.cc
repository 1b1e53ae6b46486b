#include "scheduler/core/plan/queue/queue_priority.h"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <set>
#include <string>
#include <tuple>

#include "absl/numeric/int128.h"
#include "scheduler/core/plan/queue/queue_order.h"
#include "scheduler/core/share/priority.h"
#include "scheduler/core/state/books/usage_keys.h"

namespace muster::core {
namespace {

constexpr std::uint64_t kShareParts = 1'000'000'000'000;  // of which a dominant share is made

bool IsReckoned(const PriorityConfig& config) {
  const std::array weights = {
      config.weight_age, config.weight_fairshare, config.weight_job_size, config.weight_partition,
      config.weight_qos, config.weight_cpu,       config.weight_memory,   config.weight_gpu};
  return std::any_of(weights.begin(), weights.end(), [](std::uint32_t w) { return w > 0; });
}

// Thousandths of GPUs.
std::uint64_t GpusOf(const TresUse& use) {
  std::uint64_t gpus = 0;
  for (const auto& [model, thousandths] : use.gpus) {
    gpus += thousandths;
  }
  return gpus;
}

void AddFactor(const char* name, std::uint32_t weight, Factor factor, PriorityRequest& request) {
  if (weight > 0) {
    request.factors.push_back({name, weight, factor});
  }
}

std::uint64_t ShareOf(std::uint64_t amount, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<std::uint64_t>(absl::uint128(amount) * kShareParts / whole);
}

// CPUs, bytes and thousandths of GPUs.
using Amounts = std::array<std::uint64_t, 3>;

void Add(const Amounts& more, Amounts& amounts) {
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    amounts[i] += more[i];
  }
}

std::uint64_t DominantShare(const Amounts& held, const Amounts& whole) {
  std::uint64_t share = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    share = std::max(share, ShareOf(held[i], whole[i]));
  }
  return share;
}

Amounts AskOf(const JobSpec& spec) {
  const TresUse use = LeastUse(spec.request);
  return {use.cpus, use.memory, GpusOf(use)};
}

}  // namespace

WholeCluster WholeOf(const std::vector<NodeSnapshot>& nodes) {
  WholeCluster whole;
  std::map<const Machine*, std::uint32_t> threads;
  for (const NodeSnapshot& node : nodes) {
    const auto [known, is_new] = threads.emplace(node.machine.get(), 0);
    if (is_new) {
      known->second = AllCpus(*node.machine).Count();
    }
    whole.cpus += known->second;
    whole.memory += node.machine->memory.value();
    whole.gpus += node.machine->gpus.size() * kWholeGpu.value();
  }
  return whole;
}

QueuePriority::QueuePriority(const Snapshot& snapshot, const PolicyConfig& config,
                             std::optional<WholeCluster>* whole, RunningCharges* charges)
    : snapshot_(snapshot),
      config_(config.priority),
      reckoned_(IsReckoned(config.priority)),
      tiers_(snapshot.policy == nullptr ? nullptr : snapshot.policy->book.get()) {
  if (reckoned_ || config_.order == QueueRule::kDrf) {
    if (whole != nullptr && !whole->has_value()) {
      *whole = WholeOf(snapshot.nodes);
    }
    whole_ = whole == nullptr ? WholeOf(snapshot.nodes) : **whole;
  }
  if (snapshot.policy != nullptr) {
    for (const auto& [name, partition] : snapshot.policy->book->partitions) {
      partition_max_ = std::max(partition_max_, partition.priority_job_factor);
    }
    for (const auto& [name, qos] : snapshot.policy->book->qos) {
      qos_max_ = std::max(qos_max_, qos.priority);
    }
  }
  if (config_.weight_fairshare > 0) {
    shares_ = charges == nullptr ? LiveSharesOf(snapshot) : LiveSharesOf(snapshot, *charges);
    for (const ShareStanding& standing : Standings(shares_->tree, config_).associations) {
      fairshare_.push_back(standing.factor);
    }
  }
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
  if (shares_.has_value()) {
    AddFactor("fairshare", config_.weight_fairshare, fairshare_[shares_->PositionOf(spec)],
              request);
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
  AddFactor("tres/mem", config_.weight_memory, RatioFactor(ask.memory, whole_.memory), request);
  AddFactor("tres/gres/gpu", config_.weight_gpu, RatioFactor(GpusOf(ask), whole_.gpus), request);
}

void QueuePriority::AddPolicyFactors(const JobSpec& spec, PriorityRequest& request) const {
  if (snapshot_.policy == nullptr) {
    return;
  }
  const PolicyBook& book = *snapshot_.policy->book;
  std::uint32_t factor = 0;
  for (const std::string& name : PartitionNames(spec)) {
    const Partition* partition = FindPartition(book, name);
    factor = std::max(factor, partition == nullptr ? 0 : partition->priority_job_factor);
  }
  AddFactor("partition", config_.weight_partition, RatioFactor(factor, partition_max_), request);
  const Qos* qos = FindQos(book, EffectiveQos(spec.qos));
  AddFactor("qos", config_.weight_qos, RatioFactor(qos == nullptr ? 0 : qos->priority, qos_max_),
            request);
}

std::vector<QueueEntry> QueuePriority::Order(std::vector<std::uint32_t>* totals) const {
  std::vector<QueueEntry> turns = OrderOfAll(totals);
  const auto resizes = [this](const QueueEntry& turn) {
    return snapshot_.waiting[turn.entry].resizing;
  };
  if (std::any_of(turns.begin(), turns.end(), resizes)) {
    std::stable_partition(turns.begin(), turns.end(), resizes);
  }
  return turns;
}

std::vector<QueueEntry> QueuePriority::OrderOfAll(std::vector<std::uint32_t>* totals) const {
  const std::size_t count = snapshot_.waiting.size();
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  totals->assign(count, 0);
  std::vector<std::uint64_t> tiers(count, 0);
  for (std::size_t i = 0; i < count && (reckoned_ || tiers_.differ()); ++i) {
    const WaitingJob& job = snapshot_.waiting[i];
    (*totals)[i] = reckoned_ ? Of(job).total : 0;
    tiers[i] = tiers_.Of(*job.spec);
  }
  if (reckoned_ || tiers_.differ()) {
    // The snapshot's own order decides ties.
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(tiers[b], (*totals)[b]) < std::tuple(tiers[a], (*totals)[a]);
    });
  }
  std::vector<QueueEntry> turns;
  turns.reserve(count);
  if (config_.order != QueueRule::kDrf) {
    for (const std::uint32_t entry : order) {
      turns.push_back(QueueEntry{entry, 0, snapshot_.waiting[entry].count});
    }
    return turns;
  }
  for (auto first = order.begin(); first != order.end();) {
    const auto last =
        std::find_if(first, order.end(), [&](auto i) { return tiers[i] != tiers[*first]; });
    AddByDominantShare({first, last}, turns);
    first = last;
  }
  return turns;
}

// Dominant resource fairness (Ghodsi et al., NSDI 2011, algorithm 1) over the users' queues: each
// user's jobs stay in their order, and the next job is of the user whose dominant share, with the
// jobs before it, is least.
void QueuePriority::AddByDominantShare(const std::vector<std::uint32_t>& tier,
                                       std::vector<QueueEntry>& turns) const {
  const Amounts whole = {whole_.cpus, whole_.memory, whole_.gpus};
  std::map<std::string, Amounts> held;
  for (const RunningJob& job : snapshot_.running) {
    const std::uint64_t gpus = job.spec->request.gpu_share.zero()
                                   ? std::uint64_t{job.gpus} * kWholeGpu.value()
                                   : GpusOf(LeastUse(job.spec->request));
    Add({job.cpus, job.memory.value(), gpus}, held[job.spec->user.name]);
  }
  std::map<std::string, std::deque<QueueEntry>> queues;
  for (const std::uint32_t entry : tier) {
    const WaitingJob& job = snapshot_.waiting[entry];
    queues[job.spec->user.name].push_back(QueueEntry{entry, 0, job.count});
  }
  std::set<std::pair<std::uint64_t, std::string>> next;
  for (const auto& [user, queue] : queues) {
    next.emplace(DominantShare(held[user], whole), user);
  }
  while (!next.empty()) {
    const std::string user = next.extract(next.begin()).value().second;
    std::deque<QueueEntry>& queue = queues[user];
    QueueEntry& head = queue.front();
    turns.push_back(QueueEntry{head.entry, head.first, 1});
    Add(AskOf(*snapshot_.waiting[head.entry].spec), held[user]);
    ++head.first;
    if (--head.count == 0) {
      queue.pop_front();
    }
    if (!queue.empty()) {
      next.emplace(DominantShare(held[user], whole), user);
    }
  }
}

}  // namespace muster::core
