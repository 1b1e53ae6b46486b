#include "cli/controller/each_node.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/words.h"

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

absl::StatusOr<std::pair<std::string, std::string>> SwitchesIn(const std::string& word) {
  RETURN_IF_ERROR(CheckText(word, kNodeWordBytesMax));
  std::pair<std::string, std::string> names = absl::StrSplit(word, absl::MaxSplits(',', 1));
  if (names.first.empty() || names.second.empty() || absl::StrContains(names.second, ',')) {
    return absl::InvalidArgumentError(
        absl::StrCat("--link: ", Quote(word), " is not two switches, such as leaf1,leaf2"));
  }
  return names;
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
