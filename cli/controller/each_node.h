#pragma once

// One call for each of the nodes that a command line names, such as node1 or n[1-8].
//
// Thread promise: one caller's. Invariants: a list that cannot be read makes no call; what one node
// refuses keeps no other from its call.

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::cli {

// The names in the words, each once, in the order in which they were first named.
absl::StatusOr<std::vector<std::string>> NodesIn(const std::vector<std::string>& words);

// The two switches of a link, as in leaf1,leaf2. InvalidArgument: other than two names.
absl::StatusOr<std::pair<std::string, std::string>> SwitchesIn(const std::string& word);

// The exit code of the verb. Of a node alone a refusal is returned; of several each refusal is a
// line on stderr, and the code 1.
absl::StatusOr<int> ForEachNode(std::string_view verb, const std::vector<std::string>& nodes,
                                const std::function<absl::Status(const std::string&)>& call);

}  // namespace muster::cli
