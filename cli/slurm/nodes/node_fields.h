#pragma once

// The fields of sinfo: by letter (`-o %P`) and by name (`-O Partition`).
//
// Pure. Invariant: a field of kind kSum counts or lists all nodes of a row; those of kind kSize are
// "16+" where the nodes of a row differ.

#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/format/amounts.h"
#include "cli/slurm/format/percent_format.h"
#include "scheduler/model/policy/policy_view.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

struct NodeRow {
  const PolicyView* partition = nullptr;
  std::vector<const NodeView*> nodes;
};

struct NodeScene {
  Clockface clock = {};
  std::string cluster = {};
};

enum class FieldKind {
  kPartition,  // of the partition
  kAlike,      // nodes of a row share it
  kSize,
  kSum,
};

struct NodeField {
  const char* name;   // of -O
  const char* title;  // over its column
  char letter;        // of -o; 0: none
  FieldKind kind;
  std::string (*value)(const NodeRow&, const NodeScene&);
  bool shaped = false;   // needs NodeView::machine
  bool foreign = false;  // people's own words
};

const NodeField* FindNodeField(char letter);
const NodeField* FindNodeField(std::string_view name);

struct NodeColumn {
  const NodeField* field = nullptr;
  Slot slot;
};

std::string TitleLine(const std::string& prefix, const std::vector<NodeColumn>& columns);
std::string ValueLine(const std::string& prefix, const std::vector<NodeColumn>& columns,
                      const NodeRow& row, const NodeScene& scene);

}  // namespace muster::cli::slurm
