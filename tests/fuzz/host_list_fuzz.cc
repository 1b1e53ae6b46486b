// Host lists: what is accepted names nodes once each, and says the same when written out.
// Returns 1 when an invariant of the parser is broken; crashes are the sanitizers' to find.

#include <cstdint>
#include <set>
#include <string>

#include "absl/strings/str_join.h"
#include "scheduler/base/text/host_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<std::vector<std::string>> names = muster::NodeNames(text);
  if (!names.ok()) {
    return names.status().message().find('\n') != std::string::npos ? 1 : 0;
  }
  const std::set<std::string> once(names->begin(), names->end());
  return names->empty() || once.size() != names->size() || names->size() > muster::kHostsMax ||
                 muster::NodeNames(absl::StrJoin(*names, ",")).value() != *names
             ? 1
             : 0;
}
