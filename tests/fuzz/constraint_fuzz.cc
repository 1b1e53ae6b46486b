// Constraints and features: an accepted constraint is complete and bounded, and reads back.
// Returns 1 when an invariant of the parser is broken; crashes are the sanitizers' to find.

#include <algorithm>
#include <cstdint>
#include <string>

#include "cli/parse/request/constraint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto features = muster::cli::ParseFeatures(text);
  if (features.ok() && (features->empty() || !std::is_sorted(features->begin(), features->end()))) {
    return 1;
  }
  const absl::StatusOr<muster::Constraint> constraint = muster::cli::ParseConstraint(text);
  if (!constraint.ok()) {
    return constraint.status().message().find(static_cast<char>(10)) == std::string::npos ? 0 : 1;
  }
  bool complete = muster::IsComplete(constraint->every);
  for (const muster::FeatureCount& count : constraint->counts) {
    complete = complete && count.nodes > 0 && !count.expression.postfix.empty() &&
               muster::IsComplete(count.expression);
  }
  return complete &&
                 muster::cli::ParseConstraint(muster::ToText(*constraint)).value() == *constraint
             ? 0
             : 1;
}
