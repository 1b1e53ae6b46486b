#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <iostream>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/own_command.h"
#include "cli/frame/subcommand.h"
#include "cli/frame/verbs.h"
#include "cli/jobs/submit/staged_submission.h"
#include "cli/jobs/submit/submission.h"
#include "cli/page/text.h"
#include "cli/request/job_options.h"
#include "cli/request/request.h"
#include "cli/service/endpoint_file.h"
#include "cli/service/replica/probe_words.h"
#include "cli/service/replica/replica_keeper.h"
#include "cli/service/service_calls.h"
#include "cli/service/service_changes.h"
#include "cli/service/service_jobs.h"
#include "cli/service/service_keeper.h"
#include "cli/service/service_script.h"
#include "cli/service/service_table.h"
#include "cli/service/service_words.h"
#include "cli/service/terms/service_terms.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/signals.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {
namespace {

// What start and replica are both told; checked where it is given.
absl::StatusOr<KeptReplica> KeptOf(const Invocation& invocation) {
  KeptReplica replica;
  if (!invocation.Has("port")) {
    return absl::InvalidArgumentError(
        "--port: is missing: name the ports that a replica serves, like --port http");
  }
  ASSIGN_OR_RETURN(replica.ports, ParsePortNames(invocation.Value("port")));
  ASSIGN_OR_RETURN(replica.probe,
                   ParseProbe(invocation.Has("probe") ? invocation.Value("probe") : "tcp"));
  replica.terms.interval = replica.probe.interval;
  ASSIGN_OR_RETURN(replica.terms.start_grace,
                   TimeGiven(invocation, "start-grace", replica.terms.start_grace));
  return replica;
}

absl::Status CheckRequest(const JobRequest& request) {
  if (!request.components.empty()) {
    return absl::InvalidArgumentError("hetjob: is not for a service");
  }
  if (!request.spec.every.empty()) {
    return absl::InvalidArgumentError("--every: is not for a service, which does not end");
  }
  if (!request.spec.container.image.empty()) {
    return absl::InvalidArgumentError(
        "--container-image: is not for a service: have its script run muster run "
        "--container-image=IMAGE");
  }
  if (HasCopies(request)) {
    return absl::InvalidArgumentError(
        "--stage-in, --stage-out: are not for a service, whose replicas come and go: have its "
        "script run muster stage SRC DST");
  }
  return absl::OkStatus();
}

// What start asks for.
absl::StatusOr<ServiceTerms> AskedOf(const Invocation& invocation) {
  ServiceTerms terms;
  // Later than those of any service of that name before.
  terms.change = static_cast<std::uint64_t>(SystemClock().Now().time_since_epoch().count());
  if (NamesRule(invocation)) {
    ASSIGN_OR_RETURN(terms.rule, ScaleRuleOf(invocation));
  }
  ASSIGN_OR_RETURN(terms.replicas, ReplicasGiven(invocation, "replicas",
                                                 terms.rule.has_value() ? terms.rule->least : 1));
  ASSIGN_OR_RETURN(terms.rolling, ReplicasGiven(invocation, "rolling", terms.rolling));
  if (terms.rule.has_value() &&
      (terms.replicas < terms.rule->least || terms.replicas > terms.rule->most)) {
    return absl::InvalidArgumentError(absl::StrCat("--replicas: ", terms.replicas,
                                                   " is not within --min ", terms.rule->least,
                                                   " and --max ", terms.rule->most));
  }
  return terms;
}

absl::StatusOr<JobRequest> ServiceRequest(const Invocation& invocation, const Address& address,
                                          const std::string& name, const ServiceTerms& terms) {
  ASSIGN_OR_RETURN(const std::string self, OwnProgram());
  std::vector<std::string> keeper = {self, "service", "replica"};
  for (const char* option : {"port", "probe", "start-grace"}) {
    if (invocation.Has(option)) {
      keeper.push_back(absl::StrCat("--", option, "=", invocation.Value(option)));
    }
  }
  Invocation submission = invocation;
  submission.arguments.erase(submission.arguments.begin(), submission.arguments.begin() + 2);
  ASSIGN_OR_RETURN(Script script, LoadScript(submission.arguments.front()));
  script.text = ReplicaScript(keeper, script.text);
  submission.values["job-name"] = name;
  submission.values["comment"] = ReplicaComment(name, terms);
  submission.values["array"] = absl::StrCat("0-", terms.replicas - 1);
  ASSIGN_OR_RETURN(JobRequest request, MakeSubmission(submission, address, script));
  RETURN_IF_ERROR(CheckRequest(request));
  if (request.spec.requeue == Choice::kUnsaid) {
    request.spec.requeue = Choice::kYes;  // after its node's death, too
  }
  return request;
}

absl::StatusOr<int> StartService(const Invocation& invocation) {
  const std::vector<std::string>& words = invocation.arguments;
  if (words.size() < 3) {
    return absl::InvalidArgumentError("start: name the service and its script: start NAME SCRIPT");
  }
  ASSIGN_OR_RETURN(const std::string name, ServiceName(words[1]));
  RETURN_IF_ERROR(KeptOf(invocation).status());
  ASSIGN_OR_RETURN(const ServiceTerms terms, AskedOf(invocation));
  const std::uint32_t replicas = terms.replicas;
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  ASSIGN_OR_RETURN(JobRequest request, ServiceRequest(invocation, address, name, terms));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, Connection::Open(address));
  ASSIGN_OR_RETURN(const std::vector<ServiceReplica> there, FindReplicas(*connection, name));
  if (!there.empty()) {
    return absl::AlreadyExistsError(absl::StrCat("service ", name, " runs already, as ",
                                                 Counted(there.size(), "replica"),
                                                 ": muster service roll, scale or stop ", name));
  }
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  ASSIGN_OR_RETURN(const Submitted submitted,
                   connection->Call(SubmitJob{token, request.spec, request.program, {}, {}}));
  if (!submitted.remark.empty()) {
    std::cerr << "muster service: job " << submitted.job.value()
              << " waits: " << Printable(submitted.remark) << std::endl;
  }
  const std::uint64_t job = submitted.job.value();
  RETURN_IF_ERROR(WriteOut(
      invocation.Has("json") ? PrintJson({{"service", name}, {"job", job}, {"replicas", replicas}})
                             : absl::StrCat("Started service ", name, ": ",
                                            Counted(replicas, "replica"), ", job ", job, "\n")));
  return 0;
}

absl::StatusOr<int> RunReplica(const Invocation& invocation) {
  ASSIGN_OR_RETURN(KeptReplica replica, KeptOf(invocation));
  replica.arguments.assign(invocation.arguments.begin() + 1, invocation.arguments.end());
  replica.script.assign(std::istreambuf_iterator<char>(std::cin), {});
  if (!absl::StartsWith(replica.script, "#!")) {
    return absl::InvalidArgumentError("standard input: is no script: it begins with #!");
  }
  return KeepReplica(invocation, replica);
}

absl::StatusOr<int> ListServices(const Invocation& invocation) {
  const bool one = invocation.arguments.size() > 1;
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  std::vector<ServiceReplica> replicas;
  if (one) {
    ASSIGN_OR_RETURN(replicas, ReplicasOf(*connection, invocation.arguments[1]));
  } else {
    ASSIGN_OR_RETURN(replicas, FindReplicas(*connection, ""));
  }
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  RETURN_IF_ERROR(WriteOut(invocation.Has("json") ? ServicesDocument(replicas)
                           : one                  ? PrintReplicas(replicas, style)
                                                  : PrintServices(replicas, style)));
  return 0;
}

absl::StatusOr<int> ShowEndpoints(const Invocation& invocation) {
  EndpointFile file;
  ASSIGN_OR_RETURN(file.service, ServiceName(invocation.arguments[1]));
  file.port = invocation.Value("port");
  file.path = invocation.Value("output");
  file.reload = invocation.Value("reload");
  file.environment = invocation.environment.entries();
  ASSIGN_OR_RETURN(file.format,
                   ParseEndpointFormat(invocation.Has("json")     ? "json"
                                       : invocation.Has("format") ? invocation.Value("format")
                                                                  : "lines"));
  for (const char* option : {"follow", "reload"}) {
    if (invocation.Has(option) && file.path.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", option, ": is for a file: name it by -o FILE"));
    }
  }
  if (invocation.Has("follow")) {
    ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM}));
    ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
    return FollowEndpoints(*connection, file, signals);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  return WriteEndpoints(*connection, file);
}

void TellLine(const std::string& line) {
  std::cout << Printable(line) << std::endl;
}

absl::StatusOr<int> Scale(const Invocation& invocation) {
  const std::string& name = invocation.arguments[1];
  const bool by_rule = NamesRule(invocation);
  if (by_rule == (invocation.arguments.size() > 2)) {
    return absl::InvalidArgumentError(
        "scale: say how many, or by which rule: scale NAME N, or scale NAME --min 2 --max 8 "
        "--metric inflight --target 10");
  }
  ScaleRule rule;
  std::uint32_t count = 0;
  if (by_rule) {
    ASSIGN_OR_RETURN(rule, ScaleRuleOf(invocation));
  } else {
    ASSIGN_OR_RETURN(count, ReplicaCount("", invocation.arguments[2]));
  }
  ASSIGN_OR_RETURN(const ChangeTerms terms, ChangeTermsOf(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  const ServiceCalls calls = CallsOfService(*connection, invocation.environment, name, "");
  RETURN_IF_ERROR(by_rule ? ScaleByRule(calls, rule, terms, TellLine)
                          : ScaleService(calls, count, terms, TellLine));
  return 0;
}

absl::StatusOr<int> Roll(const Invocation& invocation) {
  const std::string& name = invocation.arguments[1];
  ASSIGN_OR_RETURN(const ChangeTerms terms, ChangeTermsOf(invocation));
  ASSIGN_OR_RETURN(const std::uint32_t rolling, ReplicasGiven(invocation, "rolling", 0));
  std::string script;
  if (invocation.arguments.size() > 2) {
    ASSIGN_OR_RETURN(const Script loaded, LoadScript(invocation.arguments[2]));
    script = loaded.text;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  RETURN_IF_ERROR(ReplicasOf(*connection, name).status());
  RETURN_IF_ERROR(RollService(CallsOfService(*connection, invocation.environment, name, script),
                              rolling, terms, TellLine));
  return 0;
}

absl::StatusOr<int> Keep(const Invocation& invocation) {
  const std::string& name = invocation.arguments[1];
  ASSIGN_OR_RETURN(const KeepTerms terms, KeepTermsOf(invocation));
  ASSIGN_OR_RETURN(const UniqueFd signals, BlockSignals({SIGINT, SIGTERM}));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  return KeepService(CallsOfService(*connection, invocation.environment, name, ""), terms, TellLine,
                     signals);
}

absl::StatusOr<int> Stop(const Invocation& invocation) {
  const std::string& name = invocation.arguments[1];
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const std::size_t replicas,
                   StopService(CallsOfService(*connection, invocation.environment, name, "")));
  TellLine(absl::StrCat("Stopped service ", name, ": ", Counted(replicas, "replica")));
  return 0;
}

struct ServiceCommand {
  const char* name;
  absl::StatusOr<int> (*run)(const Invocation&);
  std::size_t arguments_min;  // after its own name
  std::size_t arguments_max;
  std::vector<std::string> options;  // start takes those of jobs, too
};

const std::vector<ServiceCommand>& Commands() {
  static const std::vector<ServiceCommand> kCommands = {
      {"start",
       StartService,
       2,
       kAnyNumber,
       {"replicas", "port", "probe", "start-grace", "rolling", "min", "max", "metric", "target",
        "window", "settle", "json"}},
      {"list", ListServices, 0, 1, {"json"}},
      {"endpoints", ShowEndpoints, 1, 1, {"port", "format", "output", "follow", "reload", "json"}},
      {"scale", Scale, 1, 2, {"min", "max", "metric", "target", "window", "settle", "drain"}},
      {"roll", Roll, 1, 2, {"rolling", "drain", "patience"}},
      {"keep", Keep, 1, 1, {"drain", "lost-after"}},
      {"stop", Stop, 1, 1, {}},
      {"replica", RunReplica, 0, kAnyNumber, {"port", "probe", "start-grace"}}};
  return kCommands;
}

// Those of a submission that mean something for a service.
std::vector<Option> ServiceJobOptions() {
  std::vector<Option> options = JobOptions(JobVerb::kSubmit);
  std::erase_if(options, [](const Option& option) {
    constexpr std::array kNoSense = {"array",    "comment",  "every",     "input",     "job-name",
                                     "parsable", "stage-in", "stage-out", "test-only", "wait"};
    return absl::StartsWith(option.name, "container") ||
           std::find(kNoSense.begin(), kNoSense.end(), option.name) != kNoSense.end();
  });
  return options;
}

absl::Status CheckWords(const Invocation& invocation, const ServiceCommand& command) {
  const std::size_t words = invocation.arguments.size() - 1;
  if (words < command.arguments_min) {
    return absl::InvalidArgumentError(
        absl::StrCat(command.name, ": names too little: see muster service --help"));
  }
  if (command.arguments_max != kAnyNumber && words > command.arguments_max) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(invocation.arguments[command.arguments_max + 1]), ": is one word too many"));
  }
  const std::vector<Option> of_jobs = ServiceJobOptions();
  for (const auto& [name, value] : invocation.values) {
    const bool own =
        std::find(command.options.begin(), command.options.end(), name) != command.options.end();
    const bool jobs = command.run == StartService &&
                      std::any_of(of_jobs.begin(), of_jobs.end(),
                                  [&name = name](const Option& each) { return each.name == name; });
    if (!own && !jobs && name != "controller" && name != "state") {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, ": is not for muster service ", command.name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Service(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const ServiceCommand* const command,
                   FindSubcommand(Commands(), "service", invocation.arguments.front()));
  RETURN_IF_ERROR(CheckWords(invocation, *command));
  return command->run(invocation);
}

std::vector<Option> ServiceOptions() {
  std::vector<Option> options;
  const auto add = [&options](const char* name, const char* metavar, const char* text) {
    options.push_back({.name = name, .letter = 0, .metavar = metavar, .text = text});
  };
  add("replicas", "N", "start: how many (default 1)");
  add("port", "NAME,...", "start: ports that a replica serves; endpoints: the one that is meant");
  add("probe", "PROBE", "start: http:/PATH[,TIME] or tcp[,TIME] (default tcp,10s)");
  add("start-grace", "TIME", "start: until then a probe may fail at first (default 1m)");
  add("format", "FORMAT", "endpoints: lines (the default), nginx, caddy or json");
  add("follow", "", "endpoints: keep the file of -o as the service is");
  add("reload", "COMMAND", "endpoints: run after each change of the file");
  add("rolling", "N", "start, roll: how many are replaced at a time (default 1)");
  add("min", "N", "start, scale: by load, the least (default 1)");
  add("max", "N", "start, scale: by load, the most");
  add("metric", "NAME", "start, scale: by what programs report under that name");
  add("target", "VALUE", "start, scale: what it is to be for each replica, on average");
  add("window", "TIME", "start, scale: over which it is averaged (default 1m)");
  add("settle", "TIME",
      "start, scale: how long fewer would have done before there are (default 5m)");
  add("drain", "TIME", "roll, scale, keep: how long one that goes gets no work (default 5s)");
  add("patience", "TIME", "roll: until new replicas are ready (default 5m)");
  add("lost-after", "TIME", "keep: until a replica out of reach is replaced (default 30s)");
  options.push_back(JsonOption());
  return options;
}

}  // namespace

Verb ServiceVerb() {
  Verb verb;
  verb.name = "service";
  verb.purpose = "Run servers as replicas: probed, rolled over, found by nginx or Caddy";
  verb.synopsis = "start|list|endpoints|keep|scale|roll|stop …";
  verb.forms = {"start NAME --port NAME [options] SCRIPT [ARG…]",
                "list [NAME]",
                "endpoints NAME [--format FORMAT] [-o FILE [--follow] [--reload COMMAND]]",
                "keep NAME",
                "scale NAME N",
                "scale NAME [--min N] --max N --metric NAME --target VALUE",
                "roll NAME [--rolling N] [SCRIPT]",
                "stop NAME"};
  verb.examples = {
      "muster service start web --replicas 3 --port http --probe http:/health,30s -c 2 serve.sh",
      "muster service endpoints web --format nginx -o /etc/nginx/conf.d/web.conf --follow "
      "--reload 'nginx -s reload'",
      "muster service keep web",
      "muster service scale web 5",
      "muster service scale web --min 2 --max 8 --metric inflight --target 10",
      "muster service roll web --rolling 2 serve-v2.sh",
      "muster service list web",
      "muster service stop web"};
  verb.remarks =
      "Each replica is a job, submitted with the options of muster submit, that runs SCRIPT with\n"
      "free ports in $MUSTER_PORT_NAME, and the first one in $PORT. A program that ends, or fails\n"
      "three probes in a row, is started again in its job. roll starts new replicas, waits until\n"
      "they are ready and ends as many old ones, --rolling at a time. keep runs until the service\n"
      "is stopped: it replaces replicas whose jobs ended or whose nodes are lost, and follows the\n"
      "rule of scale by what programs report (muster report inflight=7).";
  verb.options = ServiceOptions();
  for (const Option& option : ServiceJobOptions()) {
    verb.options.push_back(option);
  }
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = Service;
  return verb;
}

}  // namespace muster::cli
