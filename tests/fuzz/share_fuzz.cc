// Account trees in files: what is read has ranks, what is refused has one line.
// Returns 1 when an invariant of the parser is broken; crashes are the sanitizers' to find.

#include <algorithm>
#include <cstdint>
#include <string>

#include "cli/share/share_file.h"
#include "scheduler/core/share/classic_fairshare.h"
#include "scheduler/core/share/fair_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<muster::AccountTree> tree = muster::cli::ParseShareFile(text, "f");
  if (!tree.ok()) {
    return tree.status().message().find('\n') == std::string::npos ? 0 : 1;
  }
  const auto is_odd = [](const muster::ShareStatus& status) {
    return !(status.fairshare >= 0 && status.fairshare <= 1);
  };
  for (const muster::ShareStatuses& statuses :
       {muster::core::FairTree(*tree), muster::core::ClassicFairshare(*tree)}) {
    if (statuses.associations.size() != tree->associations.size() ||
        std::any_of(statuses.associations.begin(), statuses.associations.end(), is_odd)) {
      return 1;
    }
  }
  return 0;
}
