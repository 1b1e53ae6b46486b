#include "cli/slurm/nodes/node_rows.h"

#include <algorithm>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/slurm/nodes/node_words.h"
#include "scheduler/base/contains.h"

namespace muster::cli::slurm {
namespace {

bool Wants(const NodeChoice& choice, const NodeView& node) {
  const NodeWord word = WordOf(node);
  const bool out = word.state == "drained" || word.state == "draining" || word.state == "down";
  return Admits(choice.nodes, node.name) && (!choice.answering || word.answers) &&
         (!choice.silent || !word.answers) &&
         (!choice.with_reason || (out && !node.reason.empty())) &&
         (choice.states.empty() ||
          std::any_of(choice.states.begin(), choice.states.end(),
                      [&node](const std::string& state) { return IsInState(node, state); }));
}

// What nodes must share to stand in one line.
std::string KeyOf(const NodeRow& row, const RowShape& shape, const std::vector<NodeColumn>& columns,
                  const NodeScene& scene) {
  std::string key = shape.by_node ? row.nodes.front()->name : "";
  for (const NodeColumn& column : columns) {
    if (column.field == nullptr || column.field->kind == FieldKind::kSum ||
        (column.field->kind == FieldKind::kSize && !shape.exact && !shape.by_node)) {
      continue;
    }
    absl::StrAppend(&key, "\n", column.field->value(row, scene));
  }
  return key;
}

// Adds the one node to the row of the key, or begins that row.
void AddNode(const NodeRow& one, const std::string& key, std::map<std::string, std::size_t>& row_of,
             std::vector<NodeRow>& rows) {
  const auto [place, added] = row_of.try_emplace(key, rows.size());
  if (added) {
    rows.push_back(one);
    return;
  }
  const NodeView* const node = one.nodes.front();
  std::vector<const NodeView*>& there = rows[place->second].nodes;
  if (std::find(there.begin(), there.end(), node) == there.end()) {
    there.push_back(node);
  }
}

}  // namespace

bool IsInState(const NodeView& node, const std::string& state) {
  const NodeWord word = WordOf(node);
  const bool drain = word.compact == "drain" || word.compact == "drng";
  if (state == "all" || state == "respond") {
    return state == "all" || word.answers;
  }
  if (state == "no_respond") {
    return !word.answers;
  }
  if (state == "drain") {
    return drain;
  }
  // A drained node is also idle, or down.
  const bool besides = (state == "idle" && absl::StartsWith(node.state, "IDLE")) ||
                       (state == "down" && absl::StartsWith(node.state, "DOWN"));
  return besides || state == word.state || state == word.compact;
}

std::vector<NodeRow> RowsOf(const std::vector<NodeView>& nodes,
                            const std::vector<PolicyView>& partitions, const NodeChoice& choice,
                            const RowShape& shape, const std::vector<NodeColumn>& columns,
                            const NodeScene& scene) {
  std::vector<NodeRow> rows;
  std::map<std::string, std::size_t> row_of;
  for (const PolicyView& partition : partitions) {
    if (!Admits(choice.partitions, partition.name)) {
      continue;
    }
    const Members members(partition);
    std::size_t taken = 0;
    for (const NodeView& node : nodes) {
      if (!members.Has(node.name) || !Wants(choice, node)) {
        continue;
      }
      ++taken;
      const NodeRow one{.partition = &partition, .nodes = {&node}};
      const std::string key = absl::StrCat(shape.by_node ? partition.name : "", "\n",
                                           KeyOf(one, shape, columns, scene));
      AddNode(one, key, row_of, rows);
    }
    if (taken == 0 && shape.by_partition && !shape.by_node && !choice.with_reason) {
      rows.push_back({.partition = &partition, .nodes = {}});
    }
  }
  return rows;
}

}  // namespace muster::cli::slurm
