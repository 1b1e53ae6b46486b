#include "cli/slurm/nodes/node_words.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/host_list.h"

namespace muster::cli::slurm {

NodeWord WordOf(const NodeView& node) {
  const bool drain = absl::EndsWith(node.state, "+DRAIN");
  const bool answers = !absl::StartsWith(node.state, "DOWN");
  const bool idle = absl::StartsWith(node.state, "IDLE");
  if (drain && answers && !idle) {
    return {"draining", "drng", true, 6};
  }
  if (drain) {
    return {"drained", "drain", answers, answers ? 5 : 8};
  }
  if (absl::StartsWith(node.state, "POWER")) {  // marks of sinfo: off, boots, shuts down
    const char* const word = absl::StartsWith(node.state, "POWERED_DOWN")  ? "idle~"
                             : absl::StartsWith(node.state, "POWERING_UP") ? "idle#"
                                                                           : "idle%";
    return {word, word, true, 2};
  }
  if (!answers) {
    return {"down", "down", false, 7};
  }
  if (idle) {
    return {"idle", "idle", true, 2};
  }
  return absl::StartsWith(node.state, "MIXED") ? NodeWord{"mixed", "mix", true, 4}
                                               : NodeWord{"allocated", "alloc", true, 3};
}

bool IsOutOfService(const NodeView& node) {
  const std::string state = WordOf(node).state;
  return state == "drained" || state == "down" || state == "draining";
}

std::string LongState(const NodeView& node) {
  const NodeWord word = WordOf(node);
  return absl::StrCat(word.state, word.answers ? "" : "*");
}

std::string CompactState(const NodeView& node) {
  const NodeWord word = WordOf(node);
  return absl::StrCat(word.compact, word.answers ? "" : "*");
}

std::string UpperState(const NodeView& node) {
  return absl::StrCat(node.state, WordOf(node).answers ? "" : "+NOT_RESPONDING");
}

std::string Property(const PolicyView& object, std::string_view name, const std::string& none) {
  const auto found = std::find_if(
      object.properties.begin(), object.properties.end(),
      [name](const Assignment& one) { return absl::EqualsIgnoreCase(one.key, std::string(name)); });
  return found == object.properties.end() || found->value.empty() ? none : found->value;
}

bool IsDefaultPartition(const PolicyView& partition) {
  return partition.implied || Property(partition, "Default", "NO") == "YES";
}

Members::Members(const PolicyView& partition) {
  const std::string nodes = Property(partition, "Nodes", "ALL");
  all_ = nodes == "ALL";
  if (all_) {
    return;
  }
  if (const absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(nodes); names.ok()) {
    names_.insert(names->begin(), names->end());
  }
}

NodeShape ShapeOf(const NodeView& node) {
  const auto packages = static_cast<unsigned>(node.machine.packages.size());
  const unsigned sockets = std::max(packages, 1U);
  return {.sockets = sockets,
          .cores = std::max(node.cores / sockets, 1U),
          .threads = node.cores == 0 ? 1U : std::max(node.cpus / node.cores, 1U)};
}

std::string NodeGres(const NodeView& node) {
  std::string text = node.gpus == 0 ? "" : absl::StrCat("gpu:", node.gpus);
  for (const GresCount& gres : node.gres) {
    absl::StrAppend(&text, text.empty() ? "" : ",", gres.name, ":", gres.count);
  }
  return text;
}

std::string NodeGresUsed(const NodeView& node) {
  std::string text = absl::StrCat("gpu:", node.gpus_taken);
  for (const GresCount& gres : node.gres) {
    absl::StrAppend(&text, ",", gres.name, ":", CountOf(node.gres_taken, gres.name));
  }
  return text;
}

}  // namespace muster::cli::slurm
