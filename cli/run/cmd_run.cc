#include "cli/run/cmd_run.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/frame/verbs.h"
#include "cli/images/container_check.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/page/text.h"
#include "cli/parse/request/rank_programs.h"
#include "cli/request/job_options.h"
#include "cli/request/program_path.h"
#include "cli/request/request.h"
#include "cli/request/step_request.h"
#include "cli/run/profiler.h"
#include "cli/run/rank_files.h"
#include "cli/run/run_session.h"
#include "cli/run/stream/raw_terminal.h"
#include "cli/run/stream_options.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr StepId kRunStep{1};  // of a job of its own
constexpr int kImmediateTries = 6;
constexpr std::chrono::milliseconds kImmediatePause{50};

// --multi-prog: the file's programs as one command, and as many tasks as it has ranks.
absl::Status AddPrograms(const Environment& environment, bool local, const ComponentWords& words,
                         JobRequest* request) {
  if (words.arguments.size() != 1) {
    return absl::InvalidArgumentError("--multi-prog: takes one FILE, which names the programs");
  }
  const std::string& name = words.arguments.front();
  const absl::StatusOr<std::string> text = ReadFile(name);
  if (!text.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("--multi-prog: ", std::string(text.status().message())));
  }
  ASSIGN_OR_RETURN(std::vector<RankProgram> programs, ParseRankPrograms(*text, name));
  for (RankProgram& program : programs) {
    absl::StatusOr<std::string> path =
        local ? FindProgram(program.argv[0], request->program.work_dir, environment)
              : program.argv[0];
    if (!path.ok()) {
      return absl::Status(path.status().code(), absl::StrCat(name, ":", program.line, ": ",
                                                             std::string(path.status().message())));
    }
    program.argv[0] = *std::move(path);
  }
  const bool shaped = words.values.count("ntasks") + words.values.count("ntasks-per-node") > 0;
  std::uint32_t& tasks = request->spec.request.tasks;
  tasks = shaped ? tasks : RanksNamed(programs);
  if (tasks > 0) {
    RETURN_IF_ERROR(CheckRanks(programs, tasks, name));
  }
  request->program.argv = RankProgramsCommand(programs, name);
  return CheckArguments(request->program.argv);
}

// Whether its programs are files of this machine: those of a container are its image's.
bool RunsOurPrograms(const Invocation& invocation, const Address& address, bool inside,
                     const JobRequest& request) {
  return IsLocal(address) && !request.spec.container.given() &&
         !request.program.container.given() &&
         !(inside && invocation.environment.Has("MUSTER_JOB_CONTAINER"));
}

// --profile: the tool runs the command.
absl::Status AddProfiler(const Invocation& invocation, bool local, const ComponentWords& words,
                         JobRequest* request) {
  const auto tool = words.values.find("profile");
  if (tool == words.values.end()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(request->program.argv, ProfiledCommand(tool->second, request->program.argv));
  return local ? CheckProfiler(tool->second, request->program.work_dir, invocation.environment)
               : absl::OkStatus();
}

// What one component runs, on top of its options.
absl::Status AddCommand(const Invocation& invocation, const Address& address, bool inside,
                        const ComponentWords& words, JobRequest* request) {
  request->program.argv = words.arguments;
  RETURN_IF_ERROR(CheckArguments(request->program.argv));
  RETURN_IF_ERROR(CompleteRequest({.environment = invocation.environment,
                                   .local = IsLocal(address),
                                   .new_job = !inside,
                                   .fallback = words.arguments.front()},
                                  request));
  const bool ours = RunsOurPrograms(invocation, address, inside, *request);
  if (words.values.count("multi-prog") != 0) {
    RETURN_IF_ERROR(AddPrograms(invocation.environment, ours, words, request));
  } else if (ours) {
    ASSIGN_OR_RETURN(
        request->program.argv[0],
        FindProgram(request->program.argv[0], request->program.work_dir, invocation.environment));
  }
  return AddProfiler(invocation, ours, words, request);
}

absl::StatusOr<JobRequest> ReadRequest(const Invocation& invocation, const Address& address,
                                       bool inside) {
  const ParseContext context{.now = SystemClock().Now(), .zone = absl::LocalTimeZone()};
  ASSIGN_OR_RETURN(const std::vector<GivenOption> environment,
                   OptionsFrom(invocation.environment, JobVerb::kRun));
  ASSIGN_OR_RETURN(JobRequest request,
                   ReadJobOptions(WithoutNoGpus(invocation), environment, JobVerb::kRun, context));
  RETURN_IF_ERROR(
      AddCommand(invocation, address, inside, {invocation.values, invocation.arguments}, &request));
  if (invocation.Has("pty")) {
    ASSIGN_OR_RETURN(request.program.terminal, SizeOfTerminal());
  }
  if (inside && !invocation.components.empty()) {
    return absl::InvalidArgumentError(
        "a ':' inside a job: start a step of each component with --het-group=N");
  }
  for (const ComponentWords& words : invocation.components) {
    absl::StatusOr<JobRequest> component = ReadComponentOptions(
        {invocation.values, {}}, {words.values, {}}, environment, JobVerb::kRun, context);
    const absl::Status status = component.ok()
                                    ? AddCommand(invocation, address, inside, words, &*component)
                                    : component.status();
    if (!status.ok()) {
      return absl::Status(status.code(), absl::StrCat("component ", request.components.size() + 1,
                                                      ": ", std::string(status.message())));
    }
    request.components.push_back(
        Component{std::move(component->spec), std::move(component->program)});
  }
  return request;
}

// --wait.
absl::StatusOr<Duration> RestMayTake(const Invocation& invocation) {
  constexpr std::uint64_t kSecondsMax = 366ULL * 24 * 3600;
  if (!invocation.Has("wait")) {
    return Duration(0);
  }
  const absl::StatusOr<std::uint64_t> seconds = ParseDigits(invocation.Value("wait"), kSecondsMax);
  if (!seconds.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--wait: ", std::string(seconds.status().message())));
  }
  return Duration(std::chrono::seconds(*seconds));
}

// What the patterns of output files need.
StepNames NamesOf(const Invocation& invocation, JobId job, StepId step, const std::string& name) {
  return {.job = job,
          .step = step,
          .job_name = name,
          .array_job = invocation.environment.Get("MUSTER_ARRAY_JOB_ID"),
          .array_index = invocation.environment.Get("MUSTER_ARRAY_TASK_ID"),
          .user = invocation.environment.Get("USER")};
}

// Which files a step writes, for who reads them later (muster logs). A backslash means something
// else to supervisors.
void NameOutputs(const OutputChoice& choice, Program* program) {
  const auto path = [&choice](const std::string& pattern) {
    const bool named = NamesFile(pattern) && pattern.find('\\') == std::string::npos;
    return named ? (std::filesystem::path(choice.work_dir) / pattern).string() : std::string();
  };
  program->stdout_path = path(choice.output);
  program->stderr_path = path(choice.error);
}

// Asks the controller for a job of our own, or for a step of the job that we are in. REQUIRES: the
// request outlives the plan, which asks again with it.
absl::StatusOr<RunPlan> Ask(const Invocation& invocation, Connection& connection,
                            const JobRequest& request, const StreamChoice& streams) {
  RunPlan plan;
  plan.output = streams.output;
  plan.input = streams.takers == "none" ? -1
               : streams.file.valid()   ? streams.file.get()
                                        : STDIN_FILENO;
  plan.token = request.program.io.token;
  plan.label = invocation.Has("label");
  plan.end_on_bad_exit = invocation.Has("kill-on-bad-exit");
  plan.end_on_interrupt = invocation.Has("quit-on-interrupt");
  ASSIGN_OR_RETURN(plan.rest_may_take, RestMayTake(invocation));
  plan.terminal = request.program.terminal.rows > 0;
  plan.show_waiting = isatty(STDERR_FILENO) != 0;
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  if (!invocation.environment.Has("MUSTER_JOB_ID")) {
    RETURN_IF_ERROR(CheckContainerNodes(connection, request, invocation.environment.entries()));
    for (const Component& component : request.components) {
      plan.component_tokens.push_back(component.program.io.token);
    }
    ASSIGN_OR_RETURN(const StagedJobs submitted,
                     SubmitWithCopies(connection, token, request, invocation.Has(kRefuseMisfit)));
    plan.job = submitted.job;
    for (const Submitted& never : submitted.remarks) {
      std::cerr << "muster run: job " << never.job.value() << " waits: " << Printable(never.remark)
                << std::endl;
    }
    TellCopies("muster run", submitted);
    plan.names = NamesOf(invocation, plan.job, kRunStep, request.spec.name);
    return plan;
  }
  plan.own_job = false;
  ASSIGN_OR_RETURN(plan.job, OwnJob(invocation));
  ASSIGN_OR_RETURN(StepSpec spec, ReadStep(invocation, request.spec));
  if (invocation.Has("profile")) {
    spec.name = request.spec.name;  // not that of the shell that starts the profiler
  }
  const auto start = [&connection, &request, token, job = plan.job, spec] {
    return connection.Call(muster::StartStep{token, job, spec, request.program});
  };
  absl::StatusOr<StartedStep> first = start();
  // The end of the step before it may still be on its way to the controller.
  for (int i = 0;
       i < kImmediateTries && spec.immediate && absl::IsFailedPrecondition(first.status()); ++i) {
    std::this_thread::sleep_for(kImmediatePause);
    first = start();
  }
  ASSIGN_OR_RETURN(const StartedStep started, std::move(first));
  plan.names = NamesOf(invocation, plan.job, started.step, request.spec.name);
  if (started.waits.empty()) {
    plan.nodes = static_cast<std::uint32_t>(started.placement.nodes.size());
  }
  plan.waits = started.waits;
  plan.ask_again = start;
  return plan;
}

absl::StatusOr<int> Run(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const EndedRun ended, RunCommand(invocation, nullptr));
  return ended.exit_code;
}

}  // namespace

absl::StatusOr<EndedRun> RunCommand(const Invocation& invocation, const OutputTaker& taker) {
  // Before gRPC starts its threads, so that all of them leave the signals to the loop.
  ASSIGN_OR_RETURN(const UniqueFd signals,
                   BlockSignals({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH}));
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  if (invocation.Has("het-group") && !invocation.environment.Has("MUSTER_JOB_ID")) {
    return absl::InvalidArgumentError(
        "--het-group: names a component of the job that this runs in; outside of a job use ':'");
  }
  ASSIGN_OR_RETURN(JobRequest request,
                   ReadRequest(invocation, address, invocation.environment.Has("MUSTER_JOB_ID")));
  ASSIGN_OR_RETURN(const StreamChoice streams, ReadStreams(invocation, request.program.work_dir));
  request.program.stdin_path = streams.takers;
  if (invocation.environment.Has("MUSTER_JOB_ID")) {
    RETURN_IF_ERROR(RefuseShareSize(request));
    NameOutputs(streams.output, &request.program);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  ASSIGN_OR_RETURN(const std::unique_ptr<StepListener> listener,
                   StepListener::ListenFor(*loop, IsLocal(address), invocation.environment));
  ASSIGN_OR_RETURN(request.program.io.token, MakeToken());
  request.program.io.address = listener->address();
  for (Component& component : request.components) {
    ASSIGN_OR_RETURN(component.program.io.token, MakeToken());
    component.program.io.address = listener->address();
    component.program.stdin_path = streams.takers;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  request.wait = true;
  ASSIGN_OR_RETURN(RunPlan plan, Ask(invocation, *connection, request, streams));
  plan.takes = taker;
  plan.end_on_interrupt = plan.end_on_interrupt || taker != nullptr;
  EndedRun ended{.job = plan.job, .step = plan.names.step};
  RunSession session(*loop, *connection, *listener, signals, std::move(plan));
  ASSIGN_OR_RETURN(ended.exit_code, session.Run());
  return ended;
}

Verb RunVerb() {
  Verb verb;
  verb.name = "run";
  verb.purpose = "Run a command on allocated resources, with its output here";
  verb.synopsis = "CMD [ARG…] [: [options] CMD [ARG…]]…";
  verb.components = Components::kCommands;
  verb.examples = {"muster run -n 4 ./solver input.dat", "muster run -N 2 --label hostname",
                   "muster run -G 1 -t 10 python train.py",
                   "muster run -n 4 ./ocean : -n 1 -G 1 ./atmosphere",
                   "muster run -G 1 --stage-in s3:bucket/data:/scratch/data python train.py"};
  verb.remarks =
      "Outside a job it makes one, waits and ends it; inside a job it starts a step of it, which\n"
      "has what it asks for (-n, -c, -G, --mem) to itself and waits in order until that is free.\n"
      "The exit code is the highest of all ranks, 128 + N for signal N. Ctrl-C shows how the "
      "ranks\n"
      "are; twice within a second sends them SIGINT, and SIGKILL 5 s later or at the next Ctrl-C.\n"
      "A lone \":\" begins the next component of a heterogeneous job: all start and end together.";
  verb.options = JobOptions(JobVerb::kRun);
  verb.options.insert(verb.options.begin(),
                      Option{.name = "label",
                             .letter = 'l',
                             .metavar = "",
                             .text = "Begin each line of output with its rank"});
  verb.options.push_back(
      Option{.name = "kill-on-bad-exit",
             .letter = 'K',
             .metavar = "",
             .text = "The first rank that ends with a code but 0 ends the others"});
  verb.options.push_back(
      Option{.name = "wait",
             .letter = 'W',
             .metavar = "SECONDS",
             .text = "End the other ranks so long after the first has ended (0: never)"});
  verb.options.push_back(Option{
      .name = "quit-on-interrupt", .letter = 0, .metavar = "", .text = "The first Ctrl-C ends it"});
  for (const Option& option : StepOptions()) {
    verb.options.push_back(option);
  }
  verb.options.push_back(Option{.name = "pty",
                                .letter = 0,
                                .metavar = "",
                                .text = "Give rank 0 a terminal, and this one's keys to it"});
  verb.options.push_back(Option{.name = "multi-prog",
                                .letter = 0,
                                .metavar = "",
                                .text = "CMD is a file of lines: RANKS PROGRAM [ARG…]"});
  verb.options.push_back(ProfileOption());
  for (const Option& option : StreamOptions()) {
    verb.options.push_back(option);
  }
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.takes_command = true;
  verb.run = Run;
  return verb;
}

}  // namespace muster::cli
