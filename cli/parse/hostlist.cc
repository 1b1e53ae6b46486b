#include "cli/parse/hostlist.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "absl/strings/str_cat.h"
#include "cli/parse/number.h"

namespace muster::cli {

absl::StatusOr<std::vector<std::string>> ParseHostlist(std::string_view text) {
  absl::StatusOr<std::vector<std::string>> all = ExpandHostlist(text);
  if (absl::IsResourceExhausted(all.status())) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " names too many nodes: use at most ", kHostsMax));
  }
  if (!all.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text), " is not a list of nodes: use names like n1,n[3-5,07]"));
  }
  std::set<std::string> seen;
  std::vector<std::string> names;
  std::copy_if(all->begin(), all->end(), std::back_inserter(names),
               [&seen](const std::string& name) { return seen.insert(name).second; });
  return names;
}

}  // namespace muster::cli
