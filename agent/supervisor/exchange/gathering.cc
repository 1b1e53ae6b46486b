#include "agent/supervisor/exchange/gathering.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/exchange/exchange_tree.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

// Our place in the tree that a collective's members form among themselves.
ExchangeTree TreeOf(const std::vector<std::uint32_t>& positions, std::uint32_t self) {
  const auto found = std::lower_bound(positions.begin(), positions.end(), self);
  MUSTER_CHECK(found != positions.end() && *found == self);
  return {static_cast<std::uint32_t>(found - positions.begin()),
          static_cast<std::uint32_t>(positions.size())};
}

std::vector<std::uint32_t> ChildrenIn(const std::vector<std::uint32_t>& positions,
                                      std::uint32_t self) {
  std::vector<std::uint32_t> children = TreeOf(positions, self).Children();
  for (std::uint32_t& child : children) {
    child = positions[child];
  }
  return children;
}

}  // namespace

absl::Status Gathering::Enter(const std::string& members, std::vector<std::uint32_t> positions,
                              std::string data, Done done) {
  if (next_.size() >= kGroupsMax && next_.count(members) == 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("fences among more than ", kGroupsMax, " different groups of ranks"));
  }
  const Key key(members, next_[members]++);
  Collective& collective = open_[key];
  collective.entered = true;
  collective.positions = std::move(positions);
  collective.data = std::move(data);
  collective.done = std::move(done);
  const std::vector<std::uint32_t> children = ChildrenIn(collective.positions, self_);
  for (const auto& [from, brought] : collective.came) {
    if (std::find(children.begin(), children.end(), from) == children.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("node ", from, " has no part in the fence of ranks ", members));
    }
  }
  return PassOn(key);
}

absl::Status Gathering::Take(std::uint32_t from, const wire::PeerGather& gather) {
  const Key key(gather.members(), gather.sequence());
  if (open_.size() >= kOpenMax && open_.count(key) == 0) {
    return absl::ResourceExhaustedError("too many fences at a time");
  }
  const auto next = next_.find(gather.members());
  const bool over =
      next != next_.end() && gather.sequence() < next->second && open_.count(key) == 0;
  Collective& collective = open_[key];
  if (over || collective.came.count(from) != 0 || collective.passed_on) {
    return absl::InvalidArgumentError(absl::StrCat("node ", from, " entered a fence twice"));
  }
  if (bytes_ + gather.data().size() > kBytesMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a fence brings more than ", kBytesMax >> 20, " MiB"));
  }
  bytes_ += gather.data().size();
  collective.came[from] = gather.data();
  if (!collective.entered) {
    return absl::OkStatus();
  }
  const std::vector<std::uint32_t> children = ChildrenIn(collective.positions, self_);
  if (std::find(children.begin(), children.end(), from) == children.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("node ", from, " has no part in the fence of ranks ", gather.members()));
  }
  return PassOn(key);
}

// Once all of our subtree have entered.
absl::Status Gathering::PassOn(const Key& key) {
  Collective& collective = open_.at(key);
  const ExchangeTree tree = TreeOf(collective.positions, self_);
  if (collective.came.size() < tree.Children().size()) {
    return absl::OkStatus();
  }
  std::string whole = std::move(collective.data);
  for (const auto& [from, brought] : collective.came) {
    whole += brought;
    bytes_ -= brought.size();
  }
  collective.came.clear();
  if (whole.size() > kBytesMax) {
    return absl::ResourceExhaustedError(
        absl::StrCat("a fence brings more than ", kBytesMax >> 20, " MiB"));
  }
  collective.passed_on = true;
  if (tree.IsRoot()) {
    Finish(key, whole);
    return absl::OkStatus();
  }
  wire::PeerFrame frame;
  wire::PeerGather* gather = frame.mutable_gather();
  gather->set_members(key.first);
  gather->set_sequence(key.second);
  gather->set_data(std::move(whole));
  send_(collective.positions[tree.Parent()], std::move(frame));
  return absl::OkStatus();
}

absl::Status Gathering::Take(std::uint32_t from, const wire::PeerResult& result) {
  const Key key(result.members(), result.sequence());
  const auto found = open_.find(key);
  if (found == open_.end() || !found->second.passed_on) {
    return absl::InvalidArgumentError(
        absl::StrCat("node ", from, " ended a fence that we have not entered"));
  }
  const ExchangeTree tree = TreeOf(found->second.positions, self_);
  if (tree.IsRoot() || found->second.positions[tree.Parent()] != from) {
    return absl::InvalidArgumentError(
        absl::StrCat("node ", from, " ended a fence that is not its own"));
  }
  Finish(key, result.data());
  return absl::OkStatus();
}

void Gathering::Finish(const Key& key, const std::string& data) {
  const Collective collective = std::move(open_.at(key));
  open_.erase(key);
  for (const std::uint32_t child : ChildrenIn(collective.positions, self_)) {
    wire::PeerFrame frame;
    wire::PeerResult* result = frame.mutable_result();
    result->set_members(key.first);
    result->set_sequence(key.second);
    result->set_data(data);
    send_(child, std::move(frame));
  }
  collective.done(data);
}

bool Gathering::WaitsFor(const std::function<bool(std::uint32_t)>& gone) const {
  return std::any_of(open_.begin(), open_.end(), [&](const auto& entry) {
    const Collective& collective = entry.second;
    if (!collective.entered) {
      return false;
    }
    if (collective.passed_on) {
      const ExchangeTree tree = TreeOf(collective.positions, self_);
      return gone(collective.positions[tree.Parent()]);
    }
    const std::vector<std::uint32_t> children = ChildrenIn(collective.positions, self_);
    return std::any_of(children.begin(), children.end(), [&](std::uint32_t child) {
      return collective.came.count(child) == 0 && gone(child);
    });
  });
}

}  // namespace muster::agent
