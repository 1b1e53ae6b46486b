// Dependencies: an accepted one is bounded and reads back; an error is one line.
// Returns 1 when an invariant of the parser is broken; crashes are the sanitizers' to find.

#include <cstdint>
#include <string>

#include "cli/parse/request/dependency.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<muster::Dependency> dependency = muster::cli::ParseDependency(text);
  if (!dependency.ok()) {
    return dependency.status().message().find(static_cast<char>(10)) == std::string::npos ? 0 : 1;
  }
  if (dependency->terms.empty() || dependency->terms.size() > muster::cli::kDependencyTermsMax) {
    return 1;
  }
  for (const muster::DependencyTerm& term : dependency->terms) {
    if (term.job.valid() == (term.kind == muster::DependencyKind::kSingleton)) {
      return 1;
    }
  }
  return muster::cli::ParseDependency(muster::ToText(*dependency)).value() == *dependency ? 0 : 1;
}
