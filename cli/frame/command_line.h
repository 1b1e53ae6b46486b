#pragma once

// From argv to a verb: parsing, help by CLI11, and one-line errors with the contract's exit codes.
//
// The only place that includes CLI11. Of the verbs only the one that is asked for is made. Thread
// promise: the main thread's. Invariants: exit codes are 0 done, 1 refused, 2 bad usage, or a
// verb's own; an error is one line on `err`.

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"

namespace muster::cli {

struct Terminal {
  std::ostream& out;
  std::ostream& err;
};

// A verb that is made when it is needed.
struct NamedVerb {
  const char* name;
  Verb (*make)();
  bool shows_others = false;  // it needs all of them
};
int RunCommandLine(const std::vector<NamedVerb>& verbs, const Environment& environment,
                   const std::vector<std::string>& arguments, Terminal terminal);

// Runs the verb that `arguments` (without the program's name) ask for; returns the exit code.
int RunCommandLine(const std::vector<Verb>& verbs, const Environment& environment,
                   const std::vector<std::string>& arguments, Terminal terminal);

// Parses one verb's own arguments. InvalidArgument says what is wrong; Cancelled carries the help
// text that was asked for.
absl::StatusOr<Invocation> ParseVerb(const Verb& verb, const std::vector<Verb>& verbs,
                                     const Environment& environment,
                                     const std::vector<std::string>& arguments);

// What `muster VERB --help` prints, and `muster --help`.
std::string VerbHelp(const Verb& verb);
std::string OverallHelp(const std::vector<Verb>& verbs);

// The ways to call the verb, options included: what follows "muster VERB".
std::vector<std::string> FormsOf(const Verb& verb);

// The verb's options with those that every verb has.
std::vector<Option> AllOptions(const Verb& verb);

}  // namespace muster::cli
