#include <algorithm>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/frame/command_line.h"
#include "cli/frame/verbs.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Help(const Invocation& invocation) {
  if (invocation.arguments.empty()) {
    std::cout << OverallHelp(invocation.verbs);
    return 0;
  }
  const std::string& name = invocation.arguments.front();
  const auto verb = std::find_if(invocation.verbs.begin(), invocation.verbs.end(),
                                 [&name](const Verb& candidate) { return candidate.name == name; });
  if (verb == invocation.verbs.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(name), " is not a verb: see muster --help"));
  }
  std::cout << VerbHelp(*verb);
  return 0;
}

}  // namespace

Verb HelpVerb() {
  Verb verb;
  verb.name = "help";
  verb.purpose = "Explain muster, or one verb";
  verb.synopsis = "[VERB]";
  verb.examples = {"muster help submit"};
  verb.arguments_max = 1;
  verb.run = Help;
  return verb;
}

}  // namespace muster::cli
