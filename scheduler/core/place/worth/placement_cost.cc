#include "scheduler/core/place/worth/placement_cost.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "scheduler/core/place/gpu_links.h"
#include "scheduler/core/place/locality.h"

namespace muster::core {
namespace {

constexpr double kMega = 1e6;
constexpr double kNano = 1e-9;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kLanesMost = 18;                  // of any GPU until now
constexpr double kLaneRate = 25e9;                        // on paper, in one direction
constexpr double kRateMost = kLanesMost * 2 * kLaneRate;  // of the widest

// A GPU of the job, or a rank of one without GPUs.
struct Member {
  std::uint32_t part = 0;
  std::uint32_t gpu = kNowhere;   // position in the machine
  std::uint32_t numa = kNowhere;  // of a rank: where its cores are, when that is one place
};

// What one member's way has for it: alone, and when all send.
struct Pace {
  double alone = kUnlimited;
  double shared = kUnlimited;
  double alpha_s = 0;
  bool assumed = false;
  void Worsen(const Pace& other) {
    alone = std::min(alone, other.alone);
    shared = std::min(shared, other.shared);
    alpha_s = std::max(alpha_s, other.alpha_s);
    assumed = assumed || other.assumed;
  }
};

Pace PaceOf(const Link& link, double sharers = 1) {
  return {link.bytes_per_second, link.bytes_per_second / sharers, link.alpha_s, true};
}

std::uint32_t NumaOfRank(const Machine& machine, const RankPlacement& rank) {
  std::uint32_t numa = kNowhere;
  for (const Core& core : machine.cores) {
    if (!core.cpus.Meets(rank.cpus)) {
      continue;
    }
    if (numa != kNowhere && numa != core.numa) {
      return kNowhere;
    }
    numa = core.numa;
  }
  return numa;
}

const char* NameOf(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNvLink:
      return "NVLink";
    case LinkKind::kSwitch:
      return "PCIe switch";
    case LinkKind::kBridges:
      return "PCIe switches";
    case LinkKind::kHostBridge:
      return "host bridge";
    case LinkKind::kNode:
      return "NUMA node";
    case LinkKind::kSystem:
    case LinkKind::kUnknown:
      break;
  }
  return "processor interconnect";
}

const Link& LinkOfClass(LinkKind kind) {
  switch (kind) {
    case LinkKind::kSwitch:
    case LinkKind::kBridges:
      return kPcieSwitchLink;
    case LinkKind::kHostBridge:
    case LinkKind::kNode:
      return kHostBridgeLink;
    default:
      return kSystemLink;
  }
}

// Bytes per second on paper; false when it is the class's.
std::pair<double, bool> RateOf(const DeviceLink& link) {
  return link.bandwidth > 0 ? std::pair(static_cast<double>(link.bandwidth) * kMega, true)
                            : std::pair(std::max(link.lanes, 1U) * kLaneRate, link.lanes > 0);
}

// True when the GPU hangs on an NVSwitch: it has more links to others than any GPU has lanes, so
// that they must be the same ones.
bool IsSwitched(const Machine& machine, std::uint32_t gpu) {
  std::uint32_t lanes = 0;
  double rate = 0;
  for (const DeviceLink& link : machine.gpu_links) {
    if (link.kind == LinkKind::kNvLink && (link.a == gpu || link.b == gpu)) {
      lanes += link.lanes;
      rate += RateOf(link).first;
    }
  }
  return lanes > 0 ? lanes > kLanesMost : rate > kRateMost;
}

class Levels {
 public:
  Levels(const std::vector<PlacedPart>& parts, const Network* network)
      : parts_(parts), network_(network) {
    CollectMembers();
    group_.resize(members_.size());
    std::iota(group_.begin(), group_.end(), 0U);
    FindNodes();
  }

  std::vector<PlacementLevel> Run() {
    if (members_.size() < 2) {
      return {};
    }
    if (gpus_) {
      for (const LinkKind kind : {LinkKind::kNvLink, LinkKind::kSwitch, LinkKind::kBridges,
                                  LinkKind::kHostBridge, LinkKind::kNode, LinkKind::kUnknown}) {
        JoinGpus(kind);
      }
    } else {
      JoinRanks();
    }
    if (network_ != nullptr) {
      JoinDomains();
      JoinSwitches();
    }
    Join(
        "network", [](const Member&) { return 0; },
        [this](const Member& member) {
          return PaceOf(kNetworkLink, static_cast<double>(count_[member.part]));
        });
    return std::move(levels_);
  }

 private:
  void CollectMembers() {
    gpus_ = std::any_of(parts_.begin(), parts_.end(),
                        [](const PlacedPart& part) { return !part.allocation->gpus.empty(); });
    for (std::uint32_t p = 0; p < parts_.size(); ++p) {
      const PlacedPart& part = parts_[p];
      std::set<std::uint32_t> gpus;
      for (const RankPlacement& rank : part.allocation->ranks) {
        gpus.insert(rank.gpus.begin(), rank.gpus.end());
        if (!gpus_) {
          members_.push_back({p, kNowhere, NumaOfRank(*part.machine, rank)});
        }
      }
      for (const std::uint32_t gpu : gpus) {
        members_.push_back({p, gpu, kNowhere});
      }
    }
    count_.assign(parts_.size(), 0);
    for (const Member& member : members_) {
      ++count_[member.part];
    }
  }

  void FindNodes() {
    nodes_.assign(parts_.size(), nullptr);
    if (network_ == nullptr) {
      return;
    }
    std::map<std::string, const NetworkNode*> by_name;
    for (const NetworkNode& node : network_->nodes) {
      by_name.emplace(node.name, &node);
    }
    under_.assign(network_->switches.size(), 0);
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const auto found = by_name.find(parts_[part].allocation->name);
      nodes_[part] = found == by_name.end() ? nullptr : found->second;
      for (std::uint32_t at = nodes_[part] == nullptr ? kNowhere : nodes_[part]->leaf;
           at != kNowhere; at = network_->switches[at].parent) {
        under_[at] += count_[part];
      }
    }
  }

  // One more level: members of one key are joined, and all that hang on them; `pace` is asked for
  // the members of what is joined.
  template <class Key, class PaceOfMember>
  void Join(const std::string& name, Key key, PaceOfMember pace) {
    std::map<decltype(key(members_.front())), std::uint32_t> first;
    std::vector<std::uint32_t> joined = group_;
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
      const auto [at, is_new] = first.emplace(key(members_[i]), i);
      if (!is_new) {
        Merge(joined, at->second, i);
      }
    }
    AddLevel(name, std::move(joined), pace);
  }

  // A group is called by its first member, which every other one's entry leads to.
  static std::uint32_t Find(std::vector<std::uint32_t>& groups, std::uint32_t member) {
    while (groups[member] != member) {
      member = groups[member] = groups[groups[member]];
    }
    return member;
  }
  static void Merge(std::vector<std::uint32_t>& groups, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t left = Find(groups, a);
    const std::uint32_t right = Find(groups, b);
    groups[std::max(left, right)] = std::min(left, right);
  }

  template <class PaceOfMember>
  void AddLevel(const std::string& name, std::vector<std::uint32_t> joined, PaceOfMember pace) {
    std::map<std::uint32_t, std::set<std::uint32_t>> groups;  // what each is made of
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
      joined[i] = Find(joined, i);
      groups[joined[i]].insert(group_[i]);
    }
    std::vector<std::uint32_t> sizes(members_.size(), 0);
    for (const std::uint32_t group : group_) {
      ++sizes[group];
    }
    beside_.clear();
    for (const std::uint32_t group : group_) {
      beside_.push_back(sizes[group]);
    }
    group_ = std::move(joined);
    PlacementLevel level;
    level.name = name;
    Pace worst;
    for (const auto& [group, of] : groups) {
      level.group_sizes.push_back(static_cast<std::uint32_t>(of.size()));
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (groups[group_[i]].size() > 1) {
        worst.Worsen(pace(members_[i]));
      }
    }
    if (worst.alone == kUnlimited) {
      return;  // it joins nothing
    }
    level.link = {worst.alpha_s, worst.alone};
    level.shared_bandwidth = worst.shared;
    level.assumed = worst.assumed;
    levels_.push_back(std::move(level));
  }

  // The GPUs of a node that have a way of at least this kind to each other.
  void JoinGpus(LinkKind kind) {
    std::vector<std::uint32_t> joined = group_;
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
      for (std::uint32_t j = i + 1; j < members_.size() && members_[j].part == members_[i].part;
           ++j) {
        if (LinkBetween(members_[i], members_[j]).kind >= kind) {
          Merge(joined, i, j);
        }
      }
    }
    AddLevel(NameOf(kind), std::move(joined), [this, kind](const Member& member) {
      if (kind == LinkKind::kNvLink) {
        return NvLinkPace(member);
      }
      return PaceOf(LinkOfClass(kind), kind == LinkKind::kUnknown ? Beside(member) : 1.0);
    });
  }

  [[nodiscard]] DeviceLink LinkBetween(const Member& a, const Member& b) const {
    return *WeakestLink(*parts_[a.part].machine, {a.gpu, b.gpu});
  }

  // Members of the member's group of the level below.
  [[nodiscard]] double Beside(const Member& member) const {
    return beside_[static_cast<std::size_t>(&member - members_.data())];
  }

  // Through an NVSwitch all lanes reach each peer; else rings share out those to the job's GPUs.
  [[nodiscard]] Pace NvLinkPace(const Member& member) const {
    const auto own = static_cast<std::size_t>(&member - members_.data());
    double sum = 0;
    double widest = 0;
    Pace pace{0, 0, kNvLinkLane.alpha_s, false};
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (i == own || group_[i] != group_[own]) {
        continue;
      }
      const DeviceLink link = LinkBetween(member, members_[i]);
      if (link.kind == LinkKind::kNvLink) {
        const auto [rate, said] = RateOf(link);
        sum += rate;
        widest = std::max(widest, rate);
        pace.assumed = pace.assumed || !said;
      }
    }
    pace.alone = pace.shared =
        (IsSwitched(*parts_[member.part].machine, member.gpu) ? widest : sum) * kNvLinkEfficiency;
    return pace;
  }

  void JoinRanks() {
    Join(
        "NUMA node",
        [this](const Member& member) {
          const auto own = static_cast<std::uint32_t>(&member - members_.data());
          return member.numa == kNowhere ? std::pair(kNowhere, own)
                                         : std::pair(member.part, member.numa);
        },
        [](const Member&) { return PaceOf(kMemoryLink); });
    Join(
        "processor interconnect", [](const Member& member) { return member.part; },
        [this](const Member& member) { return PaceOf(kInterconnectLink, Beside(member)); });
  }

  [[nodiscard]] const NetworkNode* NodeOf(std::uint32_t part) const { return nodes_[part]; }

  void JoinDomains() {
    if (!gpus_) {
      return;
    }
    Join(
        "NVLink domain",
        [this](const Member& member) {
          const NetworkNode* node = NodeOf(member.part);
          return node == nullptr || node->domain == kNowhere
                     ? std::pair(kNowhere, member.part)
                     : std::pair(node->domain, std::uint32_t{0});
        },
        [this](const Member& member) {
          const LinkSpeed& speed = network_->nvlink_domains[NodeOf(member.part)->domain].speed;
          const double rate = speed.bandwidth > 0 ? static_cast<double>(speed.bandwidth) * kMega
                                                  : kLanesMost * kLaneRate;
          const double pace = rate * kNvLinkEfficiency;
          return Pace{pace, pace,
                      kNvLinkLane.alpha_s + static_cast<double>(speed.latency_ns) * kNano,
                      speed.bandwidth == 0};
        });
  }

  // The highest switch above the part's node that is no higher than `level`; kNowhere: none.
  [[nodiscard]] std::uint32_t SwitchOf(std::uint32_t part, std::uint32_t level) const {
    const NetworkNode* node = NodeOf(part);
    std::uint32_t at = node == nullptr ? kNowhere : node->leaf;
    if (at == kNowhere || network_->switches[at].level > level) {
      return kNowhere;
    }
    for (std::uint32_t up = network_->switches[at].parent;
         up != kNowhere && network_->switches[up].level <= level;
         up = network_->switches[at].parent) {
      at = up;
    }
    return at;
  }

  void JoinSwitches() {
    std::uint32_t highest = 0;
    for (const NetworkSwitch& one : network_->switches) {
      highest = std::max(highest, one.level);
    }
    for (std::uint32_t level = 0; !network_->switches.empty() && level <= highest; ++level) {
      std::set<std::uint32_t> switches;
      for (std::uint32_t part = 0; part < parts_.size(); ++part) {
        switches.insert(SwitchOf(part, level));
      }
      const std::string name = switches.size() == 1 && *switches.begin() != kNowhere
                                   ? network_->switches[*switches.begin()].name
                                   : "switches of level " + std::to_string(level);
      Join(
          name,
          [this, level](const Member& member) {
            const std::uint32_t its = SwitchOf(member.part, level);
            return std::pair(its, its == kNowhere ? member.part : 0);
          },
          [this, level](const Member& member) {
            return NetworkPace(member.part, SwitchOf(member.part, level));
          });
    }
  }

  // Up from the node to the switch and down again: the narrowest link, and all latencies twice.
  [[nodiscard]] Pace NetworkPace(std::uint32_t part, std::uint32_t top) const {
    Pace pace{kUnlimited, kUnlimited, kNetworkLink.alpha_s, false};
    auto below = static_cast<double>(count_[part]);
    double links = NicsOf(part);
    for (std::uint32_t at = NodeOf(part)->leaf; at != kNowhere;
         at = network_->switches[at].parent) {
      const LinkSpeed& speed = network_->switches[at].down;
      if (speed.bandwidth > 0) {
        const double rate = static_cast<double>(speed.bandwidth) * kMega * links;
        pace.alone = std::min(pace.alone, rate);
        pace.shared = std::min(pace.shared, rate / below);
      }
      pace.alpha_s += 2 * static_cast<double>(speed.latency_ns) * kNano;
      if (at == top) {
        break;
      }
      below = under_[at];
      links = 1;
    }
    if (pace.alone == kUnlimited) {
      const double alpha_s = pace.alpha_s;
      pace = PaceOf(kNetworkLink, count_[part]);
      pace.alpha_s = alpha_s;
    }
    return pace;
  }

  // How many NICs the ranks of the part use; at least one.
  [[nodiscard]] double NicsOf(std::uint32_t part) const {
    const std::vector<std::uint32_t> nics =
        NearestNics(*parts_[part].machine, *parts_[part].allocation);
    std::set<std::uint32_t> used(nics.begin(), nics.end());
    used.erase(kNowhere);
    return static_cast<double>(std::max<std::size_t>(used.size(), 1));
  }

  const std::vector<PlacedPart>& parts_;
  const Network* network_;
  bool gpus_ = false;  // what is joined
  std::vector<Member> members_;
  std::vector<std::uint32_t> count_;       // members, by part
  std::vector<std::uint32_t> group_;       // by member: what it is joined to until now
  std::vector<std::uint32_t> beside_;      // by member: how many its group had one level below
  std::vector<const NetworkNode*> nodes_;  // by part; null: not in the network
  std::vector<double> under_;              // members, by switch
  std::vector<PlacementLevel> levels_;
};

LinkLevels Priced(const std::vector<PlacementLevel>& levels, bool shared) {
  LinkLevels priced;
  for (const PlacementLevel& level : levels) {
    Link link = level.link;
    link.bytes_per_second = shared ? level.shared_bandwidth : link.bytes_per_second;
    priced.push_back({level.group_sizes, link});
  }
  return priced;
}

}  // namespace

std::vector<PlacementLevel> LevelsOf(const std::vector<PlacedPart>& parts, const Network* network) {
  return Levels(parts, network).Run();
}

std::optional<CollectiveCost> PredictPlaced(const std::vector<PlacementLevel>& levels,
                                            Collective collective, Bytes bytes) {
  std::optional<CollectiveCost> best;
  for (const CollectiveAlgorithm algorithm :
       {CollectiveAlgorithm::kRing, CollectiveAlgorithm::kHierarchical,
        CollectiveAlgorithm::kRecursiveDoubling}) {
    const bool shared = algorithm != CollectiveAlgorithm::kRing;
    const std::optional<CollectiveCost> cost =
        CostOf(algorithm, collective, bytes, Priced(levels, shared));
    if (cost.has_value() && (!best.has_value() || cost->seconds < best->seconds)) {
      best = cost;
    }
  }
  return best;
}

}  // namespace muster::core
