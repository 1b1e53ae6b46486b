#include <iostream>

#include "cli/frame/verbs.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Version(const Invocation&) {
  std::cout << "muster " << kVersion << std::endl;
  return 0;
}

}  // namespace

Verb VersionVerb() {
  Verb verb;
  verb.name = "version";
  verb.purpose = "Print the version";
  verb.examples = {"muster version"};
  verb.run = Version;
  return verb;
}

}  // namespace muster::cli
