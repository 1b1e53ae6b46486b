#pragma once

// The network of the configuration, held against the nodes that there are.
//
// Neither a place without a node nor a node without a place is an error: nodes come and go, and one
// that is off the map is used like any other, but is near to no other. Both are logged. Thread
// promise: immutable once made. Invariants: a line names a few nodes and counts the rest.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "scheduler/model/machine/network.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/value/ids.h"

namespace muster::daemon {

// Reads a network from a file of any format that topology/network/network_file knows.
absl::StatusOr<std::shared_ptr<const Network>> ReadNetworkMap(const std::string& path);

class NetworkMap {
 public:
  // `network`: null when there is none; then nothing is ever logged.
  explicit NetworkMap(std::shared_ptr<const Network> network = nullptr);

  // What the source says of itself, the places without a node and the nodes without a place, a line
  // each.
  [[nodiscard]] std::vector<std::string> Remarks(const std::map<NodeId, Node>& nodes) const;
  // What there is to say of a new node; nothing when it has its place.
  [[nodiscard]] std::optional<std::string> RemarkOn(const std::string& node) const;

 private:
  std::shared_ptr<const Network> network_;
  std::unordered_set<std::string> names_;
};

}  // namespace muster::daemon
