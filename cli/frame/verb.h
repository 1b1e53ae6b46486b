#pragma once

// The frame that every verb plugs into: what it takes, described as data, and the function that
// does it.
//
// command_line.cc turns descriptions into CLI11 parsers, help and completion; a verb sees only the
// Invocation. A verb's status decides the exit code: OK gives its own number, InvalidArgument is
// bad usage (2), anything else a refusal (1); the frame prints `muster VERB: MESSAGE` on stderr. A
// message that stands for itself starts with "muster: " and is printed as it is. Thread promise:
// verbs run on the main thread.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

inline constexpr const char* kVersion = "0.1.0";

struct Option {
  std::string name;     // "nodes" for --nodes
  char letter = 0;      // 'N' for -N; 0 for none
  std::string metavar;  // "N"; empty for a flag
  std::string text;     // one line of help; empty hides the option
  // Given more than once: the values with this between them; 0: the last counts.
  char joined_by = 0;
};

// How a heterogeneous job's components stand on a verb's command line, with a lone ":" between.
enum class Components {
  kNone,      // not at all
  kOptions,   // options each, and after the last what follows them
  kCommands,  // options and a command each
};

// What follows a ":".
struct ComponentWords {
  std::map<std::string, std::string> values;  // as in Invocation
  std::vector<std::string> arguments;
};

struct Verb;

struct Invocation {
  const Environment& environment;
  const std::vector<Verb>& verbs;             // for help and completion
  std::map<std::string, std::string> values;  // by option name; flags hold ""
  std::vector<std::string> arguments;
  std::vector<ComponentWords> components = {};  // those after the first

  bool Has(const std::string& name) const { return values.count(name) != 0; }
  // The option's value, or "" when it is not given.
  std::string Value(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  }
};

struct Verb {
  std::string name;
  std::string purpose;                // one line; empty hides the verb
  std::string synopsis;               // what follows the options: "SCRIPT [ARG…]"
  std::vector<std::string> forms;     // where there are several, each whole: "rotate [--finish]"
  std::vector<std::string> examples;  // one to a few whole commands
  std::string remarks;                // further lines of --help
  std::vector<Option> options;        // --help, --controller and --state come by themselves
  std::size_t arguments_min = 0;
  std::size_t arguments_max = 0;
  bool takes_command = false;  // everything from the first argument on belongs to the command
  Components components = Components::kNone;
  absl::StatusOr<int> (*run)(const Invocation&) = nullptr;
};

inline constexpr std::size_t kAnyNumber = static_cast<std::size_t>(-1);

// The option of every reading verb.
inline Option JsonOption() {
  return {.name = "json",
          .letter = 0,
          .metavar = "",
          .text = "Print one JSON document with stable names"};
}

}  // namespace muster::cli
