#include "scheduler/core/plan/search/feasibility.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/core/mig/divided_node.h"
#include "scheduler/core/place/nodes/feature_match.h"
#include "scheduler/core/place/nodes/narrow_choice.h"
#include "scheduler/core/place/nodes/node_choice.h"
#include "scheduler/core/place/nodes/task_capacity.h"
#include "scheduler/core/place/request.h"

namespace muster::core {
namespace {

// A node's share of the job when it spreads over as many nodes as it may.
std::uint32_t TasksPerNode(const ResourceRequest& request) {
  return (request.tasks + request.max_nodes - 1) / request.max_nodes;
}

bool Counts(const Shortage& counted, const Shortage& shortage) {
  // Of GPUs that others use outside of jobs the first nodes stand for all.
  const bool by_name =
      shortage.kind != ShortageKind::kGpus && shortage.kind != ShortageKind::kGpuShare;
  return counted.kind == shortage.kind && counted.needed == shortage.needed &&
         (!by_name || counted.name == shortage.name);
}

// Adds one node's shortage to those counted so far.
void Count(std::vector<Shortage>& counted, const Shortage& shortage) {
  const auto found = std::find_if(counted.begin(), counted.end(),
                                  [&](const Shortage& other) { return Counts(other, shortage); });
  if (found == counted.end()) {
    counted.push_back(shortage);
    return;
  }
  found->nodes += shortage.nodes;
  found->available = std::max(found->available, shortage.available);
  found->name = found->name.empty() ? shortage.name : found->name;
}

// What the nodes that take their share still lack together: nodes, or room for all tasks.
void CountTogether(std::vector<std::uint32_t> room, bool no_nodes, const ResourceRequest& request,
                   Reason& reason) {
  const auto able = static_cast<std::uint32_t>(room.size());
  if ((able > 0 || no_nodes) && able < request.min_nodes) {
    reason.shortages.push_back(Shortage{ShortageKind::kNodes, 0, request.min_nodes, able});
    return;
  }
  if (able == 0) {
    return;
  }
  std::sort(room.begin(), room.end(), std::greater<>());
  std::uint64_t tasks = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(able, request.max_nodes); ++i) {
    tasks += room[i];
  }
  reason.shortages.push_back(Shortage{ShortageKind::kTasks, able, request.tasks, tasks});
}

// A node as the filters see it: what it has, and what of that they take to be free.
struct Look {
  const NodeSnapshot* node = nullptr;
  bool up = false;
  bool drained = false;  // for this job
  const NodeCapacity* capacity = nullptr;
  FreeAmounts free;
  const Reservation* reserved = nullptr;  // keeps the node from the job now
  std::uint32_t position = 0;             // in the snapshot, and so in the tree
  // Whose jobs keep the job from the node.
  std::optional<ShortageKind> users = std::nullopt;
};

// The looks, and the switches above them where it matters how the job lies.
struct Looks {
  std::vector<Look> all;
  const NodeTree* tree = nullptr;
  const NodeTree* links = nullptr;  // the same with narrow links, where the job may span nodes
};

std::uint32_t RoomOn(const Look& look, const ResourceRequest& request, std::uint32_t limit) {
  return look.users.has_value()
             ? 0
             : RoomFor(look.free, *look.capacity, ScaleOf(*look.capacity, request), limit);
}

// Which memory the GPUs are to have; empty: any.
std::string KindText(const GpuRequest& kind) {
  return kind.memory.zero() ? "" : BytesText(kind.memory.value(), SizeRounding::kDown);
}

// The nodes of the looks that `usable` chooses, and what room `room_of` finds on each.
template <class Usable, class RoomOf>
std::vector<CandidateNode> CandidatesOf(const Looks& looks, const ResourceRequest& request,
                                        Usable usable, RoomOf room_of) {
  std::vector<CandidateNode> candidates;
  for (const Look& look : looks.all) {
    const std::uint32_t room = usable(look) && NodeMay(*look.node, request) ? room_of(look) : 0;
    if (room > 0) {
      candidates.push_back(
          CandidateNode{look.node, look.position, room, look.free.cores, look.node->weight});
    }
  }
  return candidates;
}

// True when these looks hold the whole job, whatever links are narrow.
template <class Usable, class RoomOf>
bool Holds(const Looks& looks, const ResourceRequest& request, Usable usable, RoomOf room_of) {
  return !ChooseNodes(CandidatesOf(looks, request, usable, room_of), request, looks.tree).empty();
}

// The narrow link without which these looks would hold the whole job; nothing where they do so
// beside it, or not at all.
template <class Usable, class RoomOf>
std::optional<NarrowLink> LinkToBlame(const Looks& looks, const ResourceRequest& request,
                                      Usable usable, RoomOf room_of) {
  if (looks.links == nullptr) {
    return std::nullopt;
  }
  const std::vector<CandidateNode> candidates = CandidatesOf(looks, request, usable, room_of);
  const std::vector<NodeShare> anyhow = ChooseNodes(candidates, request, looks.links);
  const std::optional<std::size_t> link = SpannedLink(anyhow, *looks.links);
  return link.has_value() && ChooseBesideLinks(candidates, request, looks.links).empty()
             ? std::optional(looks.links->links()[*link])
             : std::nullopt;
}

// What room a look has with nothing taken of it.
class EmptyRoom {
 public:
  explicit EmptyRoom(const ResourceRequest& request)
      : request_(request), limit_(MostTasksOnNode(request)) {}

  std::uint32_t operator()(const Look& look) {
    const auto [found, is_new] = known_.emplace(look.capacity, 0);
    if (is_new) {
      found->second =
          RoomFor(look.capacity->all, *look.capacity, ScaleOf(*look.capacity, request_), limit_);
    }
    return found->second;
  }

 private:
  const ResourceRequest& request_;
  const std::uint32_t limit_;
  std::map<const NodeCapacity*, std::uint32_t> known_;
};

// True when the looks that `usable` chooses hold the whole job with nothing taken of them.
template <class Usable>
bool FitsEmpty(const Looks& looks, const ResourceRequest& request, Usable usable) {
  return Holds(looks, request, usable, EmptyRoom(request));
}

// Others leave GPUs again: what the nodes could hold is asked with all of them.
ResourceRequest AsIfUnoccupied(ResourceRequest request) {
  request.gpu_occupied = true;
  return request;
}

bool IsUp(const Look& look) {
  return look.up && !look.drained;
}

// The reservation without which the job could start now, or could wait for the nodes it leaves;
// null when it is not to blame.
const Reservation* ToBlame(const Looks& looks, const ResourceRequest& request) {
  const auto kept = std::find_if(looks.all.begin(), looks.all.end(), [](const Look& look) {
    return IsUp(look) && look.reserved != nullptr;
  });
  if (kept == looks.all.end()) {
    return nullptr;
  }
  const std::uint32_t limit = MostTasksOnNode(request);
  const auto free = [&](const Look& look) { return RoomOn(look, request, limit); };
  const auto left = [](const Look& look) { return IsUp(look) && look.reserved == nullptr; };
  return Holds(looks, request, IsUp, free) || !FitsEmpty(looks, request, left) ? kept->reserved
                                                                               : nullptr;
}

// The first countable thing of which the node has too little.
std::optional<Shortage> GresShortage(const Look& look, const ResourceRequest& request) {
  for (const GresCount& gres : request.gres) {
    const auto& names = look.capacity->gres;
    const auto at = std::find(names.begin(), names.end(), gres.name);
    const std::uint64_t free =
        at == names.end() ? 0 : look.free.gres[static_cast<std::size_t>(at - names.begin())];
    if (free < gres.count) {
      return Shortage{ShortageKind::kGres, 1, gres.count, free, gres.name};
    }
  }
  return std::nullopt;
}

// Who uses GPUs that the request would have otherwise.
std::string OccupiedText(const Look& look, const ResourceRequest& request) {
  return HidesGpus(*look.node, request) && !look.capacity->occupied.empty()
             ? muster::OccupiedText(look.node->name, look.node->gpu_occupants)
             : "";
}

// Of a request that asks for a part of a GPU, or for all GPUs of the node.
std::optional<Shortage> OddGpuShortage(const Look& look, const ResourceRequest& request) {
  const std::string occupied = OccupiedText(look, request);
  if (request.exclusive && !occupied.empty()) {
    const std::uint64_t all = look.node->machine->gpus.size();
    return Shortage{ShortageKind::kGpus, 1, all, all - look.capacity->occupied.size(), occupied};
  }
  if (request.gpu_share.zero()) {
    return std::nullopt;
  }
  const GpuRequest& kind = GpuKind(request);
  const std::vector<Gpu>& gpus = look.node->machine->gpus;
  const bool empty = look.free == look.capacity->all && occupied.empty();
  const GpuShare most = empty              ? kWholeGpu
                        : occupied.empty() ? MostFreeShare(*look.node, kind)
                                           : MostFreeShare(WithoutOccupied(*look.node), kind);
  if (most < request.gpu_share && std::any_of(gpus.begin(), gpus.end(), [&kind](const Gpu& gpu) {
        return IsOfKind(gpu, kind);
      })) {
    return Shortage{ShortageKind::kGpuShare, 1, request.gpu_share.value(), most.value(), occupied};
  }
  return std::nullopt;
}

// GPUs are missing which the node could have, were others of it divided otherwise.
std::optional<Shortage> DivisionShortage(const Look& look, const ResourceRequest& request,
                                         std::uint32_t gpus, std::uint32_t free,
                                         std::uint32_t all) {
  const Machine& machine = *look.node->machine;
  const GpuRequest& kind = GpuKind(request);
  std::string text = LayoutsText(look.node->name, look.node->gpu_layouts);
  const bool offers =
      std::any_of(machine.mig.begin(), machine.mig.end(), [&kind](const MigGpu& gpu) {
        return ProfileFor(gpu, kind) != nullptr || IsWholeOfKind(gpu, kind);
      });
  if (gpus <= free || !offers || (all >= gpus && text.empty())) {
    return std::nullopt;
  }
  return Shortage{ShortageKind::kDivided, 1, gpus, free, std::move(text)};
}

// Whether the nodes could hold the job, were their GPUs divided as it asks.
bool FitsDivided(const Looks& looks, const ResourceRequest& request) {
  std::vector<NodeSnapshot> nodes;
  bool any = false;
  for (const Look& look : looks.all) {
    any = any || !look.node->machine->mig.empty();
    nodes.push_back(*look.node);
  }
  if (!any) {
    return false;
  }
  std::vector<NodeCapacity> capacities;
  capacities.reserve(nodes.size());
  Looks divided;
  divided.tree = looks.tree;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i] = AsAskedFor(nodes[i], request);
    capacities.push_back(CapacityOf(*nodes[i].machine));
    divided.all.push_back(Look{&nodes[i], true, false, &capacities.back(), capacities.back().all,
                               nullptr, looks.all[i].position});
  }
  return FitsEmpty(divided, request, [](const Look&) { return true; });
}

std::vector<Shortage> ShortagesOf(const Look& look, const ResourceRequest& request) {
  if (!look.up) {
    return {Shortage{ShortageKind::kDown, 1, 0, 0}};
  }
  if (look.drained) {
    return {Shortage{look.node->drained ? ShortageKind::kDrained : ShortageKind::kNarrow, 1, 0, 0}};
  }
  if (std::optional<Shortage> shortage = WhyNodeMayNot(*look.node, request)) {
    return {*std::move(shortage)};
  }
  if (look.reserved != nullptr) {
    return {Shortage{ShortageKind::kReserved, 1, 0, 0, look.reserved->name}};
  }
  if (look.node->ready != kNoTime) {
    return {Shortage{ShortageKind::kPower, 1, 0, 0}};
  }
  if (look.users.has_value()) {
    return {Shortage{*look.users, 1, 0, 0}};
  }
  if (std::optional<Shortage> shortage = OddGpuShortage(look, request)) {
    return {*std::move(shortage)};
  }
  const std::uint32_t tasks = TasksPerNode(request);
  const std::uint32_t room = RoomOn(look, request, tasks);
  if (room >= tasks) {
    return {};
  }
  const NodeCapacity& capacity = *look.capacity;
  if (std::optional<Shortage> shortage = GresShortage(look, request)) {
    return {*std::move(shortage)};
  }
  const DemandScale scale = ScaleOf(capacity, request);
  const NodeDemand demand = DemandOf(capacity, scale, tasks);
  if (look.free.cores < demand.cores) {
    return {Shortage{ShortageKind::kCores, 1, demand.cores, look.free.cores}};
  }
  const std::uint32_t gpus = GpusOnNode(request, tasks);
  const bool has_gpus = CountGpus(capacity.all, ~0U) > 0;
  const std::uint32_t free_gpus = CountGpus(look.free, scale.fixed.gpu_models);
  if (std::optional<Shortage> shortage = DivisionShortage(
          look, request, gpus, free_gpus, CountGpus(capacity.all, scale.fixed.gpu_models))) {
    return {*std::move(shortage)};
  }
  if (gpus > 0 && has_gpus && scale.fixed.gpu_models == 0 &&
      ScaleOf(capacity, AsIfUnoccupied(request)).fixed.gpu_models == 0) {
    return {Shortage{ShortageKind::kGpuType, 1, gpus, 0, KindText(GpuKind(request))}};
  }
  if (gpus > 0 && request.gpu_share.zero() && free_gpus < gpus) {
    return {Shortage{ShortageKind::kGpus, 1, gpus, free_gpus, OccupiedText(look, request)}};
  }
  if (look.free.memory < demand.memory) {
    return {Shortage{ShortageKind::kMemory, 1, demand.memory.value(), look.free.memory.value()}};
  }
  return {Shortage{ShortageKind::kTasks, 1, tasks, room}};
}

Reason Kept(const Reservation& reservation, Time now) {
  const std::optional<Window> window = WindowAt(reservation, now);
  Reason reason;
  reason.kind = ReasonKind::kReservation;
  reason.name = reservation.name;
  reason.needed = window->start > now ? 1 : 0;  // it is still ahead
  reason.until = window->start > now ? window->start : window->end;
  return reason;
}

// On how many segments the looks without a shortage have room for the tasks of as many nodes.
void CountSegments(const std::vector<const Look*>& able, const NodeTree& tree,
                   const ResourceRequest& request, Reason& reason) {
  std::map<std::uint32_t, std::uint32_t> nodes_of_leaf;
  for (const Look* look : able) {
    ++nodes_of_leaf[tree.LeafOf(look->position)];
  }
  std::uint64_t segments = 0;
  for (const auto& [leaf, nodes] : nodes_of_leaf) {
    segments += nodes / request.segment;
  }
  const std::uint64_t needed = request.min_nodes / request.segment;
  if (segments < needed && able.size() >= request.min_nodes) {
    reason.shortages.push_back(Shortage{ShortageKind::kSegments, 0, needed, segments,
                                        absl::StrCat(request.segment, " nodes")});
  }
}

Shortage Blamed(const NarrowLink& link) {
  return Shortage{ShortageKind::kNarrowLink, 0, 0, 0, NamesOf(link)};
}

// It fits on the nodes that are up, but not beside the link.
Reason Narrow(const NarrowLink& link, Reason reason) {
  reason.kind = ReasonKind::kReqNodeNotAvail;
  reason.shortages = {Blamed(link)};
  return reason;
}

Reason WhyNot(Looks looks, const ResourceRequest& request, Time now) {
  Reason reason;
  reason.nodes = static_cast<std::uint32_t>(looks.all.size());
  const ResourceRequest anyhow = AsIfUnoccupied(request);
  const bool fits = FitsEmpty(looks, anyhow, [](const Look&) { return true; });
  const bool divided = !fits && FitsDivided(looks, anyhow);
  const bool ever = fits || divided;
  if (const auto link = LinkToBlame(looks, anyhow, IsUp, EmptyRoom(anyhow))) {
    return Narrow(*link, reason);
  }
  if (looks.all.empty() || (fits && !FitsEmpty(looks, anyhow, IsUp))) {
    reason.kind = ReasonKind::kReqNodeNotAvail;
  } else if (!ever) {
    reason.kind = ReasonKind::kBadConstraints;
    reason.verdict = ReasonClass::kNever;
  } else if (const Reservation* reservation = ToBlame(looks, request)) {
    return Kept(*reservation, now);
  } else {
    reason.kind = ReasonKind::kResources;
  }
  const std::uint32_t limit = MostTasksOnNode(request);
  std::vector<std::uint32_t> room;  // tasks that each node without a shortage can take
  std::vector<const NodeSnapshot*> able;
  std::vector<const Look*> able_looks;
  for (Look& look : looks.all) {
    if (reason.kind == ReasonKind::kBadConstraints) {
      look =
          Look{look.node, true, false, look.capacity, look.capacity->all, nullptr, look.position};
    }
    const std::vector<Shortage> shortages = ShortagesOf(look, ever ? request : anyhow);
    for (const Shortage& shortage : shortages) {
      Count(reason.shortages, shortage);
    }
    if (shortages.empty()) {
      able.push_back(look.node);
      able_looks.push_back(&look);
      room.push_back(RoomOn(look, request, limit));
    }
  }
  std::vector<Shortage> named = WhyNotHad(able, request);
  const std::size_t before = reason.shortages.size();
  if (named.empty() && looks.tree != nullptr) {
    CountSegments(able_looks, *looks.tree, request, reason);
  }
  const std::optional<NarrowLink> link = LinkToBlame(
      looks, request, [](const Look& look) { return IsUp(look) && look.reserved == nullptr; },
      [&](const Look& look) { return RoomOn(look, request, limit); });
  if (link.has_value()) {
    reason.shortages.push_back(Blamed(*link));
  } else if (named.empty() && reason.shortages.size() == before) {
    CountTogether(std::move(room), looks.all.empty(), request, reason);
  }
  std::move(named.begin(), named.end(), std::back_inserter(reason.shortages));
  return reason;
}

}  // namespace

std::vector<Shortage> ShortagesOf(const NodeSnapshot& node, const ResourceRequest& request) {
  const NodeCapacity capacity = CapacityOf(*node.machine, node.gpu_occupants);
  return ShortagesOf(
      Look{&node, node.up, IsKeptOff(node, request), &capacity, FreeNow(node, capacity)}, request);
}

std::optional<Reason> WhyNever(const std::vector<NodeSnapshot>& nodes,
                               const ResourceRequest& request) {
  std::map<const Machine*, NodeCapacity> capacities;  // equal machines are one as a rule
  Looks looks;
  looks.all.reserve(nodes.size());
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    const auto [found, is_new] = capacities.try_emplace(nodes[node].machine.get());
    if (is_new) {
      found->second = CapacityOf(*nodes[node].machine);
    }
    looks.all.push_back(
        Look{&nodes[node], true, false, &found->second, found->second.all, nullptr, node});
  }
  if (FitsEmpty(looks, request, [](const Look&) { return true; }) || FitsDivided(looks, request)) {
    return std::nullopt;
  }
  Reason reason = WhyNot(std::move(looks), request, kNoTime);
  reason.kind = ReasonKind::kBadConstraints;
  reason.verdict = ReasonClass::kNever;
  return reason;
}

namespace {

// Whose jobs keep one of that user from a node that has those of `users`.
std::optional<ShortageKind> KeptBy(const NodeUsers& users, const Need& need) {
  if (users.Admit(need.user, need.request->exclusive_user)) {
    return std::nullopt;
  }
  return users.AreKeptFrom(need.user) ? ShortageKind::kUsersOwn : ShortageKind::kOtherUsers;
}

}  // namespace

Reason WhyNotNow(const std::vector<NodeSnapshot>& nodes, const Availability& availability,
                 const Need& need, Time now) {
  Looks looks;
  const NodeTree* tree = availability.inventory().tree();
  looks.tree = IsInSegments(*need.request) ? tree : nullptr;
  looks.links =
      tree != nullptr && !tree->links().empty() && MaySpanNodes(*need.request) ? tree : nullptr;
  looks.all.reserve(nodes.size());
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    if (need.inside != nullptr && !(*need.inside)[node]) {
      continue;
    }
    looks.all.push_back(
        Look{&nodes[node], nodes[node].up, IsKeptOff(nodes[node], *need.request),
             &availability.inventory().capacity(node), availability.timeline(node).now(),
             need.reserved == nullptr ? nullptr : need.reserved->InTheWay(node, now, need.duration),
             node, KeptBy(availability.timeline(node).now().users, need)});
  }
  return WhyNot(std::move(looks), *need.request, now);
}

}  // namespace muster::core
