#include <unistd.h>

#include <csignal>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "cli/request/request.h"
#include "cli/run/joined_place.h"
#include "cli/run/run_session.h"
#include "cli/run/stream/raw_terminal.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

absl::StatusOr<WantedPlace> ReadPlace(const Invocation& invocation, const StepSelector& named) {
  WantedPlace wanted;
  wanted.step = named.step;
  wanted.node = invocation.Value("node");
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

absl::StatusOr<JobDetail> ShowOne(Connection& connection, const StepSelector& named) {
  ASSIGN_OR_RETURN(std::vector<JobDetail> jobs, connection.Call(ShowJob{ById(named.job)}));
  if (jobs.size() != 1) {
    return absl::FailedPreconditionError(absl::StrCat("job ", named.job.job.value(),
                                                      ": is an array; name an element, like ",
                                                      named.job.job.value(), "_0"));
  }
  return std::move(jobs.front());
}

absl::StatusOr<Program> MakeProgram(const Invocation& invocation, const JobDetail& job,
                                    const JoinedRank& joined) {
  Program program;
  program.argv.assign(invocation.arguments.begin() + 1, invocation.arguments.end());
  RETURN_IF_ERROR(CheckArguments(program.argv));
  program.environment = {ToVariable(joined)};
  program.work_dir = job.work_dir.empty() ? "/" : job.work_dir;
  program.mpi = MpiFlavour::kNone;
  if (invocation.Has("pty")) {
    ASSIGN_OR_RETURN(program.terminal, SizeOfTerminal());
    program.environment.push_back(absl::StrCat("TERM=", invocation.environment.Get("TERM")));
  }
  return program;
}

absl::StatusOr<int> Exec(const Invocation& invocation) {
  // Before gRPC starts its threads, so that all of them leave the signals to the loop.
  ASSIGN_OR_RETURN(const UniqueFd signals,
                   BlockSignals({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH}));
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithLast(invocation, 1));
  ASSIGN_OR_RETURN(const StepSelector named, ParseStepSelector(names.front()));
  if (named.job.elements.size() > 1) {
    return absl::InvalidArgumentError("exec enters one job: name the element, like 12_3");
  }
  ASSIGN_OR_RETURN(const WantedPlace wanted, ReadPlace(invocation, named));
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  ASSIGN_OR_RETURN(const std::unique_ptr<StepListener> listener,
                   StepListener::ListenFor(*loop, IsLocal(address), invocation.environment));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  ASSIGN_OR_RETURN(const JobDetail job, ShowOne(*connection, named));
  ASSIGN_OR_RETURN(const JoinedPlace place, FindPlace(job, wanted));
  ASSIGN_OR_RETURN(Program program, MakeProgram(invocation, job, place.joined));
  program.io.address = listener->address();
  ASSIGN_OR_RETURN(program.io.token, MakeToken());
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  StepSpec spec;
  spec.tasks = 1;
  spec.nodes = 1;
  spec.cpus_per_task = 1;
  spec.overlap = true;
  spec.nodelist = {place.node};
  const auto start = [&connection, token, spec, program, id = job.job.id] {
    return connection->Call(muster::StartStep{token, id, spec, program});
  };
  ASSIGN_OR_RETURN(const StartedStep started, start());
  RunPlan plan;
  plan.job = job.job.id;
  plan.own_job = false;
  plan.nodes = static_cast<std::uint32_t>(started.placement.nodes.size());
  plan.token = program.io.token;
  plan.names = {.job = plan.job, .step = started.step, .job_name = ""};
  plan.input = STDIN_FILENO;
  plan.terminal = program.terminal.rows > 0;
  plan.ask_again = start;
  RunSession session(*loop, *connection, *listener, signals, std::move(plan));
  return session.Run();
}

}  // namespace

Verb ExecVerb() {
  Verb verb;
  verb.name = "exec";
  verb.purpose = "Run a command inside a running job";
  verb.synopsis = "JOB[.STEP] -- CMD [ARG…]";
  verb.examples = {"muster exec 12 -- nvidia-smi", "muster exec --pty last -- bash",
                   "muster exec --rank 3 12.1 -- py-spy dump --pid 4711"};
  verb.remarks =
      "With the job's environment, devices and limits, beside what runs there; what it uses is "
      "the\n"
      "job's. On the node of the job's script, unless --node or --rank says another. A step or "
      "--rank:\nwith the cores, GPUs and environment of that rank. The exit code is CMD's.";
  verb.options = {
      {.name = "node", .letter = 0, .metavar = "NODE", .text = "On that node of the job"},
      {.name = "rank",
       .letter = 0,
       .metavar = "R",
       .text = "Where that rank runs, and with what it has"},
      {.name = "pty",
       .letter = 't',
       .metavar = "",
       .text = "Give CMD a terminal, and this one's keys to it"}};
  verb.arguments_min = 2;
  verb.arguments_max = kAnyNumber;
  verb.run = Exec;
  return verb;
}

}  // namespace muster::cli
