#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/newest_job.h"
#include "cli/dev/session_keeper.h"
#include "cli/dev/session_script.h"
#include "cli/dev/session_visit.h"
#include "cli/frame/output.h"
#include "cli/frame/own_command.h"
#include "cli/frame/verbs.h"
#include "cli/images/container_check.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/jobs/submit/submission.h"
#include "cli/page/text.h"
#include "cli/parse/selector.h"
#include "cli/request/job_options.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/handle/submit/required_feature.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr const char* kContainer = "container";
constexpr const char* kIdleTimeout = "1h";

bool IsOfContainer(const std::string& name) {
  return name.rfind(kContainer, 0) == 0;
}

absl::StatusOr<Duration> IdleTimeout(const Invocation& invocation) {
  const std::string text =
      invocation.Has("idle-timeout") ? invocation.Value("idle-timeout") : kIdleTimeout;
  if (text == "none") {
    return Duration(0);
  }
  const absl::StatusOr<std::chrono::milliseconds> timeout = ParsePeriod(text);
  if (!timeout.ok() || *timeout <= Duration(0)) {
    return absl::InvalidArgumentError(absl::StrCat("--idle-timeout: ", Quote(text),
                                                   " is no time: use one like 1h or 30m, or none"));
  }
  return *timeout;
}

absl::StatusOr<WhenIdle> WhatWhenIdle(const Invocation& invocation) {
  const std::string text = invocation.Has("when-idle") ? invocation.Value("when-idle") : "end";
  if (text != "end" && text != "hold") {
    return absl::InvalidArgumentError(
        absl::StrCat("--when-idle: ", Quote(text), " is neither end nor hold"));
  }
  return text == "hold" ? WhenIdle::kHold : WhenIdle::kEnd;
}

absl::StatusOr<std::uint16_t> LocalPort(const Invocation& invocation) {
  if (!invocation.Has("local-port")) {
    return std::uint16_t{0};
  }
  const absl::StatusOr<std::uint64_t> port =
      ParseDigits(invocation.Value("local-port"), UINT16_MAX);
  if (!port.ok() || *port == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--local-port: ", Quote(invocation.Value("local-port")), " is no port: use 1 to 65535"));
  }
  return static_cast<std::uint16_t>(*port);
}

// The options of a container, as `muster run` in the job is given them.
std::vector<std::string> ContainerOptions(const Invocation& invocation) {
  std::vector<std::string> options;
  for (const auto& [name, value] : invocation.values) {
    if (IsOfContainer(name)) {
      options.push_back(value.empty() ? "--" + name : absl::StrCat("--", name, "=", value));
    }
  }
  return options;
}

// In the job: what the script that `Start` makes runs.
absl::StatusOr<int> Keep(const Invocation& invocation) {
  KeptSession session;
  ASSIGN_OR_RETURN(session.idle_timeout, IdleTimeout(invocation));
  ASSIGN_OR_RETURN(session.when_idle, WhatWhenIdle(invocation));
  session.url = invocation.Value("url");
  session.container = ContainerOptions(invocation);
  session.script.assign(std::istreambuf_iterator<char>(std::cin), {});
  return KeepSession(invocation, session);
}

absl::StatusOr<int> Enter(const Invocation& invocation) {
  const std::string shell = invocation.environment.Get("SHELL");
  return EnterSession(invocation, {shell.empty() ? "/bin/sh" : shell});
}

absl::StatusOr<JobRequest> RequestOf(const Invocation& invocation, const SessionTemplate& session,
                                     const Address& address) {
  ASSIGN_OR_RETURN(const std::string self, OwnProgram());
  std::vector<std::string> keeper = {self, "dev", "--keep"};
  for (const char* option : {"idle-timeout", "when-idle"}) {
    if (invocation.Has(option)) {
      keeper.push_back(absl::StrCat("--", option, "=", invocation.Value(option)));
    }
  }
  if (const std::string url = HeadOf(session, "url"); !url.empty()) {
    keeper.push_back("--url=" + url);
  }
  Invocation submission = invocation;
  submission.arguments.clear();
  for (const std::string& option : ContainerOptions(invocation)) {
    keeper.push_back(option);
  }
  for (auto each = submission.values.begin(); each != submission.values.end();) {
    each = IsOfContainer(each->first) ? submission.values.erase(each) : std::next(each);
  }
  ASSIGN_OR_RETURN(JobRequest request,
                   MakeSubmission(submission, address,
                                  {.name = session.name, .text = ScriptOf(session, keeper)}));
  if (!ContainerOptions(invocation).empty()) {
    // The job itself has no container, but its steps will have one.
    core::RequireFeature(core::kContainerFeature, &request.spec.request.constraint.every);
  }
  return request;
}

// Of the container that the session's server will have: what is wrong with it, before anything
// starts.
absl::Status CheckContainerOf(const Invocation& invocation, const SessionTemplate& session,
                              const Address& address, Connection& connection) {
  if (ContainerOptions(invocation).empty()) {
    return absl::OkStatus();
  }
  Invocation submission = invocation;
  submission.arguments.clear();
  ASSIGN_OR_RETURN(const JobRequest request,
                   MakeSubmission(submission, address,
                                  {.name = session.name, .text = ScriptOf(session, {"true"})}));
  return CheckContainerNodes(connection, request, invocation.environment.entries());
}

absl::StatusOr<int> VisitOnceItRuns(const Invocation& invocation, Connection& connection, JobId job,
                                    const UniqueFd& signals, bool takes_back) {
  ASSIGN_OR_RETURN(const std::uint16_t port, LocalPort(invocation));
  const absl::Status started = AwaitStart(connection, job, signals, takes_back);
  if (absl::IsCancelled(started)) {
    return 1;
  }
  RETURN_IF_ERROR(started);
  return VisitSession(invocation, connection, job, port, signals);
}

absl::StatusOr<int> Start(const Invocation& invocation, const std::string& name,
                          const UniqueFd& signals) {
  ASSIGN_OR_RETURN(const SessionTemplate session, FindTemplate(name, invocation.environment));
  const bool shell = session.text.empty();
  if (shell && !invocation.Has("detach") && isatty(STDIN_FILENO) == 0) {
    return absl::FailedPreconditionError(
        "a shell needs a terminal, and standard input is none: use --detach, or a template with a "
        "server");
  }
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  ASSIGN_OR_RETURN(JobRequest request, RequestOf(invocation, session, address));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  RETURN_IF_ERROR(CheckContainerOf(invocation, session, address, *connection));
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  request.wait = !invocation.Has("detach");
  ASSIGN_OR_RETURN(const StagedJobs submitted, SubmitWithCopies(*connection, token, request));
  for (const Submitted& never : submitted.remarks) {
    std::cerr << "muster dev: job " << never.job.value() << " waits: " << Printable(never.remark)
              << std::endl;
  }
  TellCopies("muster dev", submitted);
  if (invocation.Has("detach")) {
    std::cout << submitted.job.value() << std::endl;
    return 0;
  }
  return VisitOnceItRuns(invocation, *connection, submitted.job, signals, /*takes_back=*/true);
}

absl::StatusOr<int> ComeBack(const Invocation& invocation, const UniqueFd& signals) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(invocation));
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseWholeJobs(names));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  return VisitOnceItRuns(invocation, *connection, jobs.front().job, signals, /*takes_back=*/false);
}

absl::StatusOr<int> PrintTemplates(const Invocation& invocation) {
  std::string page;
  for (const SessionTemplate& session : ListTemplates(invocation.environment)) {
    const std::string purpose = HeadOf(session, "purpose");
    absl::StrAppend(&page, session.name, purpose.empty() ? "" : ": ", Printable(purpose),
                    session.from.empty() ? "" : absl::StrCat(" (", session.from, ")"), "\n");
  }
  return WriteOut(page).ok() ? 0 : 1;
}

// --image is what everything else calls --container-image; who gives both means the latter.
Invocation WithImage(Invocation invocation) {
  const auto image = invocation.values.find("image");
  if (image != invocation.values.end()) {
    invocation.values.emplace("container-image", image->second);
    invocation.values.erase("image");
  }
  return invocation;
}

absl::StatusOr<int> Dev(const Invocation& given) {
  const Invocation invocation = WithImage(given);
  if (invocation.Has("keep")) {
    return Keep(invocation);
  }
  if (invocation.Has("await")) {
    return AwaitDoor(invocation);
  }
  if (invocation.Has("enter")) {
    return Enter(invocation);
  }
  if (invocation.Has("templates")) {
    return PrintTemplates(invocation);
  }
  RETURN_IF_ERROR(IdleTimeout(invocation).status());
  RETURN_IF_ERROR(WhatWhenIdle(invocation).status());
  RETURN_IF_ERROR(LocalPort(invocation).status());
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM, SIGHUP}));
  const std::string name = invocation.arguments.empty() ? "shell" : invocation.arguments.front();
  const bool job = ParseDigits(name, UINT64_MAX).ok() || NamesLast(name);
  return job ? ComeBack(invocation, signals) : Start(invocation, name, signals);
}

// Those of a submission that mean something for a session.
std::vector<Option> SubmitOptions() {
  std::vector<Option> options = JobOptions(JobVerb::kSubmit);
  const auto no_sense = [](const Option& option) {
    for (const char* name : {"array", "every", "input", "parsable", "test-only", "wait"}) {
      if (option.name == name) {
        return true;
      }
    }
    return false;
  };
  options.erase(std::remove_if(options.begin(), options.end(), no_sense), options.end());
  return options;
}

std::vector<Option> DevOptions() {
  std::vector<Option> options = {
      {.name = "idle-timeout",
       .letter = 0,
       .metavar = "TIME",
       .text = "End it when it was idle for so long (default: 1h; none: never)"},
      {.name = "when-idle",
       .letter = 0,
       .metavar = "end|hold",
       .text = "hold: it saves what it can, and waits for muster release"},
      {.name = "local-port",
       .letter = 0,
       .metavar = "PORT",
       .text = "The port on this machine (default: one that is free)"},
      {.name = "image", .letter = 0, .metavar = "IMAGE", .text = "The same as --container-image"},
      {.name = "detach", .letter = 0, .metavar = "", .text = "Print the job's number and leave"},
      {.name = "templates", .letter = 0, .metavar = "", .text = "List the templates"}};
  for (const char* name : {"keep", "await", "enter"}) {
    options.push_back({.name = name, .letter = 0, .metavar = "", .text = ""});
  }
  options.push_back({.name = "url", .letter = 0, .metavar = "PATH", .text = ""});
  return options;
}

}  // namespace

Verb DevVerb() {
  Verb verb;
  verb.name = "dev";
  verb.purpose = "Work interactively on a node: a shell, Jupyter or a server of one's own";
  verb.synopsis = "[TEMPLATE | JOB]";
  verb.examples = {"muster dev --gpus 1", "muster dev jupyter --gpus 1 --mem 32G -t 8h",
                   "muster dev jupyter --image jupyter.sqsh", "muster dev --image alpine:3.20",
                   "muster dev last"};
  verb.remarks =
      "Submits a job that holds the session, waits for it, and opens a shell there, or forwards a\n"
      "port of this machine to the template's server and prints the URL with its token. Ctrl-C\n"
      "leaves the session running: muster dev JOB comes back. It ends when no key is typed and\n"
      "the job's CPUs and GPUs idle for --idle-timeout.";
  verb.options = DevOptions();
  for (const Option& option : SubmitOptions()) {
    verb.options.push_back(option);
  }
  verb.arguments_max = 1;
  verb.run = Dev;
  return verb;
}

}  // namespace muster::cli
