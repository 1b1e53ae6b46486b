#include "scheduler/simulator/workload/node_failures.h"

#include <algorithm>
#include <cmath>

namespace muster::sim {
namespace {

// Later than any trace goes: a hundred thousand years.
constexpr double kNeverSeconds = 3.2e12;

std::int64_t WholeSeconds(double seconds) {
  return static_cast<std::int64_t>(std::min(seconds, kNeverSeconds));
}

}  // namespace

void NodeFailures::AddNode(const FailureLaw& law, std::int64_t now) {
  const std::uint64_t number = nodes_.size();
  // A step of the sequence apart, then mixed, so that neighbours have nothing in common.
  const std::uint64_t own = RandomSequence(seed_ ^ RandomSequence(number).Next()).Next();
  nodes_.push_back(Node{law, 0, RandomSequence(own), now});
  if (law.mtbf_s > 0) {
    nodes_.back().scale_s = law.mtbf_s / std::tgamma(1 + 1 / law.shape);
    Draw(nodes_.size() - 1);
  }
}

void NodeFailures::AddFailure(const NodeFailure& failure) {
  next_.emplace(failure.time, failure.node, failure.repair);
}

// The node's next failure, after it came back last.
void NodeFailures::Draw(std::size_t number) {
  Node& node = nodes_[number];
  const double up_s = node.scale_s * std::pow(-std::log(node.chance.Uniform()), 1 / node.law.shape);
  const double repair_s = node.law.repair_differs
                              ? -node.law.repair_s * std::log(node.chance.Uniform())
                              : node.law.repair_s;
  if (up_s < kNeverSeconds) {
    const std::int64_t time = node.back + std::max<std::int64_t>(1, WholeSeconds(up_s));
    next_.emplace(time, number, WholeSeconds(std::round(repair_s)));
  }
}

const NodeFailure* NodeFailures::Peek() {
  while (!next_.empty() && std::get<0>(next_.top()) < nodes_[std::get<1>(next_.top())].back) {
    ++ignored_;
    next_.pop();
  }
  if (next_.empty()) {
    return nullptr;
  }
  std::tie(front_.time, front_.node, front_.repair) = next_.top();
  return &front_;
}

void NodeFailures::Pop() {
  const auto [time, number, repair] = next_.top();
  next_.pop();
  Node& node = nodes_[number];
  node.back = time + repair;
  if (node.law.mtbf_s > 0) {
    Draw(number);
  }
}

}  // namespace muster::sim
