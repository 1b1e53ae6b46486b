#include "cli/controller/each_node.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <set>

#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"

namespace muster::cli {
namespace {

constexpr std::size_t kNodeWordBytesMax = 500;

}  // namespace

absl::StatusOr<std::vector<std::string>> NodesIn(const std::vector<std::string>& words) {
  std::vector<std::string> nodes;
  std::set<std::string> seen;
  for (const std::string& word : words) {
    RETURN_IF_ERROR(CheckText(word, kNodeWordBytesMax));
    ASSIGN_OR_RETURN(const std::vector<std::string> some, NodeNames(word));
    std::copy_if(some.begin(), some.end(), std::back_inserter(nodes),
                 [&seen](const std::string& name) { return seen.insert(name).second; });
  }
  return nodes;
}

absl::StatusOr<int> ForEachNode(std::string_view verb, const std::vector<std::string>& nodes,
                                const std::function<absl::Status(const std::string&)>& call) {
  int code = 0;
  for (const std::string& node : nodes) {
    const absl::Status status = call(node);
    if (!status.ok() && nodes.size() == 1) {
      return status;
    }
    if (!status.ok()) {
      std::cerr << "muster " << verb << ": " << status.message() << std::endl;
      code = 1;
    }
  }
  return code;
}

}  // namespace muster::cli
