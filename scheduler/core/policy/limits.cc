#include "scheduler/core/policy/limits.h"

#include <algorithm>
#include <array>
#include <limits>

#include "absl/strings/str_cat.h"
#include "scheduler/core/state/tables/charge.h"
#include "scheduler/core/state/tables/usage_keys.h"

namespace muster::core {
namespace {

constexpr std::size_t kHoldersShown = 8;
constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

using Kinds = std::array<ReasonKind, 5>;  // by TresKind
constexpr Kinds kAssocGrp = {ReasonKind::kAssocGrpCpuLimit, ReasonKind::kAssocGrpMemLimit,
                             ReasonKind::kAssocGrpNodeLimit, ReasonKind::kAssocGrpGRES,
                             ReasonKind::kAssocGrpGRES};
constexpr Kinds kAssocPerJob = {ReasonKind::kAssocMaxCpuPerJobLimit, ReasonKind::kAssocMaxMemPerJob,
                                ReasonKind::kAssocMaxNodePerJobLimit,
                                ReasonKind::kAssocMaxGRESPerJob, ReasonKind::kAssocMaxGRESPerJob};
constexpr Kinds kQosGrp = {ReasonKind::kQOSGrpCpuLimit, ReasonKind::kQOSGrpMemLimit,
                           ReasonKind::kQOSGrpNodeLimit, ReasonKind::kQOSGrpGRES,
                           ReasonKind::kQOSGrpGRES};
constexpr Kinds kQosPerUser = {ReasonKind::kQOSMaxCpuPerUserLimit, ReasonKind::kQOSMaxMemPerUser,
                               ReasonKind::kQOSMaxNodePerUserLimit, ReasonKind::kQOSMaxGRESPerUser,
                               ReasonKind::kQOSMaxGRESPerUser};
constexpr Kinds All(ReasonKind kind) {
  return {kind, kind, kind, kind, kind};
}

// The amount of what a limit names; GPUs in thousandths.
std::uint64_t AmountOf(const TresUse& use, const Tres& tres) {
  switch (tres.kind) {
    case TresKind::kCpu:
      return use.cpus;
    case TresKind::kMemory:
      return use.memory;
    case TresKind::kNode:
      return use.nodes;
    case TresKind::kGres: {
      const auto found = use.gres.find(tres.type);
      return found == use.gres.end() ? 0 : found->second;
    }
    case TresKind::kGpu:
      break;
  }
  std::uint64_t amount = 0;
  for (const auto& [model, share] : use.gpus) {
    amount += model.find(tres.type) != std::string::npos ? share : 0;
  }
  return amount;
}

std::uint64_t CapOf(const Tres& tres) {
  return tres.kind == TresKind::kGpu ? tres.count * kWholeGpu.value() : tres.count;
}

// GPUs as whole ones, rounded up.
std::uint64_t Shown(const Tres& tres, std::uint64_t amount) {
  return tres.kind == TresKind::kGpu ? (amount + kWholeGpu.value() - 1) / kWholeGpu.value()
                                     : amount;
}

// One limit that is looked at: whom it counts, what is used, what there may be.
struct Look {
  ReasonKind kind = ReasonKind::kNone;
  std::string name;
  UsageKey key;
  std::uint64_t used = 0;
  std::uint64_t needed = 0;
  std::uint64_t cap = 0;
};

bool Breaks(const Look& look) {
  return look.needed > look.cap || look.used > look.cap - look.needed;
}

Reason ReasonOf(const Look& look) {
  Reason reason;
  reason.kind = look.kind;
  reason.name = look.name;
  reason.used = look.used;
  reason.needed = look.needed;
  reason.capacity = look.cap;
  reason.verdict = look.needed > look.cap ? ReasonClass::kNever : ReasonClass::kNotNow;
  return reason;
}

// Who holds it, and by when enough of it is free: after the ends of as many as are needed.
template <class HeldBy>
void AddHolders(const CycleUsage& usage, const Look& look, const HeldBy& held_by, Reason& reason) {
  if (reason.verdict == ReasonClass::kNever) {
    return;
  }
  std::uint64_t left = look.used;
  bool known = true;
  for (const RunningCharge* holder : usage.HoldersOf(look.key)) {
    const std::uint64_t held = held_by(*holder);
    if (held == 0) {
      continue;
    }
    if (reason.holders.size() < kHoldersShown) {
      reason.holders.push_back(holder->job);
    }
    known = known && holder->ends != kNoTime;
    left -= std::min(left, held);
    if (known && reason.until == kNoTime && left <= look.cap - look.needed) {
      reason.until = holder->ends;
    }
  }
}

class Checker {
 public:
  Checker(const CycleUsage& usage, const LimitAsk& ask)
      : usage_(usage), site_(*usage.snapshot().site), ask_(ask) {}

  std::vector<Reason> Run() {
    for (const std::string& account : ChargedAccounts(site_, ask_.spec->account)) {
      if (const AccountRules* rules = FindAccount(site_, account)) {
        Group(rules->limits, UsageKey{UsageScope::kAccount, account, ""},
              absl::StrCat("account ", account), false);
      }
    }
    Association();
    for (const std::string& name : QosOf(site_, ask_.spec->qos, {ask_.partition})) {
      if (const Qos* qos = FindQos(site_, name)) {
        OfQos(*qos);
      }
    }
    return std::move(reasons_);
  }

 private:
  void Association() {
    const std::string& account = ask_.spec->account;
    const std::string& user = ask_.spec->user.name;
    const UsageKey key{UsageScope::kAssociation, account, user};
    const std::string name = absl::StrCat("user ", user, " in account ", account);
    if (const AssociationRules* rules = FindAssociation(site_, account, user)) {
      Group(rules->limits, key, name, false);
    }
    for (const Limits* limits : Nearest()) {
      if (limits->max_jobs.has_value()) {
        Jobs(ReasonKind::kAssocMaxJobsLimit, *limits->max_jobs, key, name);
        break;
      }
    }
  }

  // The association's limits and those of its accounts, the nearest first.
  std::vector<const Limits*> Nearest() {
    std::vector<const Limits*> nearest;
    if (const AssociationRules* own =
            FindAssociation(site_, ask_.spec->account, ask_.spec->user.name)) {
      nearest.push_back(&own->limits);
    }
    for (const std::string& account : ChargedAccounts(site_, ask_.spec->account)) {
      if (const AccountRules* rules = FindAccount(site_, account)) {
        nearest.push_back(&rules->limits);
      }
    }
    return nearest;
  }

  void OfQos(const Qos& qos) {
    const Limits& limits = qos.limits;
    const std::string name = absl::StrCat("qos ", qos.name);
    const std::string& user = ask_.spec->user.name;
    const std::string& account = ask_.spec->account;
    Group(limits, UsageKey{UsageScope::kQos, qos.name, ""}, name, true);
    const UsageKey of_user{UsageScope::kQosUser, qos.name, user};
    const UsageKey of_account{UsageScope::kQosAccount, qos.name, account};
    const std::string users = absl::StrCat(name, " of user ", user);
    const std::string accounts = absl::StrCat(name, " of account ", account);
    Held(limits.max_tres_per_user, kQosPerUser, of_user, users);
    Held(limits.max_tres_per_account, All(ReasonKind::kQOSMaxTRESPerAccount), of_account, accounts);
    if (limits.max_jobs.has_value()) {
      Jobs(ReasonKind::kQOSMaxJobsPerUserLimit, *limits.max_jobs, of_user, users);
    }
    if (limits.max_jobs_per_account.has_value()) {
      Jobs(ReasonKind::kQOSMaxJobsPerAccountLimit, *limits.max_jobs_per_account, of_account,
           accounts);
    }
  }

  // The Grp limits of an account, an association or a QOS.
  void Group(const Limits& limits, const UsageKey& key, const std::string& name, bool qos) {
    Held(limits.grp_tres, qos ? kQosGrp : kAssocGrp, key, name);
    if (limits.grp_jobs.has_value()) {
      Jobs(qos ? ReasonKind::kQOSGrpJobsLimit : ReasonKind::kAssocGrpJobsLimit, *limits.grp_jobs,
           key, name);
    }
    if (HasBudget(limits)) {
      Budget(limits, key, name, qos);
    }
  }

  void Held(const TresList& caps, const Kinds& kinds, const UsageKey& key,
            const std::string& name) {
    if (caps.empty()) {
      return;
    }
    const UseCount count = usage_.Of(key);
    for (const Tres& tres : caps) {
      const Look look{kinds[static_cast<std::size_t>(tres.kind)],
                      absl::StrCat(name, " ", TresName(tres)),
                      key,
                      AmountOf(count.held, tres),
                      AmountOf(ask_.tres, tres),
                      CapOf(tres)};
      if (look.needed == 0 || !Breaks(look)) {
        continue;
      }
      Reason reason = ReasonOf(look);
      AddHolders(
          usage_, look, [&](const RunningCharge& holder) { return AmountOf(holder.tres, tres); },
          reason);
      reason.used = Shown(tres, reason.used);
      reason.needed = Shown(tres, reason.needed);
      reason.capacity = Shown(tres, reason.capacity);
      reasons_.push_back(std::move(reason));
    }
  }

  void Jobs(ReasonKind kind, std::uint32_t cap, const UsageKey& key, const std::string& name) {
    const Look look{kind, absl::StrCat(name, " jobs"), key, usage_.Of(key).running, 1, cap};
    if (Breaks(look)) {
      Reason reason = ReasonOf(look);
      AddHolders(
          usage_, look, [](const RunningCharge&) { return std::uint64_t{1}; }, reason);
      reasons_.push_back(std::move(reason));
    }
  }

  // Ended and promised use together; a job without a time limit promises without end.
  void Budget(const Limits& limits, const UsageKey& key, const std::string& name, bool qos) {
    constexpr std::uint64_t kMinute = 60;
    const UseCount count = usage_.Of(key);
    const SpentAmount spent = usage_.SpentOf(key);
    const std::uint64_t wall = WallSeconds(ask_.spec->time_limit);
    const Qos* own = FindQos(site_, EffectiveQos(ask_.spec->qos));
    const TresUse rate = ForBudget(ask_.tres, own == nullptr ? 1000 : own->usage_factor);
    TresUse used = count.promised;
    Add(used, spent.tres);
    for (const Tres& tres : limits.grp_tres_mins) {
      const std::uint64_t unit =
          tres.kind == TresKind::kMemory ? std::uint64_t{1} << 20 : std::uint64_t{1};
      Look look{qos ? ReasonKind::kQOSGrpTRESMinutes : ReasonKind::kAssocGrpTRESMinutes,
                absl::StrCat(name, " ", TresName(tres)),
                key,
                AmountOf(used, tres),
                AmountOf(rate, tres) * wall,
                CapOf(tres) / unit * kMinute};
      if (AmountOf(rate, tres) == 0) {
        continue;
      }
      look.needed = wall == 0 ? kNoEnd : look.needed;
      AddBudget(look, tres.kind == TresKind::kGpu ? kWholeGpu.value() * kMinute : kMinute);
    }
    if (limits.grp_wall.has_value()) {
      Look look{qos ? ReasonKind::kQOSGrpWallLimit : ReasonKind::kAssocGrpWallLimit,
                absl::StrCat(name, " wall time"),
                key,
                count.promised_wall + spent.wall,
                wall == 0 ? kNoEnd : wall,
                WallSeconds(*limits.grp_wall)};
      AddBudget(look, 1);
    }
  }

  void AddBudget(const Look& look, std::uint64_t shown_unit) {
    if (!Breaks(look)) {
      return;
    }
    Reason reason = ReasonOf(look);
    if (look.needed == kNoEnd) {
      absl::StrAppend(&reason.name, " (a job without --time cannot promise its use)");
    }
    const auto shown = [shown_unit](std::uint64_t amount) {
      return amount / shown_unit + (amount % shown_unit != 0 ? 1 : 0);
    };
    reason.used = shown(look.used);
    reason.capacity = look.cap / shown_unit;
    reason.needed = look.needed == kNoEnd ? reason.capacity + 1 : shown(look.needed);
    reasons_.push_back(std::move(reason));
  }

  const CycleUsage& usage_;
  const SitePolicy& site_;
  const LimitAsk& ask_;
  std::vector<Reason> reasons_;
};

void AddPerJob(const TresList& caps, const TresUse& use, const Kinds& kinds,
               const std::string& name, std::vector<Reason>& reasons) {
  for (const Tres& tres : caps) {
    const Look look{kinds[static_cast<std::size_t>(tres.kind)],
                    absl::StrCat(name, " ", TresName(tres)),
                    UsageKey(),
                    0,
                    AmountOf(use, tres),
                    CapOf(tres)};
    if (Breaks(look)) {
      Reason reason = ReasonOf(look);
      reason.needed = Shown(tres, reason.needed);
      reason.capacity = Shown(tres, reason.capacity);
      reasons.push_back(std::move(reason));
    }
  }
}

void AddWall(Duration cap, Duration limit, ReasonKind kind, const std::string& name,
             std::vector<Reason>& reasons) {
  const bool endless = limit.count() == 0;
  const Look look{kind,
                  absl::StrCat(name, " MaxWall"),
                  UsageKey(),
                  0,
                  endless ? WallSeconds(cap) + 1 : WallSeconds(limit),
                  WallSeconds(cap)};
  if (Breaks(look)) {
    reasons.push_back(ReasonOf(look));
  }
}

// The limits that hold for one job alone, nearest first: whose they are.
struct Named {
  const Limits* limits;
  std::string name;
};

std::vector<Named> NearestOf(const SitePolicy& site, const JobSpec& spec) {
  std::vector<Named> nearest;
  if (const AssociationRules* own = FindAssociation(site, spec.account, spec.user.name)) {
    nearest.push_back(
        {&own->limits, absl::StrCat("user ", spec.user.name, " in account ", spec.account)});
  }
  for (const std::string& account : ChargedAccounts(site, spec.account)) {
    if (const AccountRules* rules = FindAccount(site, account)) {
      nearest.push_back({&rules->limits, absl::StrCat("account ", account)});
    }
  }
  return nearest;
}

// REQUIRES: `nearest` outlives the answer.
template <class Said>
const Named* First(const std::vector<Named>& nearest, const Said& said) {
  const auto found = std::find_if(nearest.begin(), nearest.end(),
                                  [&](const Named& named) { return said(*named.limits); });
  return found == nearest.end() ? nullptr : &*found;
}

// "account physics: GrpSubmitJobs: 12 of 12 jobs are submitted, 3 more were asked".
absl::Status Submits(const PolicySnapshot& snapshot, const UsageKey& key,
                     const std::optional<std::uint32_t>& cap, std::uint64_t count,
                     const std::string& what) {
  const auto found = snapshot.usage.counts.find(key);
  const std::uint64_t submitted =
      found == snapshot.usage.counts.end() ? 0 : found->second.submitted;
  if (!cap.has_value() || (count <= *cap && submitted <= *cap - count)) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat(what, ": ", submitted, " of ", *cap, " jobs are submitted, ", count,
                   " more do not fit; wait for some to end, or ask the administrator"));
}

}  // namespace

UseCount CycleUsage::Of(const UsageKey& key) const {
  UseCount sum;
  const auto base = snapshot_.usage.counts.find(key);
  if (base != snapshot_.usage.counts.end()) {
    sum = base->second;
  }
  const auto more = added_.find(key);
  if (more != added_.end()) {
    sum.running += more->second.running;
    Add(sum.held, more->second.held);
    Add(sum.promised, more->second.promised);
    sum.promised_wall += more->second.promised_wall;
  }
  return sum;
}

SpentAmount CycleUsage::SpentOf(const UsageKey& key) const {
  const auto found = snapshot_.usage.spent.find(key);
  return found == snapshot_.usage.spent.end() ? SpentAmount() : found->second;
}

void CycleUsage::Start(const JobSpec& spec, const RunningCharge& charge) {
  const SitePolicy& site = *snapshot_.site;
  const std::uint64_t wall = WallSeconds(spec.time_limit);
  const Qos* qos = FindQos(site, EffectiveQos(spec.qos));
  const TresUse promise = ForBudget(charge.tres, qos == nullptr ? 1000 : qos->usage_factor);
  for (const UsageKey& key : KeysOf(site, spec, {charge.partition})) {
    UseCount& count = added_[key];
    ++count.running;
    Add(count.held, charge.tres);
    Add(count.promised, promise, wall);
    count.promised_wall += wall;
  }
  started_.emplace(charge.job, charge);
  holders_.clear();
  indexed_ = false;
}

void CycleUsage::Index(const RunningCharge& charge) const {
  JobSpec spec;
  spec.account = charge.account;
  spec.user.name = charge.user;
  spec.qos = charge.qos;
  for (const UsageKey& key : KeysOf(*snapshot_.site, spec, {charge.partition})) {
    holders_[key].push_back(&charge);
  }
}

const std::vector<const RunningCharge*>& CycleUsage::HoldersOf(const UsageKey& key) const {
  if (!indexed_) {
    for (const auto& [id, charge] : snapshot_.usage.running) {
      Index(charge);
    }
    for (const auto& [id, charge] : started_) {
      Index(charge);
    }
    for (auto& [of, holders] : holders_) {
      std::sort(holders.begin(), holders.end(), [](const auto* a, const auto* b) {
        const Time never = Time::max();
        const Time a_ends = a->ends == kNoTime ? never : a->ends;
        const Time b_ends = b->ends == kNoTime ? never : b->ends;
        return a_ends != b_ends ? a_ends < b_ends : a->job < b->job;
      });
    }
    indexed_ = true;
  }
  return holders_[key];
}

LimitAsk LeastAsk(const JobSpec& spec, const std::string& partition) {
  LimitAsk ask{&spec, partition, LeastUse(spec.request), TresUse()};
  ask.most_on_node.cpus = spec.request.cpus_per_task;
  ask.most_on_node.memory = spec.request.memory_per_node.value();
  for (const GresCount& gres : spec.request.gres) {
    ask.most_on_node.gres[gres.name] = gres.count;
  }
  return ask;
}

std::vector<Reason> CheckLimits(const CycleUsage& usage, const LimitAsk& ask) {
  std::vector<Reason> reasons = CheckJobLimits(*usage.snapshot().site, ask);
  for (Reason& reason : Checker(usage, ask).Run()) {
    reasons.push_back(std::move(reason));
  }
  return reasons;
}

std::vector<Reason> CheckJobLimits(const SitePolicy& site, const LimitAsk& ask) {
  std::vector<Reason> reasons;
  const Duration limit = ask.spec->time_limit;
  for (const std::string& name : QosOf(site, ask.spec->qos, {ask.partition})) {
    if (const Qos* qos = FindQos(site, name)) {
      const std::string whose = absl::StrCat("qos ", name);
      AddPerJob(qos->limits.max_tres_per_job, ask.tres, All(ReasonKind::kQOSMaxTRESPerJob), whose,
                reasons);
      AddPerJob(qos->limits.max_tres_per_node, ask.most_on_node, All(ReasonKind::kMaxTRESPerNode),
                whose, reasons);
      if (qos->limits.max_wall.has_value()) {
        AddWall(*qos->limits.max_wall, limit, ReasonKind::kQOSMaxWallDurationPerJobLimit, whose,
                reasons);
      }
    }
  }
  const std::vector<Named> nearest = NearestOf(site, *ask.spec);
  if (const Named* whose =
          First(nearest, [](const Limits& l) { return !l.max_tres_per_job.empty(); })) {
    AddPerJob(whose->limits->max_tres_per_job, ask.tres, kAssocPerJob, whose->name, reasons);
  }
  if (const Named* whose =
          First(nearest, [](const Limits& l) { return !l.max_tres_per_node.empty(); })) {
    AddPerJob(whose->limits->max_tres_per_node, ask.most_on_node, All(ReasonKind::kMaxTRESPerNode),
              whose->name, reasons);
  }
  if (const Named* whose = First(nearest, [](const Limits& l) { return l.max_wall.has_value(); })) {
    AddWall(*whose->limits->max_wall, limit, ReasonKind::kAssocMaxWallDurationPerJobLimit,
            whose->name, reasons);
  }
  return reasons;
}

absl::Status CheckSubmitLimits(const PolicySnapshot& snapshot, const JobSpec& spec,
                               std::uint64_t count) {
  const SitePolicy& site = *snapshot.site;
  for (const std::string& account : ChargedAccounts(site, spec.account)) {
    if (const AccountRules* rules = FindAccount(site, account)) {
      RETURN_IF_ERROR(Submits(snapshot, UsageKey{UsageScope::kAccount, account, ""},
                              rules->limits.grp_submit_jobs, count,
                              absl::StrCat("account ", account, " GrpSubmitJobs")));
    }
  }
  const UsageKey own{UsageScope::kAssociation, spec.account, spec.user.name};
  const std::string who = absl::StrCat("user ", spec.user.name, " in account ", spec.account);
  if (const AssociationRules* rules = FindAssociation(site, spec.account, spec.user.name)) {
    RETURN_IF_ERROR(Submits(snapshot, own, rules->limits.grp_submit_jobs, count,
                            absl::StrCat(who, " GrpSubmitJobs")));
  }
  const std::vector<Named> nearest = NearestOf(site, spec);
  if (const Named* whose =
          First(nearest, [](const Limits& l) { return l.max_submit_jobs.has_value(); })) {
    RETURN_IF_ERROR(Submits(snapshot, own, whose->limits->max_submit_jobs, count,
                            absl::StrCat(who, " MaxSubmitJobs")));
  }
  for (const std::string& name : QosOf(site, spec.qos, PartitionNames(spec))) {
    const Qos* qos = FindQos(site, name);
    if (qos == nullptr) {
      continue;
    }
    const std::string what = absl::StrCat("qos ", name);
    RETURN_IF_ERROR(Submits(snapshot, UsageKey{UsageScope::kQos, name, ""},
                            qos->limits.grp_submit_jobs, count,
                            absl::StrCat(what, " GrpSubmitJobs")));
    RETURN_IF_ERROR(Submits(snapshot, UsageKey{UsageScope::kQosUser, name, spec.user.name},
                            qos->limits.max_submit_jobs, count,
                            absl::StrCat(what, " MaxSubmitJobsPerUser")));
    RETURN_IF_ERROR(Submits(snapshot, UsageKey{UsageScope::kQosAccount, name, spec.account},
                            qos->limits.max_submit_jobs_per_account, count,
                            absl::StrCat(what, " MaxSubmitJobsPerAccount")));
  }
  return absl::OkStatus();
}

namespace internal {

void AddPart(LimitAsk& ask, const NodeAllocation& part, const Machine& machine) {
  TresUse here;
  AddUse(here, part, machine);
  Add(ask.tres, here);
  TresUse& most = ask.most_on_node;
  most.cpus = std::max(most.cpus, here.cpus);
  most.memory = std::max(most.memory, here.memory);
  most.nodes = 1;
  for (const auto& [model, amount] : here.gpus) {
    most.gpus[model] = std::max(most.gpus[model], amount);
  }
  for (const auto& [name, amount] : here.gres) {
    most.gres[name] = std::max(most.gres[name], amount);
  }
}

}  // namespace internal

}  // namespace muster::core
