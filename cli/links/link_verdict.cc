#include "cli/links/link_verdict.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/contains.h"

namespace muster::cli {
namespace {

constexpr std::size_t kJudgedFrom = 3;
constexpr double kLatencyApart = 2e-6;  // what the clocks and the system's noise may make

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// How many switches up the paths meet: 0 below one leaf switch; -1: not known.
int LevelOf(const LinkNode& a, const LinkNode& b) {
  if (a.switches.empty() || b.switches.empty()) {
    return -1;
  }
  const std::size_t deep = std::max(a.switches.size(), b.switches.size());
  const auto [at, its] =
      std::mismatch(a.switches.begin(), a.switches.end(), b.switches.begin(), b.switches.end());
  return static_cast<int>(deep - static_cast<std::size_t>(at - a.switches.begin()));
}

std::string NameOf(int level) {
  return level < 0    ? "all"
         : level == 0 ? "below one leaf switch"
                      : absl::StrCat(level, level == 1 ? " level up" : " levels up");
}

std::string LeavesOf(const LinkNode& a, const LinkNode& b) {
  if (a.switches.empty() || b.switches.empty() || a.switches.back() == b.switches.back()) {
    return "";
  }
  const auto& [low, high] = std::minmax(a.switches.back(), b.switches.back());
  return absl::StrCat(low, " and ", high);
}

// Of what is counted by a name: how much of it there is, and how much of that is slow.
struct Tally {
  std::size_t links = 0;
  std::size_t slow = 0;
  // Most of it, and more than one, which might be chance.
  [[nodiscard]] bool IsCause() const { return slow > 1 && slow * 2 > links; }
};

class Judge {
 public:
  Judge(const std::vector<LinkNode>& nodes, const std::vector<MeasuredLink>& links, double least)
      : nodes_(nodes), links_(links), least_(least) {}

  LinkReport Report() {
    Classify();
    FindSlow();
    Blame();
    return std::move(report_);
  }

 private:
  void Classify() {
    std::map<int, std::vector<const MeasuredLink*>> by_level;
    for (const MeasuredLink& link : links_) {
      if (link.failure.empty()) {
        by_level[LevelOf(nodes_[link.a], nodes_[link.b])].push_back(&link);
      } else {
        report_.failed.push_back(link);
      }
    }
    for (const auto& [level, links] : by_level) {
      std::vector<double> bandwidths;
      std::vector<double> latencies;
      for (const MeasuredLink* link : links) {
        bandwidths.push_back(link->bandwidth);
        latencies.push_back(link->latency);
        measured_.emplace_back(link, report_.classes.size());
      }
      report_.classes.push_back({.name = NameOf(level),
                                 .links = links.size(),
                                 .bandwidth = Median(std::move(bandwidths)),
                                 .latency = Median(std::move(latencies)),
                                 .judged = links.size() >= kJudgedFrom});
    }
  }

  void FindSlow() {
    for (const auto& [link, kind] : measured_) {
      const LinkClass& its = report_.classes[kind];
      const double of_bandwidth = its.bandwidth > 0 ? link->bandwidth / its.bandwidth : 1;
      const double of_latency = its.latency > 0 ? link->latency / its.latency : 1;
      const bool late =
          of_latency > std::max(2.0, 1 / least_) && link->latency > its.latency + kLatencyApart;
      if (its.judged && (of_bandwidth < least_ || late)) {
        report_.slow.push_back({*link, kind, of_bandwidth, of_latency, ""});
      }
    }
    std::sort(report_.slow.begin(), report_.slow.end(),
              [](const SlowLink& one, const SlowLink& other) {
                return one.of_bandwidth < other.of_bandwidth;
              });
  }

  // A node first: it explains all of its links, also those that a pair of switches would.
  void Blame() {
    std::vector<Tally> of_node(nodes_.size());
    for (const auto& [link, kind] : measured_) {
      ++of_node[link->a].links;
      ++of_node[link->b].links;
    }
    for (const SlowLink& slow : report_.slow) {
      ++of_node[slow.link.a].slow;
      ++of_node[slow.link.b].slow;
    }
    for (;;) {  // the worst one, then what it leaves unexplained
      const auto worst = std::max_element(
          of_node.begin(), of_node.end(), [](const Tally& one, const Tally& other) {
            return std::pair(one.IsCause(), one.slow) < std::pair(other.IsCause(), other.slow);
          });
      if (worst == of_node.end() || !worst->IsCause()) {
        break;
      }
      const auto node = static_cast<std::size_t>(worst - of_node.begin());
      report_.bad_nodes.push_back(nodes_[node].name);
      for (SlowLink& slow : report_.slow) {
        if (slow.cause.empty() && (slow.link.a == node || slow.link.b == node)) {
          slow.cause = absl::StrCat("node ", nodes_[node].name);
          --of_node[slow.link.a].slow;
          --of_node[slow.link.b].slow;
        }
      }
    }
    BlameSwitches();
  }

  void BlameSwitches() {
    std::map<std::string, Tally> of_leaves;
    for (const auto& [link, kind] : measured_) {
      ++of_leaves[LeavesOf(nodes_[link->a], nodes_[link->b])].links;
    }
    for (const SlowLink& slow : report_.slow) {
      of_leaves[LeavesOf(nodes_[slow.link.a], nodes_[slow.link.b])].slow += slow.cause.empty();
    }
    std::set<std::string> switches;
    for (SlowLink& slow : report_.slow) {
      const LinkNode& a = nodes_[slow.link.a];
      const LinkNode& b = nodes_[slow.link.b];
      const std::string leaves = LeavesOf(a, b);
      if (!slow.cause.empty()) {
        continue;
      }
      if (!leaves.empty() && of_leaves[leaves].IsCause()) {
        slow.cause = absl::StrCat("switches ", leaves);
        switches.insert(leaves);
      } else {
        slow.cause =
            absl::StrCat("link ", a.name, " - ", b.name,
                         a.switches.empty() ? "" : absl::StrCat(" at ", a.switches.back()));
      }
    }
    report_.bad_switches.assign(switches.begin(), switches.end());
  }

  const std::vector<LinkNode>& nodes_;
  const std::vector<MeasuredLink>& links_;
  const double least_;
  std::vector<std::pair<const MeasuredLink*, std::size_t>> measured_;  // and its class
  LinkReport report_;
};

std::string OfClass(const SlowLink& slow) {
  return absl::StrFormat("%.0f %% of the bandwidth of its class", 100 * slow.of_bandwidth);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> BadNodes(const LinkReport& report) {
  std::vector<std::pair<std::string, std::string>> bad;
  for (const std::string& node : report.bad_nodes) {
    const auto worst = std::find_if(
        report.slow.begin(), report.slow.end(),
        [&node](const SlowLink& slow) { return slow.cause == absl::StrCat("node ", node); });
    bad.emplace_back(node, worst == report.slow.end()
                               ? "its links are slow"
                               : absl::StrCat("its links are slow: ", OfClass(*worst)));
  }
  return bad;
}

std::vector<std::pair<std::string, std::string>> NarrowNodes(const std::vector<LinkNode>& nodes,
                                                             const LinkReport& report) {
  std::vector<const SlowLink*> alone;
  std::map<std::size_t, std::size_t> ends;
  for (const SlowLink& slow : report.slow) {
    if (absl::StartsWith(slow.cause, "link ")) {
      alone.push_back(&slow);
      ++ends[slow.link.a];
      ++ends[slow.link.b];
    }
  }
  std::vector<std::pair<std::string, std::string>> narrow = BadNodes(report);
  std::set<std::size_t> taken;
  for (const SlowLink* slow : alone) {
    const auto& [a, b] = std::pair(slow->link.a, slow->link.b);
    if (taken.contains(a) || taken.contains(b)) {
      continue;
    }
    const std::size_t end = ends[a] > ends[b] ? a : b;
    taken.insert(end);
    narrow.emplace_back(nodes[end].name, absl::StrCat("its link to ", nodes[end == a ? b : a].name,
                                                      " is slow: ", OfClass(*slow)));
  }
  return narrow;
}

std::vector<SwitchPair> NarrowSwitches(const std::vector<LinkNode>& nodes,
                                       const LinkReport& report) {
  std::vector<SwitchPair> pairs;
  for (const SlowLink& slow : report.slow) {  // the worst first
    if (!absl::StartsWith(slow.cause, "switches ")) {
      continue;
    }
    const auto& [first, second] =
        std::minmax(nodes[slow.link.a].switches.back(), nodes[slow.link.b].switches.back());
    const bool known = std::any_of(pairs.begin(), pairs.end(), [&](const SwitchPair& pair) {
      return pair.first == first && pair.second == second;
    });
    if (!known) {
      pairs.push_back(
          {first, second, absl::StrCat("links between them are slow: ", OfClass(slow))});
    }
  }
  return pairs;
}

bool LiesBetween(const LinkNode& a, const LinkNode& b, const std::string& first,
                 const std::string& second) {
  return (Contains(a.switches, first) && Contains(b.switches, second)) ||
         (Contains(a.switches, second) && Contains(b.switches, first));
}

LinkReport JudgeLinks(const std::vector<LinkNode>& nodes, const std::vector<MeasuredLink>& links,
                      double least) {
  return Judge(nodes, links, least).Report();
}

}  // namespace muster::cli
