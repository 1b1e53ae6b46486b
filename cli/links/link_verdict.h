#pragma once

// Which links are slow beside others of their class, and what the slow ones have in common.
//
// A class is the level at which the paths of two nodes meet. A link is slow when its bandwidth is
// below a share of the class's median, or its latency above the median by as much again and by two
// microseconds. Pure. Invariants: each slow link has one cause: a node, a pair of switches, or
// itself; of a class of fewer than three links nothing is judged.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace muster::cli {

struct LinkNode {
  std::string name;
  std::vector<std::string> switches;  // above it, from the top; empty: not known
};

struct MeasuredLink {
  std::size_t a = 0;  // positions of its nodes
  std::size_t b = 0;
  double bandwidth = 0;      // bytes a second
  double latency = 0;        // seconds
  std::string failure = {};  // why it was not measured; empty: it was
  bool lacking = false;      // for what is needed for it is not there
};

struct LinkClass {
  std::string name;       // "below one leaf switch", "1 level up", "all"
  std::size_t links = 0;  // that were measured
  double bandwidth = 0;   // medians
  double latency = 0;
  bool judged = false;
};

struct SlowLink {
  MeasuredLink link;
  std::size_t kind = 0;     // its class
  double of_bandwidth = 0;  // of the class's median
  double of_latency = 0;
  std::string cause;  // "node n3", "switches leaf1 and leaf2", "link n1 - n2"
};

struct LinkReport {
  std::vector<LinkClass> classes;
  std::vector<SlowLink> slow;             // the worst first
  std::vector<std::string> bad_nodes;     // that explain slow links
  std::vector<std::string> bad_switches;  // pairs: "leaf1 and leaf2"
  std::vector<MeasuredLink> failed;
};

// Nodes that explain slow links, each with the reason for which it is drained.
std::vector<std::pair<std::string, std::string>> BadNodes(const LinkReport& report);
// These, and of each link that is slow by itself one end, so that no job needs to lie on both: the
// end with more of them, else the second.
std::vector<std::pair<std::string, std::string>> NarrowNodes(const std::vector<LinkNode>& nodes,
                                                             const LinkReport& report);

// Pairs of leaf switches that explain slow links, each with the reason for which its link is
// narrow.
struct SwitchPair {
  std::string first;  // the lesser
  std::string second;
  std::string reason;
};
std::vector<SwitchPair> NarrowSwitches(const std::vector<LinkNode>& nodes,
                                       const LinkReport& report);
// Whether the way between the nodes is below both of these switches.
bool LiesBetween(const LinkNode& a, const LinkNode& b, const std::string& first,
                 const std::string& second);

// `least`: the share of the class's bandwidth that a link must have, such as 0.8.
LinkReport JudgeLinks(const std::vector<LinkNode>& nodes, const std::vector<MeasuredLink>& links,
                      double least);

}  // namespace muster::cli
