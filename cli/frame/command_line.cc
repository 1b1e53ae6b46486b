#include "cli/frame/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/frame/remote_host.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/base/utf8.h"

namespace muster::cli {
namespace {

constexpr int kRefused = 1;
constexpr int kBadUsage = 2;

// CLI11's default but for the first line, which says what CLI11 does not know of.
class VerbFormatter final : public CLI::Formatter {
 public:
  explicit VerbFormatter(const Verb& verb)
      : usage_(absl::StrCat(
            "Usage: muster ", verb.name, " ",
            absl::StrJoin(FormsOf(verb), absl::StrCat("\n       muster ", verb.name, " ")), "\n")) {
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    (void)app;
    (void)name;
    return usage_;
  }

 private:
  std::string usage_;
};

std::string Footer(const Verb& verb) {
  std::string footer = verb.remarks.empty() ? "" : absl::StrCat(verb.remarks, "\n");
  absl::StrAppend(&footer, verb.examples.size() == 1 ? "Example:" : "Examples:");
  for (const std::string& example : verb.examples) {
    absl::StrAppend(&footer, "\n  ", example);
  }
  return footer;
}

std::string Names(const Option& option) {
  return option.letter == 0 ? absl::StrCat("--", option.name)
                            : absl::StrCat("-", std::string(1, option.letter), ",--", option.name);
}

// One verb's CLI11 application, for its help: parsing is quicker done by hand than it is made.
struct HelpPage {
  explicit HelpPage(const Verb& verb) : app(verb.purpose) {
    app.name(absl::StrCat("muster ", verb.name));
    app.formatter(std::make_shared<VerbFormatter>(verb));
    app.footer(Footer(verb));
    app.set_help_flag("-h,--help", "Print this help");
    for (const Option& option : AllOptions(verb)) {
      Add(option);
    }
  }

  void Add(const Option& option) {
    CLI::Option* added = nullptr;
    if (option.metavar.empty()) {
      added = app.add_flag_callback(Names(option), [] {});
    } else {
      added = app.add_option_function<std::string>(Names(option), [](const std::string&) {});
      added->type_name(option.metavar);
    }
    added->description(option.text);
    if (option.text.empty()) {
      added->group("");
    }
  }

  CLI::App app;
};

const Option* FindOption(const std::vector<Option>& options, const std::string& name) {
  const auto found = std::find_if(options.begin(), options.end(), [&name](const Option& option) {
    return option.name == name ||
           (name.size() == 1 && option.letter != 0 && name[0] == option.letter);
  });
  return found == options.end() ? nullptr : &*found;
}

// True when the option word `word` takes the following word as its value.
bool TakesNextWord(const std::vector<Option>& options, const std::string& word) {
  if (word.rfind("--", 0) == 0) {
    const Option* option = FindOption(options, word.substr(2));
    return option != nullptr && !option->metavar.empty();
  }
  // A cluster of letters: the first that takes a value takes the rest of the word, or the next one.
  for (std::size_t i = 1; i < word.size(); ++i) {
    const Option* option = FindOption(options, std::string(1, word[i]));
    if (option != nullptr && !option->metavar.empty()) {
      return i + 1 == word.size();
    }
  }
  return false;
}

// How many leading words are options and their values; "--" ends them.
std::size_t OptionWords(const std::vector<Option>& options, const std::vector<std::string>& words) {
  std::size_t i = 0;
  while (i < words.size() && words[i].size() > 1 && words[i][0] == '-' && words[i] != "--") {
    i += TakesNextWord(options, words[i]) ? 2 : 1;
  }
  return std::min(i, words.size());
}

// Words that CLI11 must not see: positionals of our own, in order. What is left are options.
struct SplitWords {
  std::vector<std::string> options;
  std::vector<std::string> arguments;
};

SplitWords Split(const Verb& verb, const std::vector<Option>& options,
                 const std::vector<std::string>& words) {
  SplitWords split;
  std::vector<std::string> rest = words;
  for (;;) {
    const std::size_t taken = OptionWords(options, rest);
    const auto middle = rest.begin() + static_cast<std::ptrdiff_t>(taken);
    split.options.insert(split.options.end(), rest.begin(), middle);
    rest.erase(rest.begin(), middle);
    const bool marked = !rest.empty() && rest.front() == "--";
    if (marked) {
      rest.erase(rest.begin());
    }
    if (rest.empty() || marked || verb.takes_command) {
      split.arguments.insert(split.arguments.end(), rest.begin(), rest.end());
      return split;
    }
    split.arguments.push_back(rest.front());
    rest.erase(rest.begin());
  }
}

// What CLI11 would misread or explain badly: a flag with a value, and an empty value.
absl::Status CheckOptionWords(const std::vector<Option>& options,
                              const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); i += TakesNextWord(options, words[i]) ? 2 : 1) {
    const std::size_t equals = words[i].find('=');
    if (words[i].rfind("--", 0) != 0 || equals == std::string::npos) {
      continue;
    }
    const std::string name = words[i].substr(0, equals);
    const Option* option = FindOption(options, name.substr(2));
    if (option != nullptr && option->metavar.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": takes no value"));
    }
    if (option != nullptr && equals + 1 == words[i].size()) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": needs a value"));
    }
  }
  return absl::OkStatus();
}

absl::Status UnknownOption(const Verb& verb, const std::string& word) {
  return absl::InvalidArgumentError(
      absl::StrCat("unknown option ", Quote(word), ": see muster ", verb.name, " --help"));
}

// What the words of options say, by the option's name.
class OptionReader {
 public:
  OptionReader(const Verb& verb, const std::vector<Option>& options)
      : verb_(verb), options_(options) {}

  // Cancelled carries the help that was asked for.
  absl::StatusOr<std::map<std::string, std::string>> Read(const std::vector<std::string>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      RETURN_IF_ERROR(words[i].rfind("--", 0) == 0 ? ReadLong(words, i) : ReadLetters(words, i));
    }
    return std::move(values_);
  }

 private:
  absl::Status ReadLong(const std::vector<std::string>& words, std::size_t& i) {
    const std::size_t equals = words[i].find('=');
    const std::string name = words[i].substr(2, equals == std::string::npos ? equals : equals - 2);
    const Option* option = name.size() < 2 ? nullptr : FindOption(options_, name);
    if (option == nullptr) {
      return name == "help" ? absl::CancelledError(VerbHelp(verb_))
                            : UnknownOption(verb_, words[i]);
    }
    if (option->metavar.empty() || equals != std::string::npos) {
      Set(*option, option->metavar.empty() ? "" : words[i].substr(equals + 1));
      return absl::OkStatus();
    }
    return TakeNext(*option, words, i);
  }

  // Flags by their letters; the first that takes a value takes the rest of the word, or the next.
  absl::Status ReadLetters(const std::vector<std::string>& words, std::size_t& i) {
    const std::string& word = words[i];
    for (std::size_t at = 1; at < word.size(); ++at) {
      const Option* option = FindOption(options_, std::string(1, word[at]));
      if (option == nullptr) {
        return word[at] == 'h' ? absl::CancelledError(VerbHelp(verb_)) : UnknownOption(verb_, word);
      }
      if (option->metavar.empty()) {
        Set(*option, "");
      } else if (at + 1 < word.size()) {
        Set(*option, word.substr(at + 1));
        return absl::OkStatus();
      } else {
        return TakeNext(*option, words, i);
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeNext(const Option& option, const std::vector<std::string>& words,
                        std::size_t& i) {
    if (i + 1 == words.size()) {
      return absl::InvalidArgumentError(absl::StrCat(words[i], ": needs a value"));
    }
    Set(option, words[++i]);
    return absl::OkStatus();
  }

  void Set(const Option& option, const std::string& value) {
    const auto [held, is_new] = values_.try_emplace(option.name, value);
    if (!is_new && option.joined_by != '\0') {
      absl::StrAppend(&held->second, std::string(1, option.joined_by), value);
    } else {
      held->second = value;
    }
  }

  const Verb& verb_;
  const std::vector<Option>& options_;
  std::map<std::string, std::string> values_;
};

absl::Status CheckArgumentCount(const Verb& verb, std::size_t count) {
  if (count < verb.arguments_min) {
    return absl::InvalidArgumentError(
        absl::StrCat("missing ", verb.synopsis, ": see muster ", verb.name, " --help"));
  }
  if (count > verb.arguments_max) {
    return absl::InvalidArgumentError(
        absl::StrCat("too many arguments: see muster ", verb.name, " --help"));
  }
  return absl::OkStatus();
}

// The words of each component: cut at every lone ":" where each has a command, else at those that
// stand where an option could.
std::vector<std::vector<std::string>> SplitComponents(const Verb& verb,
                                                      const std::vector<Option>& options,
                                                      const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> parts;
  std::vector<std::string> rest = words;
  while (verb.components != Components::kNone) {
    const std::size_t at =
        verb.components == Components::kCommands
            ? static_cast<std::size_t>(std::find(rest.begin(), rest.end(), ":") - rest.begin())
            : OptionWords(options, rest);
    if (at == rest.size() || rest[at] != ":") {
      break;
    }
    const auto colon = rest.begin() + static_cast<std::ptrdiff_t>(at);
    parts.emplace_back(rest.begin(), colon);
    rest.erase(rest.begin(), colon + 1);
  }
  parts.push_back(std::move(rest));
  return parts;
}

// One component's options and arguments. InvalidArgument and Cancelled as ParseVerb's.
absl::StatusOr<ComponentWords> ParseWords(const Verb& verb, const std::vector<Option>& options,
                                          const std::vector<std::string>& arguments) {
  SplitWords split = Split(verb, options, arguments);
  RETURN_IF_ERROR(CheckOptionWords(options, split.options));
  ASSIGN_OR_RETURN(auto values, OptionReader(verb, options).Read(split.options));
  return ComponentWords{std::move(values), std::move(split.arguments)};
}

int Report(const absl::Status& status, const std::string& where, Terminal terminal) {
  const std::string message(status.message());
  terminal.err << (message.rfind("muster: ", 0) == 0 ? "" : where + ": ");
  const std::vector<std::string> lines = absl::StrSplit(message, '\n');
  for (const std::string& line : lines) {
    terminal.err << Printable(line) << "\n";
  }
  return absl::IsInvalidArgument(status) ? kBadUsage : kRefused;
}

}  // namespace

std::vector<std::string> FormsOf(const Verb& verb) {
  return !verb.forms.empty() ? verb.forms
                             : std::vector<std::string>{absl::StrCat(
                                   "[options]", verb.synopsis.empty() ? "" : " ", verb.synopsis)};
}

std::vector<Option> AllOptions(const Verb& verb) {
  std::vector<Option> options = verb.options;
  options.push_back({.name = "controller",
                     .letter = 0,
                     .metavar = "ADDR",
                     .text = "The controller: unix:PATH or HOST:PORT"});
  if (FindOption(options, "state") == nullptr) {
    options.push_back({.name = "state",
                       .letter = 0,
                       .metavar = "DIR",
                       .text = "State directory of the personal cluster"});
  }
  return options;
}

absl::StatusOr<Invocation> ParseVerb(const Verb& verb, const std::vector<Verb>& verbs,
                                     const Environment& environment,
                                     const std::vector<std::string>& arguments) {
  Invocation invocation{.environment = environment, .verbs = verbs, .values = {}, .arguments = {}};
  const std::vector<Option> options = AllOptions(verb);
  const std::vector<std::vector<std::string>> parts = SplitComponents(verb, options, arguments);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ASSIGN_OR_RETURN(ComponentWords words, ParseWords(verb, options, parts[i]));
    const bool has_arguments = verb.components == Components::kCommands || i + 1 == parts.size();
    if (has_arguments) {
      RETURN_IF_ERROR(CheckArgumentCount(verb, words.arguments.size()));
    }
    if (i == 0) {
      invocation.values = std::move(words.values);
      invocation.arguments = std::move(words.arguments);
      continue;
    }
    if (verb.components == Components::kOptions) {
      invocation.arguments = std::move(words.arguments);
      words.arguments.clear();
    }
    invocation.components.push_back(std::move(words));
  }
  return invocation;
}
std::string VerbHelp(const Verb& verb) {
  const HelpPage page(verb);
  return page.app.help();
}

std::string OverallHelp(const std::vector<Verb>& verbs) {
  std::string help = "muster runs jobs on clusters\n\nUsage: muster VERB [options] …\n\nVerbs:\n";
  for (const Verb& verb : verbs) {
    if (!verb.purpose.empty()) {
      absl::StrAppend(&help, "  ", verb.name,
                      std::string(12 - std::min<std::size_t>(11, verb.name.size()), ' '),
                      verb.purpose, "\n");
    }
  }
  absl::StrAppend(&help,
                  "\nFirst steps:\n"
                  "  muster up --nodes 2                 (in one terminal)\n"
                  "  muster submit --wrap hostname       (in another)\n"
                  "  muster queue\n"
                  "\nEvery verb explains itself: muster VERB --help\n"
                  "On another machine, by ssh: muster --host HOST VERB …\n");
  return help;
}

namespace {

// The place of the script that `muster submit` would read here; the number of words when there is
// none, or when the words are wrong, which the other machine will say.
std::size_t ScriptIn(const Verb& verb, const std::vector<std::string>& words) {
  if (verb.name != "submit") {
    return words.size();
  }
  const absl::StatusOr<Invocation> read =
      ParseVerb(verb, {}, Environment(), {words.begin() + 1, words.end()});
  const bool named = read.ok() && !read->arguments.empty() && read->arguments.front() != "-" &&
                     !read->Has("wrap") && !read->Has("batch");
  return words.size() - (named ? read->arguments.size() : 0);
}

// Takes "--host HOST" or "--host=HOST" off the front; nothing when neither is there.
std::optional<std::string> TakeHost(std::vector<std::string>* words) {
  const std::string option = "--host";
  const bool joined = !words->empty() && words->front().rfind(option + "=", 0) == 0;
  if (!joined && (words->empty() || words->front() != option)) {
    return std::nullopt;
  }
  std::string host = joined ? words->front().substr(option.size() + 1) : "";
  words->erase(words->begin());
  if (!joined && !words->empty()) {
    host = words->front();
    words->erase(words->begin());
  }
  return host;
}

}  // namespace

int RunCommandLine(const std::vector<Verb>& verbs, const Environment& environment,
                   const std::vector<std::string>& as_given, Terminal terminal) {
  std::vector<std::string> arguments = as_given;
  const std::optional<std::string> host = TakeHost(&arguments);
  if (arguments.empty()) {
    terminal.err << "muster: missing VERB: see muster --help\n";
    return kBadUsage;
  }
  std::string name = arguments.front();
  name = name == "--help" || name == "-h" ? "help" : name;
  name = name == "--version" ? "version" : name;
  const auto verb = std::find_if(verbs.begin(), verbs.end(),
                                 [&name](const Verb& candidate) { return candidate.name == name; });
  if (verb == verbs.end()) {
    terminal.err << "muster: " << Quote(name) << " is not a verb: see muster --help\n";
    return kBadUsage;
  }
  if (host.has_value()) {
    return Report(BecomeRemote(environment, *host, arguments, ScriptIn(*verb, arguments)), "muster",
                  terminal);
  }
  const std::string where = "muster " + verb->name;
  const absl::StatusOr<Invocation> invocation =
      ParseVerb(*verb, verbs, environment, {arguments.begin() + 1, arguments.end()});
  if (absl::IsCancelled(invocation.status())) {
    terminal.out << std::string(invocation.status().message());
    return 0;
  }
  if (!invocation.ok()) {
    return Report(invocation.status(), where, terminal);
  }
  const absl::StatusOr<int> code = verb->run(*invocation);
  return code.ok() ? *code : Report(code.status(), where, terminal);
}

int RunCommandLine(const std::vector<NamedVerb>& verbs, const Environment& environment,
                   const std::vector<std::string>& arguments, Terminal terminal) {
  std::vector<std::string> words = arguments;
  TakeHost(&words);
  std::string name = words.empty() ? "" : words.front();
  name = name == "--version" ? "version" : name;
  const auto asked = std::find_if(verbs.begin(), verbs.end(),
                                  [&name](const NamedVerb& verb) { return name == verb.name; });
  std::vector<Verb> made;
  if (asked != verbs.end() && !asked->shows_others) {
    made.push_back(asked->make());
    MUSTER_CHECK(made.back().name == name);
  } else {
    std::transform(verbs.begin(), verbs.end(), std::back_inserter(made),
                   [](const NamedVerb& verb) { return verb.make(); });
  }
  return RunCommandLine(made, environment, arguments, terminal);
}

}  // namespace muster::cli
