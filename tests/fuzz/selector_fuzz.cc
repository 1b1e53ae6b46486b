// Job selectors and export lists: a job is never 0, elements ascend, no name is empty.
// Returns 1 when an invariant of the parser is broken; crashes are the sanitizers' to find.

#include <algorithm>
#include <cstdint>
#include <string>

#include "cli/parse/export_list.h"
#include "cli/parse/selector.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<muster::JobSelector> selector = muster::cli::ParseSelector(text);
  if (selector.ok() && (!selector->job.valid() ||
                        !std::is_sorted(selector->elements.begin(), selector->elements.end()))) {
    return 1;
  }
  const absl::StatusOr<muster::cli::ExportList> list = muster::cli::ParseExport(text);
  const auto is_empty = [](const std::string& item) { return item.empty(); };
  return list.ok() && std::any_of(list->names.begin(), list->names.end(), is_empty) ? 1 : 0;
}
