#pragma once

// Puts a network together from what a file says entry by entry, and refuses what cannot be one.
//
// Every reader of a network file ends here, so that all formats are held to the same rules. Thread
// promise: none; one thread owns it. Invariants: errors are InvalidArgument "FILE:LINE: …", one
// line; a network is built whole or not at all.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/model/machine/network.h"

namespace muster::topology {

struct SwitchEntry {
  std::string name;
  SwitchKind kind = SwitchKind::kSwitch;
  std::vector<std::string> switches;  // below it
  std::vector<std::string> nodes;     // below it
  LinkSpeed down;
  std::size_t line = 0;
};

struct GroupEntry {
  std::string name;
  std::vector<std::string> nodes;
  LinkSpeed speed;
  std::size_t line = 0;
};

class NetworkBuilder {
 public:
  explicit NetworkBuilder(std::string source);

  // A switch that is there twice, has nothing below it, or takes a node that another one has.
  absl::Status AddSwitch(SwitchEntry entry);
  // A block, or an NVLink domain, that is there twice or takes a node that another one has.
  absl::Status AddBlock(const GroupEntry& entry);
  absl::Status AddDomain(const GroupEntry& entry);
  // Each size is the first one, doubled any number of times (Slurm's rule).
  absl::Status SetBlockSizes(const std::vector<std::uint32_t>& sizes, std::size_t line);
  void AddRemark(std::string remark) { network_.remarks.push_back(std::move(remark)); }

  // A switch below two others, below itself, or named and never described; no nodes at all.
  absl::StatusOr<Network> Build();

  // "FILE:LINE: WHAT".
  [[nodiscard]] absl::Status ErrorAt(std::size_t line, const std::string& what) const;
  // The names of a node or switch list; an error names the line.
  [[nodiscard]] absl::StatusOr<std::vector<std::string>> Names(const std::string& list,
                                                               std::size_t line) const;

 private:
  using Groups = std::vector<NetworkGroup>;

  absl::StatusOr<std::uint32_t> NodeCalled(const std::string& name, std::size_t line);
  absl::Status AddGroup(const GroupEntry& entry, const char* what, Groups& groups,
                        std::uint32_t NetworkNode::*member,
                        std::map<std::string, std::size_t>& lines);
  absl::Status LinkParents();
  absl::Status OrderSwitches();
  absl::Status CycleError(std::size_t first) const;
  void RemarkOnGaps();

  Network network_;  // its switches are made by Build()
  std::vector<SwitchEntry> entries_;
  std::vector<std::uint32_t> parents_;  // by entry
  std::map<std::string, std::uint32_t> switch_called_;
  std::map<std::string, std::uint32_t> node_called_;
  std::map<std::string, std::size_t> block_lines_;
  std::map<std::string, std::size_t> domain_lines_;
};

}  // namespace muster::topology
