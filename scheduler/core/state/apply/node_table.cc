#include "scheduler/core/state/apply/node_table.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "scheduler/base/status.h"
#include "scheduler/core/state/tables/attempt.h"

namespace muster::core {
namespace {

// Nodes of one kind come in a row: a machine that is as that of the node before is kept once.
std::shared_ptr<const Machine> KeptMachine(const std::map<NodeId, Node>& nodes, NodeId id,
                                           const Machine& machine) {
  const auto node = nodes.lower_bound(id);
  if (node != nodes.begin()) {
    const std::shared_ptr<const Machine>& before = std::prev(node)->second.machine;
    if (before != nullptr && *before == machine) {
      return before;
    }
  }
  return std::make_shared<const Machine>(machine);
}

}  // namespace

void NodeTable::Load(std::vector<Node> nodes, NodeId next) {
  next_ = next;
  for (Node& node : nodes) {
    names_[node.name] = node.id;
    if (!node.quarantined.empty()) {
      quarantining_.insert(node.id);
    }
    nodes_.emplace(node.id, std::move(node));
  }
}

const Node* NodeTable::Find(NodeId id) const {
  const auto found = nodes_.find(id);
  return found == nodes_.end() ? nullptr : &found->second;
}

const Node* NodeTable::Find(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : Find(found->second);
}

std::vector<JobId> NodeTable::JobsOn(NodeId node) const {
  const auto found = jobs_on_.find(node);
  return found == jobs_on_.end() ? std::vector<JobId>()
                                 : std::vector<JobId>(found->second.begin(), found->second.end());
}

Node& NodeTable::Must(NodeId id) {
  const auto found = nodes_.find(id);
  MUSTER_CHECK(found != nodes_.end());
  return found->second;
}

const Node& NodeTable::Register(const NodeRegistered& event, const JobTable& jobs, bool* is_new) {
  Node& node = nodes_[event.node];
  *is_new = !node.id.valid();
  if (*is_new) {
    node.id = event.node;
    node.name = event.registration.name;
    names_[node.name] = node.id;
    next_ = std::max(next_, event.node.Next());
  }
  node.hostname = event.registration.hostname;
  node.features = event.registration.features;
  node.weight = event.registration.weight;
  if (node.instance != event.registration.instance) {
    node.kept.clear();  // they were in the directory that is gone
    node.instance = event.registration.instance;
  }
  if (node.boot_id != event.registration.boot_id) {
    node.gpu_occupants.clear();  // as processes they are gone
    node.boot_id = event.registration.boot_id;
  }
  if (node.machine == nullptr || *node.machine != event.registration.machine) {
    node.gpu_occupants.clear();  // it may count its GPUs otherwise
    node.machine = KeptMachine(nodes_, node.id, event.registration.machine);
    Recount(node.id, jobs);
  }
  node.connected = true;
  node.changed = event.time;
  node.heard = kNoTime;
  return node;
}

void NodeTable::Forget(NodeId id) {
  const auto node = nodes_.find(id);
  MUSTER_CHECK(node != nodes_.end() && JobsOn(id).empty() && node->second.quarantined.empty());
  names_.erase(node->second.name);
  jobs_on_.erase(id);
  nodes_.erase(node);
}

void NodeTable::NoteKept(NodeId id, std::uint64_t mark) {
  std::vector<std::uint64_t>& kept = Must(id).kept;
  if (std::find(kept.begin(), kept.end(), mark) != kept.end()) {
    return;
  }
  if (kept.size() == kNodeKeptMax) {
    kept.erase(kept.begin());
  }
  kept.push_back(mark);
}

void NodeTable::ForgetKept(NodeId id, std::uint64_t mark) {
  std::erase(Must(id).kept, mark);
}

void NodeTable::DisconnectAll(Time now) {
  for (auto& [id, node] : nodes_) {
    if (node.connected) {
      node.connected = false;
      node.changed = now;
    }
  }
}

void NodeTable::Quarantine(const AttemptQuarantined& event, const JobTable& jobs) {
  Node& node = Must(event.node);
  if (!event.over) {
    CoverUse(node.taken, *node.machine, event.attempt.allocation);
    node.quarantined.push_back(event.attempt);
    quarantining_.insert(event.node);
    return;
  }
  const auto found = std::find_if(
      node.quarantined.begin(), node.quarantined.end(), [&](const QuarantinedAttempt& other) {
        return other.job == event.attempt.job && other.attempt == event.attempt.attempt;
      });
  MUSTER_CHECK(found != node.quarantined.end());
  node.quarantined.erase(found);
  if (node.quarantined.empty()) {
    quarantining_.erase(event.node);
  }
  Recount(event.node, jobs);
}

void NodeTable::Take(const Job& job) {
  for (const NodeAllocation& part : job.attempt->allocation.nodes) {
    Node& node = Must(part.node);
    AddUse(node.taken, *node.machine, part);
  }
  AddHolder(job);
}

void NodeTable::AddHolder(const Job& job) {
  for (const NodeAllocation& part : job.attempt->allocation.nodes) {
    jobs_on_[part.node].insert(job.id);
  }
}

void NodeTable::Free(const Job& job, const JobTable& jobs) {
  const Attempt& attempt = *job.attempt;
  const bool cores = HoldsCores(attempt);
  for (std::size_t i = 0; i < attempt.allocation.nodes.size(); ++i) {
    const NodeAllocation& part = attempt.allocation.nodes[i];
    Node& node = Must(part.node);
    const auto holders = jobs_on_.find(part.node);
    holders->second.erase(job.id);
    if (holders->second.empty()) {
      jobs_on_.erase(holders);
    }
    if (node.quarantined.empty() && cores) {
      SubtractUse(node.taken, part);
    } else if (node.quarantined.empty()) {
      SubtractUse(node.taken, HeldPart(attempt, i));
    } else {
      Recount(part.node, jobs);  // a quarantined attempt may hold some of the same threads
    }
  }
}

void NodeTable::FreeCores(const Job& job, const JobTable& jobs) {
  for (const NodeAllocation& part : job.attempt->allocation.nodes) {
    Node& node = Must(part.node);
    if (node.quarantined.empty()) {
      node.taken.cpus -= part.cpus;
    } else {
      Recount(part.node, jobs);
    }
  }
}

void NodeTable::TakeCores(const Job& job) {
  for (const NodeAllocation& part : job.attempt->allocation.nodes) {
    Node& node = Must(part.node);
    MUSTER_CHECK(!node.taken.cpus.Meets(part.cpus));
    node.taken.cpus |= part.cpus;
  }
}

void NodeTable::Recount(NodeId id, const JobTable& jobs) {
  Node& node = Must(id);
  NodeUse use;
  use.gpus.resize(node.machine->gpus.size());
  for (const JobId job : JobsOn(id)) {
    const Attempt& attempt = *jobs.Find(job)->attempt;
    CoverUse(use, *node.machine, HeldPart(attempt, *RunOn(attempt, id)));
  }
  for (const QuarantinedAttempt& attempt : node.quarantined) {
    CoverUse(use, *node.machine, attempt.allocation);
  }
  node.taken = use;
}

}  // namespace muster::core
