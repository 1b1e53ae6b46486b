#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/frame/completion.h"
#include "cli/frame/verbs.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Completion(const Invocation& invocation) {
  if (invocation.arguments.front() != "bash") {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(invocation.arguments.front()), " is not a shell we know: use bash"));
  }
  std::cout << BashCompletion(invocation.verbs);
  return 0;
}

}  // namespace

Verb CompletionVerb() {
  Verb verb;
  verb.name = "completion";
  verb.purpose = "Print a completion script for bash";
  verb.synopsis = "bash";
  verb.examples = {"source <(muster completion bash)"};
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Completion;
  return verb;
}

}  // namespace muster::cli
