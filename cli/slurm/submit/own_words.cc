#include "cli/slurm/submit/own_words.h"

#include <array>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/page/text.h"
#include "cli/slurm/frame/errors.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

Takes TakesOf(SlurmValue value) {
  return value == SlurmValue::kNone       ? Takes::kNothing
         : value == SlurmValue::kRequired ? Takes::kValue
                                          : Takes::kOptional;
}

// Ours, which Slurm has not: each time adds to the others.
constexpr std::array kOurs = {"stage-in", "stage-in-node", "stage-out"};

bool AddsUp(const std::string& name) {
  return name == "recorded" || Contains(kOurs, name);
}

// The two that say opposite things; the later wins.
void DropOpposite(const std::string& name, std::map<std::string, std::string>* values) {
  if (name == "requeue") {
    values->erase("no-requeue");
  } else if (name == "no-requeue") {
    values->erase("requeue");
  }
}

void Add(const OwnOption& option, std::map<std::string, std::string>* values) {
  DropOpposite(option.name, values);
  std::string& value = (*values)[option.name];
  value = AddsUp(option.name) && !value.empty() ? absl::StrCat(value, "\n", option.value)
                                                : option.value;
}

// The option that `message` is about: the first "--NAME: " of it; null when it names none.
const SlurmOption* OptionIn(const std::string& message, unsigned command) {
  const std::size_t begin = message.find("--");
  const std::size_t end = message.find(": ", begin);
  if (begin == std::string::npos || end == std::string::npos) {
    return nullptr;
  }
  const std::string name = message.substr(begin + 2, end - begin - 2);
  for (const SlurmOption& option : AllSlurmOptions()) {
    if ((option.commands & command) != 0 && (name == option.name || name == option.as)) {
      return &option;
    }
  }
  return nullptr;
}

// What stands between the first pair of quotes.
std::string QuotedIn(const std::string& message) {
  const std::size_t begin = message.find('"');
  const std::size_t end = message.find('"', begin + 1);
  return begin == std::string::npos || end == std::string::npos
             ? ""
             : message.substr(begin + 1, end - begin - 1);
}

}  // namespace

std::vector<Row> RowsOf(unsigned command) {
  std::vector<Row> rows;
  for (const SlurmOption& option : AllSlurmOptions()) {
    if ((option.commands & command) != 0) {
      rows.push_back({option.name, option.letter, TakesOf(option.takes)});
    }
  }
  for (const char* name : kOurs) {
    rows.push_back({name, 0, Takes::kValue});
  }
  return rows;
}

absl::StatusOr<std::map<std::string, std::string>> OwnValues(const Words& words, unsigned command) {
  if (words.Has("mem") + words.Has("mem-per-cpu") + words.Has("mem-per-gpu") > 1) {
    return absl::InvalidArgumentError(
        "fatal: --mem, --mem-per-cpu, and --mem-per-gpu are mutually exclusive.");
  }
  std::map<std::string, std::string> values;
  for (const GivenWord& word : words.options) {
    const SlurmOption* option = FindSlurmOption(word.name, command);
    if (option == nullptr) {
      if (Contains(kOurs, word.name)) {
        Add({word.name, word.value}, &values);
      }
      continue;  // --help and its like
    }
    const absl::StatusOr<std::vector<OwnOption>> own =
        Translate(*option, word.has_value, word.value);
    if (!own.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("error: ", SlurmComplaint(*option, word.value)));
    }
    for (const OwnOption& each : *own) {
      Add(each, &values);
    }
  }
  return values;
}

std::string FitNodes(ResourceRequest* request) {
  const std::uint32_t nodes = request->min_nodes;
  if (request->tasks == 0 || request->tasks >= nodes) {
    return "";
  }
  request->min_nodes = request->tasks;
  request->max_nodes = request->tasks;
  return absl::StrCat("Warning: can't run ", request->tasks, " processes on ", nodes,
                      " nodes, setting nnodes to ", request->tasks);
}

std::string FitNodes(std::map<std::string, std::string>* values) {
  const auto nodes = values->find("nodes");
  const auto tasks = values->find("ntasks");
  ResourceRequest request;
  if (nodes == values->end() || tasks == values->end() ||
      !absl::SimpleAtoi(tasks->second, &request.tasks) ||
      !absl::SimpleAtoi(nodes->second.substr(0, nodes->second.find('-')), &request.min_nodes)) {
    return "";
  }
  std::string warning = FitNodes(&request);
  nodes->second = warning.empty() ? nodes->second : tasks->second;
  return warning;
}

std::string SlurmLine(const absl::Status& status, unsigned command) {
  std::string message(status.message());
  if (absl::StrContains(message, "begin it with - or --")) {
    return "error: Invalid directive found in batch script: " + QuotedIn(message);
  }
  if (absl::StrContains(message, " is not an option: ")) {
    return absl::StrCat("unrecognized option '", QuotedIn(message), "'");
  }
  if (const SlurmOption* option =
          absl::IsInvalidArgument(status) ? OptionIn(message, command) : nullptr) {
    return absl::StrCat("error: ", SlurmComplaint(*option, QuotedIn(message)));
  }
  if (absl::StartsWith(message, "error: ") || absl::StartsWith(message, "fatal: ")) {
    return message;
  }
  return absl::StrCat("error: ", absl::IsInvalidArgument(status) ? message : SlurmText(status));
}

int FailAs(const Call& call, const absl::Status& status, unsigned command) {
  return FailPlainly(call, absl::StrCat(call.name, ": ", SlurmLine(status, command)));
}

}  // namespace muster::cli::slurm
