#include "scheduler/core/plan/pass.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/core/place/request.h"
#include "scheduler/core/plan/queue/waiting_jobs.h"
#include "scheduler/core/plan/search/feasibility.h"
#include "scheduler/core/policy/policy_filter.h"
#include "scheduler/core/state/books/alternatives.h"
#include "scheduler/core/state/books/charge.h"
#include "scheduler/core/state/books/node_use.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster {
namespace {

// A job that starts within this time anyway has nobody give way. Longer than what a job that was
// told to end is taken to need (core/node_room), so that nobody gives way twice.
constexpr Duration kSoon = std::chrono::seconds(60);

const PolicyPicture& PolicyOf(const Snapshot& snapshot) {
  static const PolicyPicture kNone;
  return snapshot.policy == nullptr ? kNone : *snapshot.policy;
}

}  // namespace

Pass::Pass(PlannerMemory& memory, const PolicyConfig& config)
    : memory_(memory),
      snapshot_(memory.snapshot()),
      config_(config),
      reservations_left_(ReservationsOf(config)),
      may_pass_(config.backfill != Backfill::kNone),
      counts_(snapshot_, config),
      usage_(PolicyOf(snapshot_)),
      options_(memory.options()),
      availability_(memory.availability()),
      preemption_(snapshot_, availability_, touched_),
      shares_(snapshot_, availability_),
      groups_(snapshot_, availability_, touched_) {}

Plan Pass::Run() {
  plan_.version = snapshot_.version;
  plan_.waiting.reserve(snapshot_.waiting.size());
  const QueuePriority priority(snapshot_, config_, &memory_.whole(), &memory_.charges());
  std::vector<std::uint32_t> totals;
  const std::vector<QueueTurn> order = priority.Order(&totals);
  Resumption resumption(snapshot_, order, options_, preemption_);
  KeepRoomToGrow();
  for (std::size_t place = 0; place < order.size(); ++place) {
    LookAtSuspended(resumption.TakeDue(place));
    priority_ = totals[order[place].entry];
    LookAtAll(snapshot_.waiting[order[place].entry], order[place]);
  }
  LookAtSuspended(resumption.TakeDue(order.size()));
  LookAtElastic();
  if (!plan_.waiting.empty()) {
    WakeAt(NextReservationChange(snapshot_), counts_);
  }
  plan_.wake = counts_.wake;
  Fingerprint print;
  print.Add(plan_.starts).Add(plan_.reservations).Add(plan_.waiting).Add(plan_.drops);
  print.Add(plan_.preemptions);
  if (!plan_.resumes.empty()) {  // plans of journals from before there were any keep their hash
    print.Add(plan_.resumes);
  }
  if (!plan_.resizes.empty()) {
    print.Add(plan_.resizes);
  }
  plan_.hash = print.value();
  return std::move(plan_);
}

void Pass::LookAtAll(const WaitingJob& entry, const QueueTurn& turn) {
  if (entry.het_size > 0) {  // the others come with their leader
    return entry.id == entry.submission ? LookAtGroup(entry) : void();
  }
  if (entry.count == 1) {
    return LookAt(entry);
  }
  std::uint32_t idle = 0;
  for (std::uint32_t i = turn.first; i < turn.first + turn.count; ++i) {
    const std::size_t before = Changes();
    LookAt(ElementsOf(entry, i));
    idle = Changes() == before ? idle + 1 : 0;
    if (idle >= 2) {
      i += LeaveAlike(entry, i + 1, turn.first + turn.count);
    }
  }
}

std::size_t Pass::Changes() const {
  return plan_.starts.size() + kept_ + plan_.preemptions.size() + plan_.drops.size();
}

std::uint32_t Pass::LeaveAlike(const WaitingJob& entry, std::uint32_t first, std::uint32_t last) {
  const JobId from(entry.id.value() + first);
  const auto promise = PromiseFrom(from);
  if (promise != snapshot_.promised.end() && promise->job < JobId(entry.id.value() + last)) {
    last = static_cast<std::uint32_t>(promise->job.value() - entry.id.value());
  }
  plan_.waiting.back().count += last - first;
  for (const std::string& partition : counted_) {
    blockers_[partition].waiting += last - first;
  }
  return last - first;
}

std::vector<PlannedReservation>::const_iterator Pass::PromiseFrom(JobId job) const {
  return std::lower_bound(
      snapshot_.promised.begin(), snapshot_.promised.end(), job,
      [](const PlannedReservation& reservation, JobId id) { return reservation.job < id; });
}

void Pass::LookAt(const WaitingJob& job) {
  counted_.clear();
  std::vector<Reason> blockers;
  AddJobBlockers(snapshot_, job, counts_, blockers);
  const std::vector<bool> usable = AddPolicyBlockersOfAll(job, blockers);
  if (std::optional<PlannedDrop> drop = DropOf(job, blockers)) {
    plan_.drops.push_back(*std::move(drop));
  }
  if (!blockers.empty()) {
    Reason first = std::move(blockers.front());
    blockers.erase(blockers.begin());
    return Leave(job, std::move(first), std::move(blockers));
  }
  const Options options = OptionsOf(job, usable);
  MUSTER_CHECK(!options.empty());
  std::optional<Reason> limit;
  for (const StartOption* option : options) {
    if (MayTry(*option) && TryStart(job, *option, limit)) {
      return;
    }
  }
  if (limit.has_value()) {
    return Leave(job, *std::move(limit));
  }
  LeaveBlocked(job, options);
}

Pass::Options Pass::OptionsOf(const WaitingJob& job, const std::vector<bool>& usable) {
  Options options;
  for (const StartOption* option : options_.Of(job.spec)) {
    if (!usable.empty() && !usable[option->alternative]) {
      continue;
    }
    if (option->anywhere != nullptr) {
      const Time until = SwitchesUntil(job, option->request);
      if (until <= snapshot_.now) {
        option = option->anywhere;
      } else {
        WakeAt(until, counts_);
      }
    }
    options.push_back(option);
  }
  return options;
}

void Pass::LookAtSuspended(const std::vector<const RunningJob*>& jobs) {
  for (const RunningJob* job : jobs) {
    if (preemption_.GivesWay(job->id)) {
      continue;  // it has just been told to end
    }
    const std::vector<OwnCores> parts = OwnCoresOf(snapshot_, *job);
    std::vector<const NodePicture*> now;
    for (const OwnCores& part : parts) {
      now.push_back(&PictureOf(part.node));
    }
    std::optional<Reason> why = WhyNotBack(parts, now, plan_.starts);
    for (const OwnCores& part : parts) {
      KeepCores(part, !why.has_value());
    }
    if (why.has_value()) {
      plan_.waiting.push_back(LeftWaiting{job->id, *std::move(why), {}, 0});
    } else {
      plan_.resumes.push_back(PlannedResume{job->id, job->attempt});
    }
  }
}

void Pass::KeepCores(const OwnCores& part, bool from_now) {
  const Holding& holding = *part.holding;
  NodePicture& picture = touched_.try_emplace(part.node, snapshot_.nodes[part.node]).first->second;
  const std::uint32_t width = availability_.capacity(part.node).threads_per_core;
  const std::uint32_t all = holding.given_back.Count() / width;
  const std::uint32_t free = all - (holding.given_back & picture.taken.cpus).Count() / width;
  const Time end = EndOf(holding, snapshot_.now);
  const bool later = !from_now && holding.back > snapshot_.now && holding.back < end;
  availability_.TakeCores(part.node, free, snapshot_.now, later ? holding.back : end);
  if (later) {
    availability_.TakeCores(part.node, all, holding.back, end);
  }
  picture.taken.cpus |= holding.given_back;
}

std::vector<bool> Pass::AddPolicyBlockersOfAll(const WaitingJob& job,
                                               std::vector<Reason>& blockers) {
  std::vector<bool> usable(AlternativesOf(*job.spec), true);
  if (snapshot_.policy == nullptr) {
    return usable;
  }
  std::vector<Reason> first;
  AddPolicyBlockers(snapshot_, job, usage_, first);
  usable[0] = first.empty();
  bool any = usable[0];
  for (std::uint32_t i = 1; i < usable.size(); ++i) {
    WaitingJob other = job;
    other.spec = std::make_shared<const JobSpec>(AsChosen(*job.spec, i, 0));
    std::vector<Reason> reasons;
    AddPolicyBlockers(snapshot_, other, usage_, reasons);
    usable[i] = reasons.empty();
    any = any || usable[i];
  }
  if (!any) {
    std::move(first.begin(), first.end(), std::back_inserter(blockers));
  }
  return usable;
}

Pass::ShapeVerdict& Pass::VerdictOn(const StartOption& option) {
  if (option.number >= verdicts_.size()) {
    verdicts_.resize(option.number + 1);
  }
  return verdicts_[option.number];
}

bool Pass::MayTry(const StartOption& option) {
  const ShapeVerdict& verdict = VerdictOn(option);
  return !verdict.no_start && !verdict.beyond.has_value() &&
         (may_pass_ || !blockers_.contains(option.partition));
}

const StartOption& Pass::Widest(const StartOption& asked) {
  const ResourceRequest& request = asked.request;
  if (!request.as_wide_as_fits || asked.tasks > 0 || asked.anywhere != nullptr) {
    return asked;
  }
  std::uint32_t nodes = availability_.CountNow(asked.need, TasksOnEach(request), request.max_nodes);
  if (IsInSegments(request)) {
    nodes -= nodes % request.segment;
    while (nodes > request.min_nodes &&
           !availability_.FindNow(options_.OnNodes(asked, nodes)->need).has_value()) {
      nodes -= request.segment;
    }
  }
  return nodes <= request.min_nodes ? asked : *options_.OnNodes(asked, nodes);
}

std::optional<Opening> Pass::Promised(JobId job, const Need& need, Time start) const {
  return FindPromised(snapshot_, availability_, job, need, start);
}

std::optional<std::uint32_t> Pass::PositionOf(NodeId id) const {
  const auto node =
      std::lower_bound(snapshot_.nodes.begin(), snapshot_.nodes.end(), id,
                       [](const NodePicture& picture, NodeId other) { return picture.id < other; });
  return node == snapshot_.nodes.end() || node->id != id
             ? std::nullopt
             : std::optional(static_cast<std::uint32_t>(node - snapshot_.nodes.begin()));
}

bool Pass::CountInLimits(const WaitingJob& job, const StartOption& option,
                         const Allocation& allocation, std::optional<Reason>& limit) {
  return CountInLimits(job, option, allocation, usage_, limit);
}

bool Pass::CountInLimits(const WaitingJob& job, const StartOption& option,
                         const Allocation& allocation, PassUsage& usage,
                         std::optional<Reason>& limit) const {
  const auto machine_of = [this](NodeId id) -> const Machine& {
    return *snapshot_.nodes[*PositionOf(id)].machine;
  };
  const JobSpec spec = AsChosen(*job.spec, option.alternative, option.tasks);
  std::vector<Reason> broken =
      CheckLimits(usage, AskOf(spec, option.partition, allocation, machine_of));
  if (!broken.empty()) {
    if (!limit.has_value()) {
      limit = std::move(broken.front());
    }
    return false;
  }
  usage.Start(spec,
              ChargeOf(job.id, spec, option.partition, snapshot_.now, allocation, machine_of));
  return true;
}

const NodePicture& Pass::PictureOf(std::uint32_t node) const {
  const auto touched = touched_.find(node);
  return touched == touched_.end() ? snapshot_.nodes[node] : touched->second;
}

void Pass::LeaveBlocked(const WaitingJob& job, const Options& options) {
  Options able;
  for (const StartOption* option : options) {
    if (!IsBeyond(*option)) {
      able.push_back(option);
    }
  }
  if (able.empty()) {
    return Leave(job, *VerdictOn(*options.front()).beyond);
  }
  // Before what is kept for the job itself is in its way.
  std::optional<Reason> switches = WhySwitches(job, *able.front());
  const Time start = PlanAhead(job, able);
  Reason reason = switches.has_value() && WhyReserved(*able.front()) == nullptr
                      ? *std::move(switches)
                      : WhyBlocked(job, *able.front());
  const bool has_time =
      reason.kind == ReasonKind::kReservation || reason.kind == ReasonKind::kSwitches;
  reason.until = has_time ? reason.until : start;
  for (const StartOption* option : able) {
    if (WhyReserved(*option) != nullptr ||
        std::find(counted_.begin(), counted_.end(), option->partition) != counted_.end()) {
      continue;
    }
    counted_.push_back(option->partition);
    BlockIn(option->partition, job.id);
  }
  Leave(job, std::move(reason));
}

void Pass::BlockIn(const std::string& partition, JobId job) {
  Blocker& blocker = blockers_[partition];
  blocker.first = blocker.waiting == 0 ? job : blocker.first;
  ++blocker.waiting;
}

bool Pass::IsBeyond(const StartOption& option) {
  if (option.anywhere != nullptr) {  // it takes any switches in the end
    const bool beyond = IsBeyond(*option.anywhere);
    std::optional<Reason> why = VerdictOn(*option.anywhere).beyond;
    VerdictOn(option).beyond = std::move(why);
    return beyond;
  }
  ShapeVerdict& verdict = VerdictOn(option);
  if (verdict.fits || verdict.beyond.has_value()) {
    return !verdict.fits;
  }
  verdict.fits = availability_.EverFits(option.need);
  if (!verdict.fits) {
    verdict.beyond = WhyNotNow(snapshot_.nodes, availability_, option.need, snapshot_.now);
  }
  return verdict.beyond.has_value();
}

const Reason* Pass::WhyReserved(const StartOption& option) {
  if (option.need.reserved == nullptr) {
    return nullptr;
  }
  ShapeVerdict& verdict = VerdictOn(option);
  if (!verdict.reserved.has_value()) {
    Reason why = WhyNotNow(snapshot_.nodes, availability_, option.need, snapshot_.now);
    verdict.reserved.emplace();
    if (why.kind == ReasonKind::kReservation) {
      *verdict.reserved = std::move(why);
    }
  }
  return verdict.reserved->has_value() ? &**verdict.reserved : nullptr;
}

std::optional<Reason> Pass::WhySwitches(const WaitingJob& job, const StartOption& option) {
  if (option.anywhere == nullptr || !MayTry(*option.anywhere) ||
      !availability_.FindNow(option.anywhere->need).has_value()) {
    return std::nullopt;
  }
  Reason reason;
  reason.kind = ReasonKind::kSwitches;
  reason.limit = option.request.switches;
  reason.needed = option.request.tasks;
  reason.capacity = availability_.RoomOnSwitches(option.need);
  reason.until = SwitchesUntil(job, option.request);
  return reason;
}

Reason Pass::WhyBlocked(const WaitingJob& job, const StartOption& option) {
  if (const Reason* reserved = WhyReserved(option)) {
    return *reserved;
  }
  if (std::optional<Reason> switches = WhySwitches(job, option)) {
    return *std::move(switches);
  }
  const auto blocker = blockers_.find(option.partition);
  if (blocker == blockers_.end()) {
    const Need& need = option.anywhere == nullptr ? option.need : option.anywhere->need;
    return WhyNotNow(snapshot_.nodes, availability_, need, snapshot_.now);
  }
  Reason reason;
  reason.kind = ReasonKind::kPriority;
  reason.behind = blocker->second.first;
  reason.ahead = blocker->second.waiting;
  return reason;
}

Time Pass::PlanAhead(const WaitingJob& job, const Options& options) {
  const bool may_shrink = MayShrink();
  if (!preemption_.possible() && !may_shrink) {
    return reservations_left_ == 0 ? kNoTime : Keep(job, Earliest(job, options));
  }
  const Prospect prospect = Earliest(job, options);
  if (prospect.option == nullptr || prospect.opening.start > snapshot_.now + kSoon) {
    for (const StartOption* option : options) {
      const std::optional<Eviction> eviction = preemption_.Find(job, *option);
      if (eviction.has_value() &&
          availability_.LieAsAsked(option->need, eviction->opening.shares)) {
        return Preempt(job, *option, *eviction);
      }
    }
    if (may_shrink) {
      if (const std::optional<Time> start = ShrinkFor(job, options, prospect)) {
        return *start;
      }
    }
  }
  return reservations_left_ == 0 ? kNoTime : Keep(job, prospect);
}

Pass::Prospect Pass::Earliest(const WaitingJob& job, const Options& options) {
  Prospect best;
  const auto promise = PromiseFrom(job.id);
  const bool is_promised = promise != snapshot_.promised.end() && promise->job == job.id;
  const auto look = [&](const StartOption& option, Time from) {
    const Need need = LaterNeed(option.need);
    // What was promised and still holds bounds the search.
    std::optional<Opening> kept = is_promised && promise->start >= from
                                      ? Promised(job.id, need, promise->start)
                                      : std::nullopt;
    std::optional<Opening> opening = kept.has_value()
                                         ? availability_.FindEarlier(need, from, kept->start)
                                         : availability_.FindEarliest(need, from);
    const bool keeps = kept.has_value() && !opening.has_value();
    if (keeps) {
      opening = std::move(kept);
    }
    if (opening.has_value() && !opening->shares.empty() &&
        (best.option == nullptr || opening->start < best.opening.start)) {
      best = Prospect{&option, *std::move(opening), keeps};
    }
  };
  for (const StartOption* option : options) {
    look(*option, snapshot_.now);
    if (option->anywhere != nullptr) {
      look(*option->anywhere, SwitchesUntil(job, option->request));
    }
  }
  return best;
}

Time Pass::Keep(const WaitingJob& job, const Prospect& prospect) {
  if (prospect.option == nullptr) {
    return kNoTime;
  }
  --reservations_left_;
  ++kept_;
  return Reserve(job, prospect);
}

Time Pass::Preempt(const WaitingJob& job, const StartOption& option, const Eviction& eviction) {
  plan_.preemptions.push_back(preemption_.PlanOf(job.id, eviction));
  return TakeOver(job.id, option, eviction);
}

Time Pass::TakeOver(JobId job, const StartOption& option, const Eviction& eviction) {
  preemption_.Take(option, eviction);
  for (std::size_t i = 0; i < eviction.opening.shares.size(); ++i) {
    const std::uint32_t node = eviction.opening.shares[i].node;
    NodePicture& picture = touched_.try_emplace(node, snapshot_.nodes[node]).first->second;
    CoverUse(picture.taken, *picture.machine, eviction.allocation.nodes[i]);
  }
  const Time start = snapshot_.now + kSoon;
  AddReservation(job, Opening{start, eviction.opening.shares});
  return start;
}

Time Pass::Reserve(const WaitingJob& job, const Prospect& prospect) {
  const Need need = LaterNeed(prospect.option->need);
  std::optional<Opening> same =
      prospect.is_promised ? std::nullopt : Promised(job.id, need, prospect.opening.start);
  const Opening& opening = same.has_value() ? *same : prospect.opening;
  availability_.Take(need, opening);
  if (opening.start >= kHorizon) {
    return kNoTime;
  }
  AddReservation(job.id, opening);
  return opening.start;
}

void Pass::AddReservation(JobId job, const Opening& opening) {
  PlannedReservation reservation{job, opening.start, {}};
  for (const NodeShare& share : opening.shares) {
    reservation.nodes.push_back(ReservedNode{snapshot_.nodes[share.node].id, share.tasks});
  }
  plan_.reservations.push_back(std::move(reservation));
}

void Pass::Leave(const WaitingJob& job, Reason reason, std::vector<Reason> also) {
  LeftWaiting left{job.id, std::move(reason), std::move(also), priority_, 1};
  if (job.array_index.has_value() && job.submission == last_left_ &&
      Continues(left, plan_.waiting.back())) {
    ++plan_.waiting.back().count;
    return;
  }
  last_left_ = job.submission;
  plan_.waiting.push_back(std::move(left));
}

bool Pass::Continues(LeftWaiting left, const LeftWaiting& before) {
  if (left.job.value() != before.job.value() + before.count) {
    return false;
  }
  if (left.reason.kind == ReasonKind::kPriority) {
    left.reason.ahead -= before.count;
  }
  left.job = before.job;
  left.count = before.count;
  return left == before;
}

}  // namespace muster
