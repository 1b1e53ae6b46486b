#include "cli/slurm/nodes/node_document.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/slurm/nodes/node_words.h"
#include "scheduler/base/text/host_list.h"

namespace muster::cli::slurm {
namespace {

std::uint64_t MebibytesOf(Bytes bytes) {
  return bytes.value() / kMebibyte.value();
}

// "IDLE+DRAIN" as words.
Json StatesOf(const NodeView& node) {
  std::vector<std::string> words = absl::StrSplit(node.state, '+');
  std::erase(words, "NARROW");  // no word of Slurm's
  if (!WordOf(node).answers) {
    words.emplace_back("NOT_RESPONDING");
  }
  return words;
}

// "cpu=4,mem=100M,gres/gpu=1".
std::string TresWords(std::uint64_t cpus, std::uint64_t mebibytes, std::uint64_t gpus) {
  return absl::StrCat("cpu=", cpus, mebibytes == 0 ? "" : absl::StrCat(",mem=", mebibytes, "M"),
                      gpus == 0 ? "" : absl::StrCat(",gres/gpu=", gpus));
}

template <class Size>
Json LeastAndMost(const std::vector<const NodeView*>& nodes, const Size& size) {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  for (const NodeView* node : nodes) {
    const std::uint64_t each = size(*node);
    least = node == nodes.front() ? each : std::min(least, each);
    most = std::max(most, each);
  }
  return {{"minimum", least}, {"maximum", most}};
}

struct FourCounts {
  std::uint64_t allocated = 0;
  std::uint64_t idle = 0;
  std::uint64_t other = 0;
  std::uint64_t total = 0;
};

Json CountsEntry(const FourCounts& counts) {
  return {{"allocated", counts.allocated},
          {"idle", counts.idle},
          {"other", counts.other},
          {"total", counts.total}};
}

std::vector<std::string> MembersOf(const PolicyView& partition,
                                   const std::vector<NodeView>& nodes) {
  const Members members(partition);
  std::vector<std::string> names;
  for (const NodeView& node : nodes) {
    if (members.Has(node.name)) {
      names.push_back(node.name);
    }
  }
  return names;
}

std::string UpOr(const PolicyView& partition) {
  return partition.state.empty() ? "UP" : partition.state;
}

}  // namespace

Json NodeEntry(const NodeView& node, const std::vector<PolicyView>& partitions) {
  const NodeShape shape = ShapeOf(node);
  std::vector<std::string> in;
  for (const PolicyView& partition : partitions) {
    if (Members(partition).Has(node.name)) {
      in.push_back(partition.name);
    }
  }
  return {{"name", node.name},
          {"hostname", node.hostname},
          {"state", StatesOf(node)},
          {"reason", node.reason},
          {"partitions", in},
          {"features", node.features},
          {"active_features", node.features},
          {"gres", NodeGres(node)},
          {"gres_used", NodeGresUsed(node)},
          {"cpus", node.cpus},
          {"alloc_cpus", node.cpus_taken},
          {"alloc_idle_cpus", node.cpus - std::min(node.cpus_taken, node.cpus)},
          {"sockets", shape.sockets},
          {"cores", shape.cores},
          {"threads", shape.threads},
          {"real_memory", MebibytesOf(node.memory)},
          {"alloc_memory", MebibytesOf(node.memory_taken)},
          {"weight", node.weight},
          {"tres", TresWords(node.cpus, MebibytesOf(node.memory), node.gpus)},
          {"tres_used",
           node.cpus_taken == 0 && node.gpus_taken == 0
               ? ""
               : TresWords(node.cpus_taken, MebibytesOf(node.memory_taken), node.gpus_taken)}};
}

Json PartitionEntry(const PolicyView& partition, const std::vector<NodeView>& nodes) {
  const std::vector<std::string> names = MembersOf(partition, nodes);
  std::uint64_t cpus = 0;
  for (const NodeView& node : nodes) {
    cpus += std::find(names.begin(), names.end(), node.name) == names.end() ? 0 : node.cpus;
  }
  const auto said = [&partition](const char* key) { return Property(partition, key, ""); };
  return {{"name", partition.name},
          {"nodes", {{"configured", CompressHostlist(names)}, {"total", names.size()}}},
          {"cpus", {{"total", cpus}}},
          {"accounts", {{"allowed", said("AllowAccounts")}, {"deny", said("DenyAccounts")}}},
          {"qos",
           {{"allowed", said("AllowQos")}, {"deny", said("DenyQos")}, {"assigned", said("QoS")}}},
          {"defaults", {{"time", said("DefaultTime")}}},
          {"maximums", {{"nodes", said("MaxNodes")}, {"time", said("MaxTime")}}},
          {"minimums", {{"nodes", said("MinNodes")}}},
          {"priority",
           {{"job_factor", Property(partition, "PriorityJobFactor", "1")},
            {"tier", Property(partition, "PriorityTier", "1")}}},
          {"is_default", IsDefaultPartition(partition)},
          {"partition", {{"state", Json::array({UpOr(partition)})}}}};
}

Json ReservationEntry(const PolicyView& reservation) {
  const auto said = [&reservation](const char* key) { return Property(reservation, key, ""); };
  const std::vector<std::string> flags = absl::StrSplit(said("Flags"), ',', absl::SkipEmpty());
  return {{"name", reservation.name},        {"start", said("StartTime")},
          {"end", said("EndTime")},          {"node_list", said("Nodes")},
          {"node_count", reservation.nodes}, {"users", said("Users")},
          {"accounts", said("Accounts")},    {"flags", flags},
          {"state", reservation.state}};
}

Json SinfoEntry(const PolicyView& partition, const std::vector<const NodeView*>& nodes,
                const std::string& cluster) {
  std::vector<std::string> names;
  FourCounts of_nodes;
  FourCounts of_cpus;
  std::uint64_t memory_taken = 0;
  for (const NodeView* node : nodes) {
    names.push_back(node->name);
    const bool out = IsOutOfService(*node);
    ++(node->cpus_taken > 0 ? of_nodes.allocated : out ? of_nodes.other : of_nodes.idle);
    ++of_nodes.total;
    of_cpus.allocated += node->cpus_taken;
    (out ? of_cpus.other : of_cpus.idle) += node->cpus - std::min(node->cpus_taken, node->cpus);
    of_cpus.total += node->cpus;
    memory_taken += MebibytesOf(node->memory_taken);
  }
  Json counted_nodes = CountsEntry(of_nodes);
  counted_nodes["nodes"] = names;
  counted_nodes["hostnames"] = names;
  Json counted_cpus = CountsEntry(of_cpus);
  counted_cpus.update(
      LeastAndMost(nodes, [](const NodeView& node) { return std::uint64_t{node.cpus}; }));
  Json memory = LeastAndMost(nodes, [](const NodeView& node) { return MebibytesOf(node.memory); });
  memory["allocated"] = memory_taken;
  const NodeView* const first = nodes.empty() ? nullptr : nodes.front();
  return {{"node", {{"state", first == nullptr ? Json::array() : StatesOf(*first)}}},
          {"nodes", counted_nodes},
          {"cpus", counted_cpus},
          {"sockets",
           LeastAndMost(nodes,
                        [](const NodeView& node) { return std::uint64_t{ShapeOf(node).sockets}; })},
          {"cores",
           LeastAndMost(nodes,
                        [](const NodeView& node) { return std::uint64_t{ShapeOf(node).cores}; })},
          {"threads",
           LeastAndMost(nodes,
                        [](const NodeView& node) { return std::uint64_t{ShapeOf(node).threads}; })},
          {"memory", memory},
          {"weight",
           LeastAndMost(nodes, [](const NodeView& node) { return std::uint64_t{node.weight}; })},
          {"features",
           {{"total", first == nullptr ? "" : absl::StrJoin(first->features, ",")},
            {"active", first == nullptr ? "" : absl::StrJoin(first->features, ",")}}},
          {"gres",
           {{"total", first == nullptr ? "" : NodeGres(*first)},
            {"used", first == nullptr ? "" : absl::StrCat("gpu:", first->gpus_taken)}}},
          {"cluster", cluster},
          {"reason", {{"description", first == nullptr ? "" : first->reason}}},
          {"partition",
           {{"name", partition.name}, {"partition", {{"state", Json::array({UpOr(partition)})}}}}}};
}

}  // namespace muster::cli::slurm
