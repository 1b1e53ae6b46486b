#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/job_watch.h"
#include "cli/frame/verbs.h"
#include "cli/page/hostlist.h"
#include "cli/page/quantity.h"
#include "cli/page/text.h"
#include "cli/parse/array.h"
#include "cli/parse/request/directives.h"
#include "cli/request/job_options.h"
#include "cli/request/request.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/plan/reason.h"
#include "scheduler/runtime/clock.h"

namespace muster {
namespace {

// How long a person waits for a pass to look at the job.
constexpr std::chrono::milliseconds kVerdictPatience{500};
constexpr std::chrono::milliseconds kVerdictPause{10};

absl::StatusOr<Script> ReadScript(const Invocation& invocation) {
  if (invocation.Has("wrap")) {
    if (!invocation.arguments.empty()) {
      return absl::InvalidArgumentError("--wrap and SCRIPT exclude each other: give one");
    }
    return WrapCommand(invocation.Value("wrap"));
  }
  if (invocation.arguments.empty()) {
    return absl::InvalidArgumentError("missing SCRIPT: name one, or - for stdin, or --wrap CMD");
  }
  return LoadScript(invocation.arguments.front());
}

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

// The directives of each component; as many as the script or the command line has.
absl::StatusOr<std::vector<std::vector<GivenOption>>> DirectivesOf(const Script& script,
                                                                   std::size_t components) {
  absl::StatusOr<std::vector<DirectiveLine>> lines = ParseDirectives(script.text);
  if (!lines.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(script.name, ":", std::string(lines.status().message())));
  }
  std::vector<std::vector<GivenOption>> directives;
  for (const std::vector<DirectiveLine>& own : SplitComponents(*lines)) {
    ASSIGN_OR_RETURN(std::vector<GivenOption> given, ReadDirectives(own, script.name));
    directives.push_back(std::move(given));
  }
  directives.resize(std::max(directives.size(), components));
  return directives;
}

// The components after the first, of options alone: the script is the first one's.
absl::StatusOr<std::vector<Component>> ReadComponents(
    const Invocation& invocation, const std::vector<std::vector<GivenOption>>& directives,
    const JobRequest& first, const Moment& moment) {
  static const std::map<std::string, std::string> nothing;
  const std::vector<GivenOption> environment =
      OptionsFrom(invocation.environment, JobVerb::kSubmit);
  std::vector<Component> components;
  for (std::size_t i = 1; i < directives.size(); ++i) {
    const bool said = i <= invocation.components.size();
    absl::StatusOr<JobRequest> request =
        ReadComponentOptions({invocation.values, directives.front()},
                             {said ? invocation.components[i - 1].values : nothing, directives[i]},
                             environment, JobVerb::kSubmit, moment);
    if (!request.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("component ", i, ": ", std::string(request.status().message())));
    }
    if (request->spec.name.empty()) {
      request->spec.name = first.spec.name;
    }
    components.push_back(Component{std::move(request->spec), Program()});
  }
  return components;
}

absl::StatusOr<JobRequest> ReadRequest(const Invocation& as_given, const Address& address) {
  ASSIGN_OR_RETURN(const Invocation invocation, WithWrapInFront(as_given));
  const Moment moment{.now = SystemClock().Now(), .zone = absl::LocalTimeZone()};
  // The command line alone first: its mistakes are told before a file is looked at.
  RETURN_IF_ERROR(ReadJobOptions(invocation.values, {}, JobVerb::kSubmit, moment).status());
  ASSIGN_OR_RETURN(Script script, ReadScript(invocation));
  ASSIGN_OR_RETURN(const std::vector<std::vector<GivenOption>> directives,
                   DirectivesOf(script, invocation.components.size() + 1));
  std::vector<GivenOption> first = directives.front();
  for (GivenOption& given : OptionsFrom(invocation.environment, JobVerb::kSubmit)) {
    first.push_back(std::move(given));
  }
  ASSIGN_OR_RETURN(JobRequest request,
                   ReadJobOptions(invocation.values, first, JobVerb::kSubmit, moment));
  if (!invocation.arguments.empty()) {
    request.program.argv.assign(invocation.arguments.begin() + 1, invocation.arguments.end());
  }
  RETURN_IF_ERROR(CheckArguments(request.program.argv));
  request.program.script = std::move(script.text);
  RETURN_IF_ERROR(CompleteRequest({.environment = invocation.environment,
                                   .local = IsLocal(address),
                                   .new_job = true,
                                   .fallback = script.name},
                                  &request));
  ASSIGN_OR_RETURN(request.components, ReadComponents(invocation, directives, request, moment));
  return request;
}

// Waits for the job, for every element of its array or for every component; the highest exit code
// of all.
absl::StatusOr<int> WaitForAll(Connection& connection, JobId first, const JobRequest& request) {
  const std::size_t elements = request.spec.array.has_value()
                                   ? ArrayIndices(*request.spec.array).size()
                                   : request.components.size() + 1;
  int highest = 0;
  JobId job = first;
  for (std::size_t i = 0; i < elements; ++i, job = job.Next()) {
    ASSIGN_OR_RETURN(const JobView ended, WaitForEnd(connection, job));
    highest = std::max(highest, ExitCodeOf(ended));
  }
  return highest;
}

// The one of a submission's jobs that can never start on this cluster; null when all may.
const JobView* NeverStarts(const std::vector<JobView>& jobs) {
  const JobView* never = nullptr;
  for (const JobView& job : jobs) {
    // Components that wait for one that never starts say no more than that.
    if (job.reason.never && (never == nullptr || never->reason.kind == Name(ReasonKind::kHetJob))) {
      never = &job;
    }
  }
  return never;
}

bool AwaitsVerdict(const JobView& job) {
  return job.state == Name(JobState::kPending) &&
         job.reason.kind == Name(ReasonKind::kNotPlannedYet);
}

// Why the job that was accepted can never start; "" when it may, or when no pass has looked at it
// soon.
std::string WhyNever(Connection& connection, JobId first, const JobRequest& request) {
  JobFilter filter;
  for (JobId job = first; filter.jobs.size() <= request.components.size(); job = job.Next()) {
    filter.jobs.push_back(job);
  }
  const SystemClock clock;
  for (const SteadyTime until = clock.SteadyNow() + kVerdictPatience; clock.SteadyNow() < until;
       std::this_thread::sleep_for(kVerdictPause)) {
    const absl::StatusOr<std::vector<JobView>> jobs = connection.ListJobs(filter);
    if (!jobs.ok()) {
      break;
    }
    if (const JobView* never = NeverStarts(*jobs)) {
      return absl::StrCat("job ", Printable(never->label),
                          " waits: ", Printable(never->reason.text));
    }
    if (std::none_of(jobs->begin(), jobs->end(), AwaitsVerdict)) {
      break;
    }
  }
  return "";
}

// For whoever looks on; workflow engines parse stderr.
void TellIfNever(Connection& connection, JobId job, const JobRequest& request) {
  const std::string why = isatty(STDERR_FILENO) == 0 ? "" : WhyNever(connection, job, request);
  if (!why.empty()) {
    std::cerr << "muster submit: " << why << "; muster cancel " << job.value() << " takes it back"
              << std::endl;
  }
}

// --test-only: 0 when it would start some time, 1 when never on this cluster.
absl::StatusOr<int> Test(Connection& connection, const std::string& token,
                         const JobRequest& request) {
  ASSIGN_OR_RETURN(const StartForecast forecast,
                   connection.TestSubmit(token, request.spec, request.program, request.components));
  const Time now = SystemClock().Now();
  std::cout << (forecast.start == kNoTime ? "the start is not known"
                : forecast.start <= now
                    ? "would start now"
                    : absl::StrCat("would start by ",
                                   MomentText(forecast.start, absl::LocalTimeZone())))
            << (forecast.nodes.empty() ? "" : " on " + Printable(Hostlist(forecast.nodes)))
            << (forecast.reason.empty() ? "" : ": " + Printable(forecast.reason)) << std::endl;
  return forecast.never ? 1 : 0;
}

absl::StatusOr<int> Submit(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  ASSIGN_OR_RETURN(const JobRequest request, ReadRequest(invocation, address));
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  if (request.test_only) {
    return Test(*connection, token, request);
  }
  ASSIGN_OR_RETURN(const JobId job,
                   connection->Submit(token, request.spec, request.program, request.components));
  std::cout << (request.parsable ? "" : "Submitted batch job ") << job.value() << std::endl;
  TellIfNever(*connection, job, request);
  return request.wait ? WaitForAll(*connection, job, request) : 0;
}

}  // namespace

Verb SubmitVerb() {
  Verb verb;
  verb.name = "submit";
  verb.purpose = "Submit a batch script; it runs when its resources are free";
  verb.synopsis = "[: options]… SCRIPT [ARG…] | --wrap CMD | -";
  verb.forms = {"[options] [: options]… SCRIPT [ARG…]", "[options] --wrap CMD", "[options] -"};
  verb.components = Components::kOptions;
  verb.examples = {"muster submit -n 4 --mem 8G -t 30 job.sh input.dat",
                   "muster submit --array 0-99%10 --wrap './work $MUSTER_ARRAY_TASK_ID'",
                   "muster submit --wait --parsable - < job.sh",
                   "muster submit -n 4 -c 2 : -n 1 -G 1 coupled.sh"};
  verb.remarks =
      "A lone \":\" begins the next component of a heterogeneous job: components start and end\n"
      "together, the script runs on the first (muster run --het-group=1 on the next). In a script\n"
      "the line #MUSTER hetjob stands between the options of two components.\n"
      "Options may stand in the script as #MUSTER or #SBATCH lines before the first command; the\n"
      "command line wins. A request larger than the cluster is accepted and waits with the reason\n"
      "\"never on this cluster\" (see muster queue) until such nodes join or it is cancelled;\n"
      "where stderr is a terminal, submit says so at once. --test-only asks without submitting.";
  verb.options = JobOptions(JobVerb::kSubmit);
  verb.options.insert(verb.options.begin(), Option{.name = "wrap",
                                                   .letter = 0,
                                                   .metavar = "CMD",
                                                   .text = "Run CMD by /bin/sh; no SCRIPT then"});
  verb.arguments_max = kAnyNumber;
  verb.takes_command = true;
  verb.run = Submit;
  return verb;
}

}  // namespace muster
