#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <map>

#include "absl/strings/str_cat.h"
#include "cli/frame/command_line.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/kernel/kernel_catalogue.h"
#include "cli/kernel/kernel_process.h"
#include "cli/kernel/kernel_scale.h"
#include "cli/kernel/kernel_timeline.h"
#include "cli/kernel/kernel_tune.h"
#include "cli/page/table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr const char* kLauncher = "mpirun --oversubscribe -n";

// The words behind the command: ours by name, the others in their order.
struct Words {
  std::map<std::string, std::string> ours;
  std::vector<std::string> others;

  [[nodiscard]] bool Has(const std::string& name) const { return ours.count(name) != 0; }
  [[nodiscard]] std::string Value(const std::string& name, const std::string& otherwise) const {
    const auto found = ours.find(name);
    return found == ours.end() ? otherwise : found->second;
  }
};

const Option* OursNamed(const std::vector<Option>& options, const std::vector<std::string>& names,
                        const std::string& word) {
  const std::string name = word.rfind("--", 0) == 0 ? word.substr(2, word.find('=') - 2) : "";
  const bool taken = std::find(names.begin(), names.end(), name) != names.end();
  const auto found = std::find_if(options.begin(), options.end(),
                                  [&](const Option& each) { return each.name == name; });
  return taken && found != options.end() ? &*found : nullptr;
}

std::vector<Option> KernelOptions() {
  return {
      {.name = "budget",
       .letter = 0,
       .metavar = "TIME",
       .text = "tune: how long to search; 30s otherwise"},
      {.name = "compare-binding",
       .letter = 0,
       .metavar = "",
       .text = "run stream: bound, unbound and deliberately wrong, with the ratios"},
      {.name = "launcher",
       .letter = 0,
       .metavar = "WORDS",
       .text = "scale with ranks: what stands before their number; mpirun --oversubscribe -n"},
      {.name = "ranks",
       .letter = 0,
       .metavar = "LIST",
       .text = "scale: numbers of threads or ranks to run with; 1,2,4, or 2,4"},
      {.name = "svg",
       .letter = 0,
       .metavar = "FILE",
       .text = "scale: also write a picture of the speed-up beside the ideal line"},
      {.name = "weak",
       .letter = 0,
       .metavar = "",
       .text = "scale: let the work grow with the ranks"},
      JsonOption(),
  };
}

// Takes the options `names` out of the words behind the command and the kernel's name.
absl::StatusOr<Words> Take(const Invocation& invocation, std::size_t first,
                           const std::vector<std::string>& names) {
  const std::vector<Option> options = KernelOptions();
  Words words;
  words.ours = invocation.values;
  const std::vector<std::string>& given = invocation.arguments;
  for (std::size_t i = first; i < given.size(); ++i) {
    const Option* ours = OursNamed(options, names, given[i]);
    const std::size_t equals = given[i].find('=');
    if (ours == nullptr) {
      words.others.push_back(given[i]);
    } else if (ours->metavar.empty() && equals != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("--", ours->name, ": takes no value"));
    } else if (ours->metavar.empty()) {
      words.ours[ours->name] = "";
    } else if (equals != std::string::npos && equals + 1 < given[i].size()) {
      words.ours[ours->name] = given[i].substr(equals + 1);
    } else if (equals == std::string::npos && i + 1 < given.size()) {
      words.ours[ours->name] = given[++i];
    } else {
      return absl::InvalidArgumentError(absl::StrCat("--", ours->name, ": needs a value"));
    }
  }
  return words;
}

absl::StatusOr<int> List(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const Words words, Take(invocation, 1, {"json"}));
  if (!words.others.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("list: ", Quote(words.others.front()), ": takes --json and nothing else"));
  }
  Table table({{.title = "KERNEL"},
               {.title = "NEEDS"},
               {.title = "HERE"},
               {.title = "MEASURES", .right = false, .least = 20}});
  Json rows = Json::array();
  for (const BundledKernel& kernel : BundledKernels()) {
    const bool here = KernelProgram(kernel, invocation.environment).ok();
    table.Add({{kernel.name},
               {ToText(kernel.needs)},
               {here ? "yes" : "no", here ? Paint::kPlain : Paint::kFaint},
               {kernel.measures}});
    rows.push_back({{"name", kernel.name},
                    {"needs", ToText(kernel.needs)},
                    {"here", here},
                    {"measures", kernel.measures}});
  }
  RETURN_IF_ERROR(WriteOut(words.Has("json")
                               ? PrintJson({{"kernels", rows}})
                               : table.Print(StyleFor(invocation.environment, STDOUT_FILENO))));
  return 0;
}

// This process becomes the kernel.
absl::StatusOr<int> Become(const BundledKernel& kernel, const Words& words,
                           const Environment& environment, const std::string& tunings) {
  ASSIGN_OR_RETURN(std::string program, KernelProgram(kernel, environment));
  std::vector<std::string> all = {program};
  if (*kernel.only != '\0') {
    all.insert(all.end(), {"--only", kernel.only});
  }
  all.insert(all.end(), words.others.begin(), words.others.end());
  std::vector<char*> arguments;
  arguments.reserve(all.size() + 1);
  for (std::string& word : all) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  std::cout.flush();
  if (!tunings.empty()) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): this thread is the last
    setenv(kTuningVariable, tunings.c_str(), 0);
  }
  execv(program.c_str(), arguments.data());
  return absl::ErrnoToStatus(errno, absl::StrCat(program, ": cannot be run"));
}

absl::StatusOr<BundledKernel> NamedKernel(const Invocation& invocation) {
  if (invocation.arguments.size() < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(invocation.arguments.front(), ": name a kernel: see muster kernel list"));
  }
  return FindKernel(invocation.arguments[1]);
}

absl::StatusOr<int> Run(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const BundledKernel kernel, NamedKernel(invocation));
  ASSIGN_OR_RETURN(Words words, Take(invocation, 2, {"compare-binding"}));
  if (!words.Has("compare-binding")) {
    if (words.Has("json")) {
      words.others.emplace_back("--json");
    }
    return Become(kernel, words, invocation.environment, SharedTunings(kernel, invocation));
  }
  ASSIGN_OR_RETURN(words, Take(invocation, 2, {"compare-binding", "json"}));
  return CompareBinding(kernel, words.others, words.Has("json"), invocation.environment);
}

absl::StatusOr<int> Scale(const Invocation& invocation) {
  ScaleRequest request;
  ASSIGN_OR_RETURN(request.kernel, NamedKernel(invocation));
  ASSIGN_OR_RETURN(const Words words,
                   Take(invocation, 2, {"ranks", "launcher", "svg", "weak", "json"}));
  ASSIGN_OR_RETURN(request.ranks, ParseRanks(words.Value("ranks", DefaultRanks(request.kernel))));
  request.weak = words.Has("weak");
  request.launcher = words.Value("launcher", kLauncher);
  request.svg = words.Value("svg", "");
  request.json = words.Has("json");
  request.arguments = words.others;
  return ScaleKernel(request, invocation.environment);
}

absl::StatusOr<int> Tune(const Invocation& invocation) {
  TuneRequest request;
  ASSIGN_OR_RETURN(request.kernel, NamedKernel(invocation));
  ASSIGN_OR_RETURN(const Words words, Take(invocation, 2, {"budget", "json"}));
  request.budget = words.Value("budget", request.budget);
  request.json = words.Has("json");
  request.arguments = words.others;
  return TuneKernel(request, invocation);
}

absl::StatusOr<int> Timeline(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const Words words, Take(invocation, 1, {"json"}));
  const std::vector<std::string>& given = words.others;
  const auto option = std::find_if(
      given.begin(), given.end(), [](const std::string& word) { return word.rfind("--", 0) == 0; });
  if (option != given.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("timeline: ", Quote(*option), ": takes files and --json alone"));
  }
  if (given.size() < 2) {
    return absl::InvalidArgumentError(
        "timeline: name the file to write, and those of the ranks: timeline ALL.json PART…");
  }
  return JoinTimelines(given[0], {given.begin() + 1, given.end()}, words.Has("json"),
                       StyleFor(invocation.environment, STDOUT_FILENO));
}

absl::StatusOr<int> Kernel(const Invocation& invocation) {
  const std::string& command = invocation.arguments.front();
  static const std::map<std::string, absl::StatusOr<int> (*)(const Invocation&)> kCommands = {
      {"list", List}, {"run", Run}, {"scale", Scale}, {"timeline", Timeline}, {"tune", Tune}};
  const auto found = kCommands.find(command);
  if (found == kCommands.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(command), " is not a kernel command: use list, run, scale, timeline or tune"));
  }
  // A kernel has a help of its own, behind its name.
  if (invocation.arguments.size() == 2 &&
      (invocation.arguments[1] == "--help" || invocation.arguments[1] == "-h")) {
    RETURN_IF_ERROR(WriteOut(VerbHelp(KernelVerb())));
    return 0;
  }
  return found->second(invocation);
}

}  // namespace

Verb KernelVerb() {
  Verb verb;
  verb.name = "kernel";
  verb.purpose = "List, run, scale and tune the bundled kernels, and join timelines";
  verb.synopsis =
      "list|run NAME [OPTION…]|scale NAME [OPTION…]|tune NAME [OPTION…]|timeline ALL PART…";
  verb.forms = {"list [--json]", "run NAME [--compare-binding] [OPTION…]",
                "scale NAME [--ranks LIST] [--weak] [--svg FILE] [--json] [OPTION…]",
                "timeline ALL PART… [--json]", "tune NAME [--budget TIME] [--json] [OPTION…]"};
  verb.examples = {"muster kernel list", "muster kernel run stream --n 64M --compare-binding",
                   "muster kernel scale heat2d --ranks 1,2,4 --n 2048 --svg heat2d.svg",
                   "muster kernel timeline all.json torch-12.1.*.json"};
  verb.remarks =
      "What follows NAME and is none of these options is the kernel's own: see muster kernel run "
      "NAME --help.\n"
      "A kernel that needs ranks is started by a launcher: muster run -n 4 PATH, with the path "
      "that "
      "run names.\n";
  verb.options = KernelOptions();
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.takes_command = true;
  verb.run = Kernel;
  return verb;
}

}  // namespace muster::cli
