#include "cli/run/entered_step.h"

#include <unistd.h>

#include <csignal>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/newest_job.h"
#include "cli/parse/selector.h"
#include "cli/request/request.h"
#include "cli/run/run_session.h"
#include "cli/run/stream/raw_terminal.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

absl::StatusOr<WantedPlace> ReadPlace(const Invocation& invocation, const std::string& verb,
                                      const StepSelector& named) {
  WantedPlace wanted;
  wanted.step = named.step;
  wanted.node = invocation.Value("node");
  wanted.verb = verb;
  if (invocation.Has("rank")) {
    const absl::StatusOr<std::uint64_t> rank = ParseDigits(invocation.Value("rank"), UINT32_MAX);
    if (!rank.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--rank: ", Quote(invocation.Value("rank")), " is not a rank"));
    }
    wanted.rank = static_cast<std::uint32_t>(*rank);
  }
  return wanted;
}

absl::StatusOr<StepSelector> ReadJob(const Invocation& invocation, const EnteringCommand& command) {
  Invocation naming = invocation;
  naming.arguments = {command.job};
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(naming, 1));
  ASSIGN_OR_RETURN(StepSelector named, ParseStepSelector(names.front()));
  if (named.job.elements.size() > 1) {
    return absl::InvalidArgumentError("it enters one job: name the element, like 12_3");
  }
  return named;
}

absl::StatusOr<JobDetail> ShowOne(Connection& connection, const StepSelector& named) {
  ASSIGN_OR_RETURN(std::vector<JobDetail> jobs, connection.Call(ShowJob{ById(named.job)}));
  if (jobs.size() != 1) {
    return absl::FailedPreconditionError(absl::StrCat("job ", named.job.job.value(),
                                                      ": is an array; name an element, like ",
                                                      named.job.job.value(), "_0"));
  }
  return std::move(jobs.front());
}

RunPlan PlanOf(const EnteringCommand& command, const JobDetail& job, const Program& program,
               const StartedStep& started) {
  RunPlan plan;
  plan.job = job.job.id;
  plan.own_job = false;
  plan.nodes = static_cast<std::uint32_t>(started.placement.nodes.size());
  plan.token = program.io.token;
  plan.names = {.job = plan.job, .step = started.step, .job_name = ""};
  plan.input = command.input ? STDIN_FILENO : -1;
  plan.terminal = program.terminal.rows > 0;
  plan.quiet = command.quiet;
  plan.passes = command.passes;
  return plan;
}

}  // namespace

std::vector<Option> EnterOptions() {
  return {{.name = "node", .letter = 0, .metavar = "NODE", .text = "On that node of the job"},
          {.name = "rank",
           .letter = 0,
           .metavar = "R",
           .text = "Where that rank runs, and with what it has"}};
}

StepSpec EnteringStep(const JoinedPlace& place) {
  StepSpec spec;
  spec.tasks = 1;
  spec.nodes = 1;
  spec.cpus_per_task = 1;
  spec.overlap = true;
  spec.nodelist = {place.node};
  return spec;
}

Program EnteringProgram(const JobDetail& job, const JoinedPlace& place,
                        const std::vector<std::string>& argv) {
  Program program;
  program.argv = argv;
  program.environment = {ToVariable(place.joined)};
  program.work_dir = job.work_dir.empty() ? "/" : job.work_dir;
  program.mpi = MpiFlavour::kNone;
  return program;
}

absl::StatusOr<int> RunInside(const Invocation& invocation, const EnteringCommand& command) {
  // Before gRPC starts its threads, so that all of them leave the signals to the loop.
  ASSIGN_OR_RETURN(const UniqueFd signals,
                   BlockSignals({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH}));
  IgnoreBrokenPipes();
  RETURN_IF_ERROR(CheckArguments(command.argv));
  ASSIGN_OR_RETURN(const StepSelector named, ReadJob(invocation, command));
  ASSIGN_OR_RETURN(const WantedPlace wanted, ReadPlace(invocation, command.verb, named));
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  ASSIGN_OR_RETURN(const std::unique_ptr<StepListener> listener,
                   StepListener::ListenFor(*loop, IsLocal(address), invocation.environment));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  ASSIGN_OR_RETURN(const JobDetail job, ShowOne(*connection, named));
  ASSIGN_OR_RETURN(const JoinedPlace place, FindPlace(job, wanted));
  Program program = EnteringProgram(job, place, command.argv);
  if (command.terminal) {
    ASSIGN_OR_RETURN(program.terminal, SizeOfTerminal());
    program.environment.push_back(absl::StrCat("TERM=", invocation.environment.Get("TERM")));
  }
  program.io.address = listener->address();
  ASSIGN_OR_RETURN(program.io.token, MakeToken());
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  const auto start = [&connection, token, spec = EnteringStep(place), program, id = job.job.id] {
    return connection->Call(muster::StartStep{token, id, spec, program});
  };
  ASSIGN_OR_RETURN(const StartedStep started, start());
  RunPlan plan = PlanOf(command, job, program, started);
  plan.ask_again = start;
  RunSession session(*loop, *connection, *listener, signals, std::move(plan));
  return session.Run();
}

}  // namespace muster::cli
