#pragma once

// When the nodes of a simulated cluster fail, and for how long each is away.
//
// By a law (exponential or Weibull times between failures), or as a log says. Each node has a
// sequence of its own, of the seed and the node's number, and nothing asks what runs: so two
// policies meet the very same failures. Thread promise: a value; one thread at a time. Invariants:
// failures come in order of (time, node); a node does not fail while it is away; the same seed,
// nodes and log give the same failures.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// Of one node. Times between failures are Weibull, of the mean `mtbf_s`; of shape 1 they are
// exponential; below 1 a node that has just come back fails sooner, as in the logs of B. Schroeder,
// G. A. Gibson, "A large-scale study of failures in high-performance computing systems", IEEE TDSC
// 7(4), 2010, section 5.3: shapes of 0.7 to 0.8.
struct FailureLaw {
  double mtbf_s = 0;  // 0: it never fails
  double shape = 1;
  double repair_s = 0;          // from a failure until jobs may use the node again
  bool repair_differs = false;  // exponential, of that mean; else always so long
};

// One line of a log.
struct LoggedFailure {
  std::int64_t time = 0;  // s of the trace
  std::string node;
  std::int64_t repair = 0;  // s
};

struct NodeFailure {
  std::int64_t time = 0;
  std::size_t node = 0;  // in order of AddNode
  std::int64_t repair = 0;
};

class NodeFailures {
 public:
  explicit NodeFailures(std::uint64_t seed) : seed_(seed) {}

  // A node that is as new at `now`. REQUIRES: shape > 0, repair_s >= 0.
  void AddNode(const FailureLaw& law, std::int64_t now);
  // A failure out of a log, of a node without a law. REQUIRES: repair >= 0; any order.
  void AddFailure(const NodeFailure& failure);

  // The next failure; nullptr when there is none.
  [[nodiscard]] const NodeFailure* Peek();
  // REQUIRES: Peek() gave one.
  void Pop();

  // Of the log: their node was away already.
  [[nodiscard]] std::uint64_t ignored() const { return ignored_; }

 private:
  struct Node {
    FailureLaw law;
    double scale_s = 0;  // of the Weibull distribution
    RandomSequence chance;
    std::int64_t back = 0;  // when it is up again
  };
  using Entry = std::tuple<std::int64_t, std::size_t, std::int64_t>;  // time, node, repair

  void Draw(std::size_t number);

  std::uint64_t seed_;
  std::vector<Node> nodes_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next_;
  NodeFailure front_;
  std::uint64_t ignored_ = 0;
};

}  // namespace muster::sim
