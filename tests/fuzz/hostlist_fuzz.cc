// Node lists and licences: bounded, no name empty or twice, and what CompressHostlist writes of
// them reads back. Returns 1 when an invariant of the parser is broken; crashes are the sanitizers'
// to find.

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "cli/parse/request/licenses.h"
#include "scheduler/base/text/host_list.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto licenses = muster::cli::ParseLicenses(text);
  if (licenses.ok() &&
      std::any_of(licenses->begin(), licenses->end(), [](const muster::LicenseCount& one) {
        return one.name.empty() || one.count == 0;
      })) {
    return 1;
  }
  const auto names = muster::NodeNames(text);
  if (!names.ok()) {
    return names.status().message().find(static_cast<char>(10)) == std::string::npos ? 0 : 1;
  }
  const std::set<std::string> once(names->begin(), names->end());
  if (names->empty() || names->size() > muster::kHostsMax || once.size() != names->size() ||
      once.count("") != 0) {
    return 1;
  }
  if (names->size() > 256) {
    return 0;  // writing many different names is for the tests of CompressHostlist
  }
  const auto back = muster::NodeNames(muster::CompressHostlist(*names));
  return back.ok() && std::set<std::string>(back->begin(), back->end()) == once ? 0 : 1;
}
