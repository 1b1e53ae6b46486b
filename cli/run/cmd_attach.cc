#include <unistd.h>

#include <csignal>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "cli/request/request.h"
#include "cli/run/run_session.h"
#include "cli/run/stream/raw_terminal.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

absl::StatusOr<int> Attach(const Invocation& invocation) {
  // Before gRPC starts its threads, so that all of them leave the signals to the loop.
  ASSIGN_OR_RETURN(const UniqueFd signals,
                   BlockSignals({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH}));
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(invocation));
  ASSIGN_OR_RETURN(const StepSelector named, ParseStepSelector(names.front()));
  if (named.job.elements.size() > 1 || named.step == StepId()) {
    return absl::InvalidArgumentError("attach shows one step: name it, like 12.1 or 12_3.1");
  }
  const bool input = invocation.Has("input");
  if (input && isatty(STDIN_FILENO) == 0) {
    return absl::FailedPreconditionError(
        "--input: standard input is not a terminal: run it from one, or leave --input out");
  }
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  ASSIGN_OR_RETURN(const std::unique_ptr<StepListener> listener,
                   StepListener::ListenFor(*loop, IsLocal(address), invocation.environment));
  StepIo io{.address = listener->address(), .token = ""};
  ASSIGN_OR_RETURN(io.token, MakeToken());
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  AttachStep attach;
  attach.job = NamedId(named.job);
  if (!named.job.elements.empty()) {
    attach.array_index = named.job.elements.front();
  }
  attach.step = named.step;
  attach.io = io;
  attach.input = input;
  ASSIGN_OR_RETURN(const ShownStep shown, connection->Call(attach));
  RunPlan plan;
  plan.job = shown.job;
  plan.own_job = false;
  plan.looks_on = true;
  plan.nodes = static_cast<std::uint32_t>(shown.placement.nodes.size());
  plan.token = io.token;
  plan.label = invocation.Has("label");
  plan.names = {.job = shown.job, .step = shown.step, .job_name = ""};
  plan.input = input ? STDIN_FILENO : -1;
  plan.terminal = input;
  RunSession session(*loop, *connection, *listener, signals, std::move(plan));
  return session.Run();
}

}  // namespace

Verb AttachVerb() {
  Verb verb;
  verb.name = "attach";
  verb.purpose = "Show what a running step prints, from now on";
  verb.synopsis = "JOB[.STEP]";
  verb.examples = {"muster attach 12.1", "muster attach --label 12", "muster attach --input 12.1"};
  verb.remarks =
      "Only your own jobs' steps, and several may look on. The exit code is the step's; Ctrl-C,\n"
      "or Ctrl-] with --input, leaves it alone and exits with 0.";
  verb.options = {{.name = "label",
                   .letter = 'l',
                   .metavar = "",
                   .text = "Begin each line of output with its rank"},
                  {.name = "input",
                   .letter = 'i',
                   .metavar = "",
                   .text = "Send this terminal's keys to the step's (run --pty), too"}};
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Attach;
  return verb;
}

}  // namespace muster::cli
