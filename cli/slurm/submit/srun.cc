#include "cli/slurm/submit/srun.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/controller/address.h"
#include "cli/frame/verbs.h"
#include "cli/jobs/submit/submission.h"
#include "cli/request/step_request.h"
#include "cli/run/cmd_alloc.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/submit/broadcast.h"
#include "cli/slurm/submit/forecast_line.h"
#include "cli/slurm/submit/own_words.h"
#include "cli/slurm/submit/salloc.h"
#include "cli/slurm/submit/step_values.h"
#include "cli/slurm/submit/task_scripts.h"

namespace muster::cli::slurm {
namespace {

constexpr int kCannotRun = 2;  // as a task that could not be started

// One component: options and a command.
struct RunPart {
  Words words;
  std::map<std::string, std::string> values;
};

// The words of each component, cut at every lone ":".
std::vector<std::vector<std::string>> Components(const std::vector<std::string>& arguments) {
  std::vector<std::vector<std::string>> parts(1);
  for (const std::string& word : arguments) {
    if (word == ":") {
      parts.emplace_back();
    } else {
      parts.back().push_back(word);
    }
  }
  return parts;
}

bool IsMemory(const std::string& option) {
  return option == "mem" || option == "mem-per-cpu" || option == "mem-per-gpu";
}

// What the environment says of options that the command line does not give.
void AddVariables(const Call& call, Words* words) {
  // A user who left a job may still have its variables, which say nothing of a new one.
  const bool in_job = call.environment.Has("MUSTER_JOB_ID") ||
                      InJob(call.environment, words->Value("jobid")).Has("MUSTER_JOB_ID");
  std::vector<GivenWord> all = WordsOfVariables(call.environment, in_job);
  std::erase_if(all, [words](const GivenWord& from) {
    return std::any_of(words->options.begin(), words->options.end(), [&](const GivenWord& said) {
      return said.name == from.name || (IsMemory(said.name) && IsMemory(from.name));
    });
  });
  words->options.insert(words->options.begin(), all.begin(), all.end());
}

// Nothing when it was answered already; `exit_code` is set then.
std::optional<std::vector<RunPart>> ReadParts(const Call& call, int* exit_code) {
  std::vector<RunPart> parts;
  for (const std::vector<std::string>& arguments : Components(call.arguments)) {
    Call own = call;
    own.arguments = arguments;
    std::optional<Words> words = ReadCommand(own, RowsOf(kSrun), Operands::kLast, exit_code);
    if (!words.has_value()) {
      return std::nullopt;
    }
    AddVariables(call, &*words);
    absl::StatusOr<std::map<std::string, std::string>> values = OwnValues(*words, kSrun);
    if (!values.ok()) {
      *exit_code = FailAs(call, values.status(), kSrun);
      return std::nullopt;
    }
    Warn(call, FitNodes(&*values));
    if (words->Has("pty")) {
      (*values)["pty"] = "";
    }
    if (words->Has("immediate")) {
      (*values)["immediate"] = "";
    }
    parts.push_back({*std::move(words), *std::move(values)});
  }
  return parts;
}

// --mpi=list: the kinds, as the last thing that is done.
bool ListsMpi(const Call& call, const Words& words) {
  if (words.Value("mpi") != "list") {
    return false;
  }
  call.out << "MPI plugin types are...\n\tnone\n\tpmix\n\tpmi1\n";
  return true;
}

// --test-only: when a job like this would start.
int Test(const Call& call, const RunPart& part) {
  static const std::vector<Verb> verbs;
  Invocation invocation{.environment = call.environment,
                        .verbs = verbs,
                        .values = part.values,
                        .arguments = part.words.operands};
  for (const char* const of_streams :
       {"output", "error", "input", "mpi", "pty", "immediate", "wait"}) {
    invocation.values.erase(of_streams);
  }
  const auto refuse = [&call](const absl::Status& status) {
    return FailPlainly(call, absl::StrCat("allocation failure: ", SlurmText(status)));
  };
  const absl::StatusOr<Address> address = ControllerAddress("", "", call.environment);
  if (!address.ok()) {
    return refuse(address.status());
  }
  const absl::StatusOr<JobRequest> request =
      MakeSubmission(invocation, *address, {.name = "srun", .text = "#!/bin/sh\n"});
  if (!request.ok()) {
    return FailAs(call, request.status(), kSrun);
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Open(*address);
  const absl::StatusOr<std::string> token = MakeToken();
  if (!connection.ok() || !token.ok()) {
    return refuse(connection.ok() ? token.status() : connection.status());
  }
  const absl::StatusOr<StartForecast> forecast =
      (*connection)
          ->Call(TestSubmit{{*token, request->spec, request->program, {}, request->components}});
  return forecast.ok() ? TellForecast(call, *forecast, *request) : refuse(forecast.status());
}

// What `muster run` refused, in Slurm's words.
int FailedToRun(const Call& call, const absl::Status& status, bool inside) {
  if (absl::IsInvalidArgument(status)) {
    return FailAs(call, status, kSrun);
  }
  const std::string message(status.message());
  if (absl::StrContains(message, "not found in PATH") ||
      absl::StrContains(message, "no such program")) {
    Fail(call, absl::StrCat("execve(): ", message.substr(0, message.find(": ")),
                            ": No such file or directory"));
    return kCannotRun;
  }
  return Fail(call, absl::StrCat(inside ? "Unable to create step for job: "
                                        : "Unable to allocate resources: ",
                                 SlurmText(status)));
}

// --task-prolog and --task-epilog: the command between them, under its own name.
void AddTaskScripts(RunPart* part) {
  const std::string prolog = part->words.Value("task-prolog");
  const std::string epilog = part->words.Value("task-epilog");
  if ((prolog.empty() && epilog.empty()) || part->values.count("multi-prog") != 0) {
    return;
  }
  const std::string& command = part->words.operands.front();
  part->values.insert({"job-name", command.substr(command.rfind('/') + 1)});
  part->words.operands = AroundTask(prolog, epilog, part->words.operands);
}

// --prolog and --epilog, here. False when it could not be started.
bool RunAround(const Call& call, const Words& words, const char* option,
               const Environment& environment) {
  const std::string program = words.Value(option);
  if (program.empty() || program == "none" || RunHere(program, environment)) {
    return true;
  }
  Fail(call, absl::StrCat("--", option, ": ", program, ": cannot be started"));
  return false;
}

// Whether the step only starts the ranks of another launcher.
bool StartsOthers(const Call& call, const Words& words) {
  return words.Has("external-launcher") || call.environment.Has("SLURM_EXTERNAL_LAUNCHER") ||
         (!words.operands.empty() && IsLauncher(words.operands.front()));
}

// --bcast outside of a job: the program has to be on the nodes before the step begins, so that the
// nodes are held first, and the same command runs in the job that has them.
int RunInOwnAllocation(const Call& call, std::size_t parts, const RunPart& part) {
  if (parts > 1) {
    return Fail(call, "--bcast: not with several components outside of an allocation: see salloc");
  }
  const std::string& command = part.words.operands.front();
  std::map<std::string, std::string> values = part.values;
  values.insert({"job-name", command.substr(command.rfind('/') + 1)});
  const std::vector<Option> known = AllocVerb().options;
  std::erase_if(values, [&known](const auto& value) {
    return std::none_of(known.begin(), known.end(),
                        [&](const Option& option) { return option.name == value.first; });
  });
  std::vector<std::string> again = {"/proc/self/exe", "srun"};
  again.insert(again.end(), call.arguments.begin(), call.arguments.end());
  static const std::vector<Verb> verbs;
  const absl::StatusOr<int> code = HoldAllocation({.environment = call.environment,
                                                   .verbs = verbs,
                                                   .values = std::move(values),
                                                   .arguments = std::move(again)},
                                                  QuietAllocTexts());
  return code.ok() ? *code : FailedToRun(call, code.status(), false);
}

// Says the values of the part for `muster run`; a code where that is all there is to do.
std::optional<int> Settle(const Call& call, const Environment& environment, std::size_t parts,
                          RunPart& part) {
  if (part.words.operands.empty() && !part.words.Has("test-only")) {
    return FailPlainly(call, "srun: fatal: No command given to execute.");
  }
  if (part.words.Has("test-only")) {
    return Test(call, part);
  }
  if (!environment.Has("MUSTER_JOB_ID")) {
    part.values.erase("immediate");
    part.values[kRefuseMisfit] = "";
    return part.words.Has("bcast") ? std::optional(RunInOwnAllocation(call, parts, part))
                                   : std::nullopt;
  }
  absl::StatusOr<std::map<std::string, std::string>> values =
      StepValues(part.values, environment, StartsOthers(call, part.words));
  if (!values.ok()) {
    return FailAs(call, values.status(), kSrun);
  }
  part.values = *std::move(values);
  return std::nullopt;
}

}  // namespace

int RunSrun(const Call& call) {
  int exit_code = 0;
  std::optional<std::vector<RunPart>> parts = ReadParts(call, &exit_code);
  if (!parts.has_value()) {
    return exit_code;
  }
  RunPart& first = parts->front();
  if (ListsMpi(call, first.words)) {
    return 0;
  }
  const Environment environment = InJob(call.environment, first.words.Value("jobid"));
  const bool inside = environment.Has("MUSTER_JOB_ID");
  const Verb run = RunVerb();
  static const std::vector<Verb> verbs;
  Invocation invocation{
      .environment = environment, .verbs = verbs, .values = {}, .arguments = first.words.operands};
  for (RunPart& part : *parts) {
    if (const std::optional<int> code = Settle(call, environment, parts->size(), part)) {
      return *code;
    }
  }
  for (RunPart& part : *parts) {
    if (part.words.Has("bcast")) {
      if (const absl::Status copied = BroadcastProgram(environment, part.words); !copied.ok()) {
        return FailedToRun(call, copied, inside);
      }
    }
    AddTaskScripts(&part);
  }
  invocation.arguments = first.words.operands;
  invocation.values = first.values;
  for (std::size_t i = 1; i < parts->size(); ++i) {
    invocation.components.push_back({(*parts)[i].values, (*parts)[i].words.operands});
  }
  if (!RunAround(call, first.words, "prolog", environment)) {
    return 1;
  }
  const absl::StatusOr<int> code = run.run(invocation);
  RunAround(call, first.words, "epilog", environment);
  return code.ok() ? *code : FailedToRun(call, code.status(), inside);
}

}  // namespace muster::cli::slurm
