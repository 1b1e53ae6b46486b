#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/newest_job.h"
#include "cli/controller/streams/submit_stream.h"
#include "cli/frame/json_output.h"
#include "cli/frame/verbs.h"
#include "cli/images/container_check.h"
#include "cli/jobs/submit/batch_file.h"
#include "cli/jobs/submit/resubmission.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/jobs/submit/submission.h"
#include "cli/page/quantity.h"
#include "cli/page/text.h"
#include "cli/parse/request/notice_words.h"
#include "cli/parse/selector.h"
#include "cli/request/job_options.h"
#include "cli/request/request.h"
#include "cli/tell/background_notice.h"
#include "cli/tell/desktop.h"
#include "cli/tell/terminal.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

// --wrap stands where a script would: after the last component's options, or before. The first
// component's it is.
absl::StatusOr<Invocation> WithWrapInFront(Invocation invocation) {
  for (ComponentWords& component : invocation.components) {
    auto wrap = component.values.extract("wrap");
    if (!wrap.empty() && !invocation.values.insert(std::move(wrap)).inserted) {
      return absl::InvalidArgumentError("--wrap: is given for two components; there is one script");
    }
  }
  return invocation;
}

// --test-only: 0 when it would start some time, 1 when never on this cluster.
absl::StatusOr<int> Test(Connection& connection, const std::string& token,
                         const JobRequest& request) {
  ASSIGN_OR_RETURN(
      const StartForecast forecast,
      connection.Call(TestSubmit{{token, request.spec, request.program, {}, request.components}}));
  const Time now = SystemClock().Now();
  std::cout << (forecast.start == kNoTime ? "the start is not known"
                : forecast.start <= now
                    ? "would start now"
                    : absl::StrCat("would start by ",
                                   MomentText(forecast.start, absl::LocalTimeZone())))
            << (forecast.nodes.empty() ? "" : " on " + Printable(CompressHostlist(forecast.nodes)))
            << (forecast.reason.empty() ? "" : ": " + Printable(forecast.reason)) << std::endl;
  return forecast.never ? 1 : 0;
}

// For whoever looks on, what was given and has no effect; workflow engines parse stderr.
void TellRecorded(const JobRequest& request) {
  const std::string text = isatty(STDERR_FILENO) == 0 ? "" : RecordedText(request);
  if (!text.empty()) {
    std::cerr << "muster submit: " << text << std::endl;
  }
}

using BatchLines = std::span<const BatchLine>;
using BatchAnswer = std::function<void(const BatchLine& line, const absl::StatusOr<JobId>& job)>;

absl::Status SubmitPlain(const Address& address, BatchLines lines, const BatchAnswer& answer) {
  std::vector<SubmitJob> submissions;
  submissions.reserve(lines.size());
  for (const BatchLine& line : lines) {
    ASSIGN_OR_RETURN(std::string token, MakeToken());
    const JobRequest& request = line.request;
    submissions.push_back(
        {std::move(token), request.spec, request.program, {}, request.components});
  }
  std::size_t answered = 0;
  return SubmitAll(address, submissions,
                   [&](const absl::StatusOr<JobId>& job) { answer(lines[answered++], job); });
}

// One after the other, for each is several jobs.
absl::Status SubmitCopying(const Address& address, BatchLines lines, const BatchAnswer& answer) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  for (const BatchLine& line : lines) {
    ASSIGN_OR_RETURN(const std::string token, MakeToken());
    const absl::StatusOr<StagedJobs> jobs = SubmitWithCopies(*connection, token, line.request);
    answer(line, jobs.ok() ? absl::StatusOr<JobId>(jobs->job) : jobs.status());
  }
  return absl::OkStatus();
}

// --batch: the answers come in the order of the lines. 1 when one of them was refused.
absl::StatusOr<int> SubmitBatch(const Invocation& invocation, const Address& address) {
  if (!invocation.arguments.empty() || !invocation.components.empty()) {
    return absl::InvalidArgumentError("--batch and SCRIPT exclude each other: give one");
  }
  if (invocation.Has("json")) {
    return absl::InvalidArgumentError("--json: is for one job: --parsable prints a number a line");
  }
  if (invocation.Has("tell")) {
    return absl::InvalidArgumentError("--tell: is for one job: use muster tell after --batch");
  }
  if (invocation.Value("notify") == "desktop") {
    return absl::InvalidArgumentError(
        "--notify=desktop: is for one job: use muster tell --desktop after --batch");
  }
  const std::string path = invocation.Value("batch");
  ASSIGN_OR_RETURN(std::vector<BatchLine> lines,
                   ReadBatchFile(SubmitVerb(), invocation, path, address));
  int code = 0;
  const auto answer = [&](const BatchLine& line, const absl::StatusOr<JobId>& job) {
    if (job.ok()) {
      std::cout << (line.request.parsable ? "" : "Submitted batch job ") << job->value() << "\n";
    } else {
      code = 1;
      std::cerr << "muster submit: " << path << ":" << line.number << ": "
                << Printable(std::string(job.status().message())) << "\n";
    }
  };
  for (auto begin = lines.begin(); begin != lines.end();) {
    const bool copying = HasCopies(begin->request);
    const auto end = std::find_if(begin, lines.end(), [copying](const BatchLine& line) {
      return HasCopies(line.request) != copying;
    });
    RETURN_IF_ERROR((copying ? SubmitCopying : SubmitPlain)(address, {begin, end}, answer));
    begin = end;
  }
  std::cout << std::flush;
  return code;
}

// --like: what a job was submitted with, and what the command line says otherwise.
absl::StatusOr<JobRequest> RequestLike(const Invocation& invocation, const Address& address,
                                       Connection& connection) {
  if (!invocation.arguments.empty() || !invocation.components.empty() || invocation.Has("wrap")) {
    return absl::InvalidArgumentError("--like and SCRIPT exclude each other: give one");
  }
  Invocation naming = invocation;
  naming.arguments = {invocation.Value("like")};
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(naming));
  ASSIGN_OR_RETURN(const std::vector<JobSelector> jobs, ParseWholeJobs(names));
  ASSIGN_OR_RETURN(const Submission before, connection.Call(ReadSubmission{jobs.front().job}));
  const Time now = SystemClock().Now();
  ASSIGN_OR_RETURN(JobRequest request, RequestAgain(before, jobs.front().elements, now));
  if (!request.components.empty()) {
    return absl::InvalidArgumentError(
        "--like: not of a heterogeneous job; muster rerun submits it as it was");
  }
  RETURN_IF_ERROR(
      ChangeRequest(invocation.values, {.now = now, .zone = absl::LocalTimeZone()}, &request));
  request.spec.held = invocation.Has("hold");
  request.wait = invocation.Has("wait");
  request.parsable = invocation.Has("parsable");
  request.test_only = invocation.Has("test-only");
  RETURN_IF_ERROR(CompleteRequest(
      {.environment = invocation.environment, .local = IsLocal(address), .fallback = "job"},
      &request));
  return request;
}

// What the command line and a script ask for.
absl::StatusOr<JobRequest> RequestOf(const Invocation& as_given, const Address& address) {
  ASSIGN_OR_RETURN(const Invocation invocation, WithWrapInFront(as_given));
  // The command line alone first: its mistakes are told before a file is looked at.
  const ParseContext context{.now = SystemClock().Now(), .zone = absl::LocalTimeZone()};
  RETURN_IF_ERROR(ReadJobOptions(invocation.values, {}, JobVerb::kSubmit, context).status());
  ASSIGN_OR_RETURN(const Script script, ReadScriptOf(invocation));
  return MakeSubmission(invocation, address, script);
}

void TellNumbers(const Invocation& invocation, const JobRequest& request,
                 const StagedJobs& submitted) {
  const auto number = [](JobId job) { return job.valid() ? Json(job.value()) : Json(nullptr); };
  if (invocation.Has("json")) {
    std::cout << PrintJson({{"job", number(submitted.job)},
                            {"stage_in", number(submitted.stage_in)},
                            {"stage_out", number(submitted.stage_out)}})
              << std::flush;
    return;
  }
  std::cout << (request.parsable ? "" : "Submitted batch job ") << submitted.job.value()
            << std::endl;
  TellCopies("muster submit", submitted);
}

absl::StatusOr<int> Submit(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  if (invocation.Has("batch")) {
    return SubmitBatch(invocation, address);
  }
  UniqueFd terminal;
  if (invocation.Has("tell")) {
    ASSIGN_OR_RETURN(terminal, FindTerminal());
  }
  const bool like = invocation.Has("like");
  JobRequest request;
  if (!like) {
    ASSIGN_OR_RETURN(request, RequestOf(invocation, address));
  }
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  if (like) {
    ASSIGN_OR_RETURN(request, RequestLike(invocation, address, *connection));
  }
  const bool desktop = WantsDesktop(request.spec.recorded);
  RETURN_IF_ERROR(desktop ? CheckDesktop(invocation.environment) : absl::OkStatus());
  RETURN_IF_ERROR(CheckContainerNodes(*connection, request, invocation.environment.entries()));
  if (request.test_only && invocation.Has("json")) {
    return absl::InvalidArgumentError("--json: is for a job that is submitted, not --test-only");
  }
  if (request.test_only) {
    return Test(*connection, token, request);
  }
  ASSIGN_OR_RETURN(const StagedJobs submitted, SubmitWithCopies(*connection, token, request));
  const JobId job = submitted.job;
  TellNumbers(invocation, request, submitted);
  TellRecorded(request);
  if (terminal.valid()) {
    RETURN_IF_ERROR(StartNotice(invocation, absl::StrCat(job.value()), terminal.get()));
  }
  if (desktop) {
    RETURN_IF_ERROR(StartNotice(invocation, absl::StrCat(job.value()), -1));
  }
  for (const Submitted& never : submitted.remarks) {
    std::cerr << "muster submit: job " << never.job.value() << " waits: " << Printable(never.remark)
              << "; muster cancel " << job.value() << " takes it back" << std::endl;
  }
  return request.wait ? WaitWithCopies(*connection, submitted, request) : 0;
}

}  // namespace

Verb SubmitVerb() {
  Verb verb;
  verb.name = "submit";
  verb.purpose = "Submit a batch script; it runs when its resources are free";
  verb.synopsis = "[: options]… SCRIPT [ARG…] | --wrap CMD | -";
  verb.forms = {"[options] [: options]… SCRIPT [ARG…]", "[options] --wrap CMD", "[options] -",
                "[options] --batch FILE", "[options] --like JOB"};
  verb.components = Components::kOptions;
  verb.examples = {"muster submit -n 4 --mem 8G -t 30 job.sh input.dat",
                   "muster submit --array 0-99%10 --wrap './work $MUSTER_ARRAY_TASK_ID'",
                   "muster submit --wait --parsable - < job.sh",
                   "muster submit -n 4 -c 2 : -n 1 -G 1 coupled.sh",
                   "muster submit --parsable -t 10 --batch jobs.txt",
                   "muster submit --every 'Mon-Fri 03:00' nightly.sh",
                   "muster submit --like 12 --time 2h --mem 16G",
                   "muster submit --stage-in s3:bucket/data:/scratch/data "
                   "--stage-out results:s3:bucket/results train.sh",
                   "muster submit -G 8 --stage-in-node s3:bucket/imagenet train.sh"};
  verb.remarks =
      "A lone \":\" begins the next component of a heterogeneous job: components start and end\n"
      "together, the script runs on the first (muster run --het-group=1 on the next). In a script\n"
      "the line #MUSTER hetjob stands between the options of two components.\n"
      "Options may stand in the script as #MUSTER or #SBATCH lines before the first command; the\n"
      "command line wins. A request larger than the cluster is accepted and waits with the reason\n"
      "\"never on this cluster\" (see muster queue) until such nodes join or it is cancelled;\n"
      "submit says so at once, in a line on stderr. --test-only asks without submitting.";
  verb.options = JobOptions(JobVerb::kSubmit);
  verb.options.insert(verb.options.begin(), Option{.name = "wrap",
                                                   .letter = 0,
                                                   .metavar = "CMD",
                                                   .text = "Run CMD by /bin/sh; no SCRIPT then"});
  verb.options.insert(verb.options.begin(),
                      Option{.name = "batch",
                             .letter = 0,
                             .metavar = "FILE",
                             .text = "Submit each line of FILE: the words of one submission"});
  verb.options.push_back(Option{.name = "like",
                                .letter = 0,
                                .metavar = "JOB",
                                .text = "As JOB was submitted, but for the options given"});
  verb.options.push_back(JsonOption());
  verb.options.push_back(Option{.name = "tell",
                                .letter = 0,
                                .metavar = "",
                                .text = "Write a line to this terminal when it has ended"});
  verb.arguments_max = kAnyNumber;
  verb.takes_command = true;
  verb.run = Submit;
  return verb;
}

}  // namespace muster::cli
