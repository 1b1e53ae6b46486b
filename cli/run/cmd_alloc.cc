#include "cli/run/cmd_alloc.h"

#include <csignal>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/frame/verbs.h"
#include "cli/images/container_check.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/page/text.h"
#include "cli/request/job_options.h"
#include "cli/request/program_path.h"
#include "cli/request/request.h"
#include "cli/run/alloc_session.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

std::vector<std::string> CommandOf(const Invocation& invocation) {
  if (!invocation.arguments.empty()) {
    return invocation.arguments;
  }
  const std::string shell = invocation.environment.Get("SHELL");
  return {shell.empty() ? "/bin/sh" : shell};
}

absl::StatusOr<JobRequest> ReadRequest(const Invocation& invocation, const Address& address,
                                       const std::string& command) {
  const ParseContext context{.now = SystemClock().Now(), .zone = absl::LocalTimeZone()};
  ASSIGN_OR_RETURN(const std::vector<GivenOption> environment,
                   OptionsFrom(invocation.environment, JobVerb::kAlloc));
  ASSIGN_OR_RETURN(JobRequest request,
                   ReadJobOptions(invocation.values, environment, JobVerb::kAlloc, context));
  // The script needs little of ours; the command, which runs here, has all.
  request.exports.all = false;
  request.exports.names = {"PWD", "HOSTNAME"};
  request.exports.assignments = {"PATH=/usr/local/bin:/usr/bin:/bin"};
  request.program.script = AllocationScript();
  request.program.stdout_path = "/dev/null";
  // Nobody would be there to use a second attempt.
  request.spec.requeue = Choice::kNo;
  RETURN_IF_ERROR(CompleteRequest({.environment = invocation.environment,
                                   .local = IsLocal(address),
                                   .new_job = true,
                                   .fallback = command},
                                  &request));
  if (HasCopies(request)) {
    ASSIGN_OR_RETURN(request.copy_environment,
                     SelectEnvironment(invocation.environment, ExportList(), /*new_job=*/true));
  }
  return request;
}

absl::StatusOr<int> Alloc(const Invocation& invocation) {
  return HoldAllocation(invocation, OwnAllocTexts());
}

}  // namespace

absl::StatusOr<int> HoldAllocation(const Invocation& invocation, const AllocTexts& texts) {
  // Before gRPC starts its threads, so that all of them leave the signals to the loop.
  ASSIGN_OR_RETURN(const UniqueFd signals,
                   BlockSignals({SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD}));
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  AllocPlan plan;
  plan.texts = texts;
  plan.command = CommandOf(invocation);
  ASSIGN_OR_RETURN(JobRequest request, ReadRequest(invocation, address, plan.command.front()));
  plan.work_dir = request.program.work_dir;
  ASSIGN_OR_RETURN(plan.program,
                   FindProgram(plan.command.front(), plan.work_dir, invocation.environment));
  plan.environment = invocation.environment;
  plan.controller = address.text;
  ASSIGN_OR_RETURN(const std::unique_ptr<EventLoop> loop, EventLoop::Create());
  ASSIGN_OR_RETURN(const std::unique_ptr<StepListener> listener,
                   StepListener::ListenFor(*loop, IsLocal(address), invocation.environment));
  ASSIGN_OR_RETURN(plan.token, MakeToken());
  request.program.io.token = plan.token;
  request.program.io.address = listener->address();
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  RETURN_IF_ERROR(CheckContainerNodes(*connection, request, invocation.environment.entries()));
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  request.wait = true;
  ASSIGN_OR_RETURN(const StagedJobs submitted,
                   SubmitWithCopies(*connection, token, request, texts.refuses_misfits));
  plan.job = submitted.job;
  for (const Submitted& never : submitted.remarks) {
    std::cerr << texts.speaker << ": " << texts.pending(never.job, Printable(never.remark))
              << std::endl;
  }
  TellCopies(texts.speaker, submitted);
  AllocSession session(*loop, *connection, *listener, signals, std::move(plan));
  return session.Run();
}

Verb AllocVerb() {
  Verb verb;
  verb.name = "alloc";
  verb.purpose = "Hold an allocation while a command or a shell runs here";
  verb.synopsis = "[CMD [ARG…]]";
  verb.examples = {"muster alloc -N 2 -t 1:00:00", "muster alloc -n 8 ./sweep.sh"};
  verb.remarks =
      "Waits for the resources, then runs CMD (unless given, $SHELL) on this machine; each muster\n"
      "run in it starts a step on them. The job ends when CMD does, with its exit code. When the\n"
      "job ends first, CMD gets SIGHUP. Ctrl-C while it waits cancels the job.";
  verb.options = JobOptions(JobVerb::kAlloc);
  verb.arguments_max = kAnyNumber;
  verb.takes_command = true;
  verb.run = Alloc;
  return verb;
}

}  // namespace muster::cli
