#include "cli/slurm/nodes/node_fields.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/slurm/format/cell.h"
#include "cli/slurm/nodes/node_words.h"
#include "scheduler/base/text/host_list.h"

namespace muster::cli::slurm {
namespace {

template <const char* const& Text>
std::string Always(const NodeRow&, const NodeScene&) {
  return Text;
}
constexpr const char* kZero = "0";
constexpr const char* kNo = "no";
constexpr const char* kUpperNo = "NO";
constexpr const char* kAll = "all";
constexpr const char* kUnlimited = "UNLIMITED";
constexpr const char* kUnknown = "Unknown";
constexpr const char* kNotKnown = "N/A";

std::string PartitionName(const NodeRow& row, const NodeScene&) {
  return row.partition->name;
}
std::string MarkedPartition(const NodeRow& row, const NodeScene&) {
  return absl::StrCat(row.partition->name, IsDefaultPartition(*row.partition) ? "*" : "");
}
std::string Available(const NodeRow& row, const NodeScene&) {
  const std::string state = absl::AsciiStrToLower(row.partition->state);
  return state == "inactive" ? "inact" : state.empty() ? "up" : state;
}
// A limit of the policy, "2:00:00" without zeros in front.
std::string LimitOf(const PolicyView& partition, const char* name, const char* none) {
  const std::string limit = Property(partition, name, none);
  if (limit == none || absl::EqualsIgnoreCase(limit, "UNLIMITED") ||
      absl::EqualsIgnoreCase(limit, "INFINITE")) {
    return none;
  }
  const std::size_t digit = limit.find_first_not_of("0:");
  const std::size_t start = std::min(digit, limit.size() > 4 ? limit.size() - 4 : 0);
  return absl::StrContains(limit, '-') || digit == std::string::npos ? limit : limit.substr(start);
}
std::string TimeLimit(const NodeRow& row, const NodeScene&) {
  return LimitOf(*row.partition, "MaxTime", "infinite");
}
std::string DefaultTime(const NodeRow& row, const NodeScene&) {
  return LimitOf(*row.partition, "DefaultTime", "n/a");
}
std::string JobSize(const NodeRow& row, const NodeScene&) {
  const std::string least = Property(*row.partition, "MinNodes", "1");
  const std::string most = Property(*row.partition, "MaxNodes", "infinite");
  return least == most ? least : absl::StrCat(least == "0" ? "1" : least, "-", most);
}
std::string JobFactor(const NodeRow& row, const NodeScene&) {
  return Property(*row.partition, "PriorityJobFactor", "1");
}
std::string Tier(const NodeRow& row, const NodeScene&) {
  return Property(*row.partition, "PriorityTier", "1");
}
std::string PreemptMode(const NodeRow& row, const NodeScene&) {
  return Property(*row.partition, "PreemptMode", "OFF");
}

std::string Compact(const NodeRow& row, const NodeScene&) {
  return row.nodes.empty() ? "n/a" : CompactState(*row.nodes.front());
}
std::string Long(const NodeRow& row, const NodeScene&) {
  return row.nodes.empty() ? "n/a" : LongState(*row.nodes.front());
}
std::string Features(const NodeRow& row, const NodeScene&) {
  const bool none = row.nodes.empty() || row.nodes.front()->features.empty();
  return none ? "(null)" : absl::StrJoin(row.nodes.front()->features, ",");
}
std::string Gres(const NodeRow& row, const NodeScene&) {
  const std::string gres = row.nodes.empty() ? "" : NodeGres(*row.nodes.front());
  return gres.empty() ? "(null)" : gres;
}
std::string GresUsed(const NodeRow& row, const NodeScene&) {
  return row.nodes.empty() ? "gpu:0" : NodeGresUsed(*row.nodes.front());
}
std::string Reason(const NodeRow& row, const NodeScene&) {
  return row.nodes.empty() || row.nodes.front()->reason.empty() ? "none"
                                                                : row.nodes.front()->reason;
}
std::string HostName(const NodeRow& row, const NodeScene&) {
  return row.nodes.empty() ? "" : row.nodes.front()->name;
}
std::string AllocatedMemory(const NodeRow& row, const NodeScene&) {
  const std::uint64_t bytes = row.nodes.empty() ? 0 : row.nodes.front()->memory_taken.value();
  return absl::StrCat(bytes / kMebibyte.value());
}

// The least of all nodes, and "+" where they differ.
std::string Size(const NodeRow& row, std::uint64_t (*size)(const NodeView&)) {
  if (row.nodes.empty()) {
    return "0";
  }
  std::uint64_t least = size(*row.nodes.front());
  std::uint64_t most = least;
  for (const NodeView* node : row.nodes) {
    least = std::min(least, size(*node));
    most = std::max(most, size(*node));
  }
  return absl::StrCat(least, least == most ? "" : "+");
}
std::string Cpus(const NodeRow& row, const NodeScene&) {
  return Size(row, [](const NodeView& node) -> std::uint64_t { return node.cpus; });
}
std::string Memory(const NodeRow& row, const NodeScene&) {
  return Size(row, [](const NodeView& node) { return node.memory.value() / kMebibyte.value(); });
}
std::string Weight(const NodeRow& row, const NodeScene&) {
  return Size(row, [](const NodeView& node) -> std::uint64_t { return node.weight; });
}
std::string Sockets(const NodeRow& row, const NodeScene&) {
  return Size(row, [](const NodeView& node) -> std::uint64_t { return ShapeOf(node).sockets; });
}
std::string Cores(const NodeRow& row, const NodeScene&) {
  return Size(row, [](const NodeView& node) -> std::uint64_t { return ShapeOf(node).cores; });
}
std::string Threads(const NodeRow& row, const NodeScene&) {
  return Size(row, [](const NodeView& node) -> std::uint64_t { return ShapeOf(node).threads; });
}
std::string Shape(const NodeRow& row, const NodeScene& scene) {
  return absl::StrCat(Sockets(row, scene), ":", Cores(row, scene), ":", Threads(row, scene));
}

struct Counts {
  std::uint64_t allocated = 0;
  std::uint64_t idle = 0;
  std::uint64_t other = 0;
  std::uint64_t total = 0;
};
Counts NodeCounts(const NodeRow& row) {
  Counts counts;
  for (const NodeView* node : row.nodes) {
    ++(node->cpus_taken > 0    ? counts.allocated
       : IsOutOfService(*node) ? counts.other
                               : counts.idle);
    ++counts.total;
  }
  return counts;
}
Counts CpuCounts(const NodeRow& row) {
  Counts counts;
  for (const NodeView* node : row.nodes) {
    counts.allocated += node->cpus_taken;
    (IsOutOfService(*node) ? counts.other : counts.idle) += node->cpus - node->cpus_taken;
    counts.total += node->cpus;
  }
  return counts;
}
std::string FourOf(const Counts& counts) {
  return absl::StrCat(counts.allocated, "/", counts.idle, "/", counts.other, "/", counts.total);
}
std::string CpuState(const NodeRow& row, const NodeScene&) {
  return FourOf(CpuCounts(row));
}
std::string NodeStates(const NodeRow& row, const NodeScene&) {
  return FourOf(NodeCounts(row));
}
std::string BusyNodes(const NodeRow& row, const NodeScene&) {
  const Counts counts = NodeCounts(row);
  return absl::StrCat(counts.allocated, "/", counts.idle);
}
std::string NodeCount(const NodeRow& row, const NodeScene&) {
  return absl::StrCat(row.nodes.size());
}
std::string NodeList(const NodeRow& row, const NodeScene&) {
  std::vector<std::string> names;
  names.reserve(row.nodes.size());
  for (const NodeView* node : row.nodes) {
    names.push_back(node->name);
  }
  return CompressHostlist(names);
}

std::string Cluster(const NodeRow&, const NodeScene& scene) {
  return scene.cluster.empty() ? "N/A" : scene.cluster;
}

// NOLINTBEGIN(cppcoreguidelines-avoid-c-arrays)
constexpr NodeField kFields[] = {
    {"AllocMem", "ALLOCMEM", 0, FieldKind::kAlike, AllocatedMemory},
    {"AllocNodes", "ALLOCNODES", 'S', FieldKind::kPartition, Always<kAll>},
    {"Available", "AVAIL", 'a', FieldKind::kPartition, Available},
    {"Cluster", "CLUSTER", 'V', FieldKind::kPartition, Cluster},
    {"Cores", "CORES", 'Y', FieldKind::kSize, Cores, true},
    {"CPUs", "CPUS", 'c', FieldKind::kSize, Cpus},
    {"CPUsLoad", "CPU_LOAD", 'O', FieldKind::kAlike, Always<kNotKnown>},
    {"CPUsState", "CPUS(A/I/O/T)", 'C', FieldKind::kSum, CpuState},
    {"DefaultTime", "DEFAULTTIME", 'L', FieldKind::kPartition, DefaultTime},
    {"Disk", "TMP_DISK", 'd', FieldKind::kSize, Always<kZero>},
    {"Features", "AVAIL_FEATURES", 'f', FieldKind::kAlike, Features},
    {"features_act", "ACTIVE_FEATURES", 'b', FieldKind::kAlike, Features},
    {"FreeMem", "FREE_MEM", 'e', FieldKind::kAlike, Always<kNotKnown>},
    {"Gres", "GRES", 'G', FieldKind::kAlike, Gres},
    {"GresUsed", "GRES_USED", 0, FieldKind::kAlike, GresUsed},
    {"Groups", "GROUPS", 'g', FieldKind::kPartition, Always<kAll>},
    {"MaxCPUsPerNode", "MAX_CPUS_PER_NODE", 'B', FieldKind::kPartition, Always<kUnlimited>},
    {"Memory", "MEMORY", 'm', FieldKind::kSize, Memory},
    {"NodeAddr", "NODE_ADDR", 'o', FieldKind::kAlike, HostName},
    {"NodeAI", "NODES(A/I)", 'A', FieldKind::kSum, BusyNodes},
    {"NodeAIOT", "NODES(A/I/O/T)", 'F', FieldKind::kSum, NodeStates},
    {"NodeHost", "HOSTNAMES", 'n', FieldKind::kAlike, HostName},
    {"NodeList", "NODELIST", 'N', FieldKind::kSum, NodeList},
    {"Nodes", "NODES", 'D', FieldKind::kSum, NodeCount},
    {"OverSubscribe", "OVERSUBS", 'h', FieldKind::kPartition, Always<kUpperNo>},
    {"Partition", "PARTITION", 'P', FieldKind::kPartition, MarkedPartition},
    {"PartitionName", "PARTITION", 'R', FieldKind::kPartition, PartitionName},
    {"Port", "PORT", 0, FieldKind::kAlike, Always<kZero>},
    {"PreemptMode", "PREEMPT_MODE", 'M', FieldKind::kPartition, PreemptMode},
    {"PriorityJobFactor", "PRIO_JOB_FACTOR", 'I', FieldKind::kPartition, JobFactor},
    {"PriorityTier", "PRIO_TIER", 'p', FieldKind::kPartition, Tier},
    {"Reason", "REASON", 'E', FieldKind::kAlike, Reason, false, true},
    {"Root", "ROOT", 'r', FieldKind::kPartition, Always<kNo>},
    {"Size", "JOB_SIZE", 's', FieldKind::kPartition, JobSize},
    {"SocketCoreThread", "S:C:T", 'z', FieldKind::kSize, Shape, true},
    {"Sockets", "SOCKETS", 'X', FieldKind::kSize, Sockets, true},
    {"State", "STATE", 0, FieldKind::kAlike, Long},
    {"StateCompact", "STATE", 't', FieldKind::kAlike, Compact},
    {"StateLong", "STATE", 'T', FieldKind::kAlike, Long},
    {"StateComplete", "STATE", 0, FieldKind::kAlike, Long},
    {"Threads", "THREADS", 'Z', FieldKind::kSize, Threads, true},
    {"Time", "TIMELIMIT", 'l', FieldKind::kPartition, TimeLimit},
    {"TimeStamp", "TIMESTAMP", 'H', FieldKind::kAlike, Always<kUnknown>},
    {"User", "USER", 'u', FieldKind::kAlike, Always<kUnknown>},
    {"UserLong", "USER", 'U', FieldKind::kAlike, Always<kUnknown>},
    {"Version", "VERSION", 'v', FieldKind::kAlike, Always<kNotKnown>},
    {"Weight", "WEIGHT", 'w', FieldKind::kSize, Weight},
};
// NOLINTEND(cppcoreguidelines-avoid-c-arrays)

}  // namespace

const NodeField* FindNodeField(char letter) {
  const auto* found =
      std::find_if(std::begin(kFields), std::end(kFields),
                   [letter](const NodeField& field) { return field.letter == letter; });
  return letter == 0 || found == std::end(kFields) ? nullptr : found;
}

const NodeField* FindNodeField(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kFields), std::end(kFields), [name](const NodeField& field) {
        return absl::EqualsIgnoreCase(field.name, std::string(name));
      });
  return found == std::end(kFields) ? nullptr : found;
}

std::string TitleLine(const std::string& prefix, const std::vector<NodeColumn>& columns) {
  std::string line = prefix;
  for (const NodeColumn& column : columns) {
    line += InSlot(column.field->title, column.slot);
  }
  return line + "\n";
}

std::string ValueLine(const std::string& prefix, const std::vector<NodeColumn>& columns,
                      const NodeRow& row, const NodeScene& scene) {
  std::string line = prefix;
  std::string separator;  // what stands behind this field, or stood behind the last
  for (const NodeColumn& column : columns) {
    separator = column.slot.suffix.empty() ? separator : column.slot.suffix;
    const std::string value = column.field->value(row, scene);
    line += InSlot(column.field->foreign ? Harmless(value, separator) : value, column.slot);
  }
  return line + "\n";
}

}  // namespace muster::cli::slurm
