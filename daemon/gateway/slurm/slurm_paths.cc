#include "daemon/gateway/slurm/slurm_paths.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "daemon/gateway/slurm/slurm_cluster.h"
#include "daemon/gateway/slurm/slurm_jobs.h"
#include "daemon/gateway/slurm/slurm_submit.h"
#include "proto/controller.pb.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/mac.h"

namespace muster::daemon::slurm {
namespace {

constexpr const char* kControl = "/slurm/v0.0.40/";
constexpr const char* kAccounting = "/slurmdb/v0.0.40/";
// slurmctld shows jobs for so long after their end (MinJobAge).
constexpr std::chrono::minutes kShownAfterEnd{5};
constexpr std::uint32_t kEndedMost = 10'000;
constexpr std::size_t kTokenBytes = 16;  // by which the controllers know a submission again

using Make = absl::StatusOr<SlurmCall> (*)(const http::Request& request, const std::string& name);

struct Path {
  const char* method;
  const char* before;  // kControl or kAccounting
  const char* path;    // after that; "job/*" takes a name
  Make make;
};

template <class Message>
const Message& As(const std::unique_ptr<google::protobuf::Message>& message) {
  return dynamic_cast<const Message&>(*message);
}

template <class Message>
Question Ask(const char* method, Message request) {
  return {method, std::make_unique<Message>(std::move(request))};
}

Question AskForPolicy() {
  return Ask("ListPolicy", wire::ListPolicyRequest());
}

// For when the newest cycle began. The controller keeps its answer for a second.
Question AskForMetrics() {
  return Ask("ReadMetrics", wire::ReadMetricsRequest());
}

// What every answer about the queue has.
SlurmAnswer Queue(const std::unique_ptr<google::protobuf::Message>& metrics, std::string jobs) {
  return {{{"last_backfill", LastCycle(As<wire::ReadMetricsReply>(metrics))},
           {"last_update", JustNow()}},
          "jobs",
          std::move(jobs)};
}

std::string ValueOfQuery(const http::Request& request, const std::string& name) {
  const auto found = std::find_if(request.query.begin(), request.query.end(),
                                  [&name](const auto& pair) { return pair.first == name; });
  return found == request.query.end() ? "" : found->second;
}

absl::StatusOr<std::uint64_t> JobIn(const std::string& name) {
  std::uint64_t job = 0;
  if (!absl::SimpleAtoi(name, &job) || job == 0) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": not a job's id"));
  }
  return job;
}

absl::StatusOr<SlurmCall> ListQueue(const http::Request& /*request*/, const std::string& /*name*/) {
  SlurmCall call;
  wire::ListHistoryRequest ended;
  ended.set_since(std::chrono::duration_cast<std::chrono::milliseconds>(
                      (std::chrono::system_clock::now() - kShownAfterEnd).time_since_epoch())
                      .count());
  ended.set_limit(kEndedMost);
  call.questions.push_back(AskForMetrics());
  call.questions.push_back(Ask("ListJobs", wire::ListJobsRequest()));
  call.questions.push_back(Ask("ListHistory", std::move(ended)));
  call.answer = [](const Messages& answers) -> absl::StatusOr<SlurmAnswer> {
    std::string jobs;
    for (std::size_t i = 1; i < answers.size(); ++i) {
      for (const wire::JobView& job : As<wire::ListJobsReply>(answers[i]).jobs()) {
        AppendQueuedJob(job, &jobs);
      }
    }
    return Queue(answers[0], std::move(jobs));
  };
  return call;
}

absl::StatusOr<Question> AskForJob(const std::string& name) {
  ASSIGN_OR_RETURN(const std::uint64_t job, JobIn(name));
  wire::ShowJobRequest asked;
  asked.mutable_job()->set_job(job);
  return Ask("ShowJob", std::move(asked));
}

std::string Shown(const std::unique_ptr<google::protobuf::Message>& answer,
                  Json (*entry)(const wire::JobView&, const wire::JobDetail*)) {
  std::string jobs;
  for (const wire::JobDetail& detail : As<wire::ShowJobReply>(answer).jobs()) {
    absl::StrAppend(&jobs, jobs.empty() ? "" : ",", DumpJson(entry(detail.job(), &detail)));
  }
  return jobs;
}

absl::StatusOr<SlurmCall> ShowQueued(const http::Request& /*request*/, const std::string& name) {
  ASSIGN_OR_RETURN(Question job, AskForJob(name));
  SlurmCall call;
  call.questions.push_back(AskForMetrics());
  call.questions.push_back(std::move(job));
  call.answer = [](const Messages& answers) -> absl::StatusOr<SlurmAnswer> {
    return Queue(answers[0], Shown(answers[1], QueuedJob));
  };
  return call;
}

absl::StatusOr<SlurmCall> ShowAccounted(const http::Request& /*request*/, const std::string& name) {
  ASSIGN_OR_RETURN(Question job, AskForJob(name));
  SlurmCall call;
  call.questions.push_back(std::move(job));
  call.answer = [](const Messages& answers) -> absl::StatusOr<SlurmAnswer> {
    return SlurmAnswer(Json::object(), "jobs", Shown(answers[0], AccountedJob));
  };
  return call;
}

// ?signal=USR1 or 10; without, the job is cancelled.
absl::StatusOr<SlurmCall> EndJob(const http::Request& request, const std::string& name) {
  ASSIGN_OR_RETURN(const std::uint64_t job, JobIn(name));
  const std::string word(absl::StripPrefix(ValueOfQuery(request, "signal"), "SIG"));
  int signal = 0;
  for (int number = 1; number < NSIG && !absl::SimpleAtoi(word, &signal); ++number) {
    const char* const abbreviated = sigabbrev_np(number);
    if (abbreviated != nullptr && word == abbreviated) {
      signal = number;
      break;
    }
  }
  if (!word.empty() && (signal < 1 || signal >= NSIG)) {
    return absl::InvalidArgumentError(absl::StrCat("signal: \"", word, "\" is none"));
  }
  SlurmCall call;
  if (word.empty() || signal == SIGKILL) {
    wire::CancelRequest cancel;
    cancel.add_jobs()->set_job(job);
    call.questions.push_back(Ask("Cancel", std::move(cancel)));
  } else {
    wire::SignalRequest send;
    send.add_jobs()->set_job(job);
    send.set_signal(static_cast<std::uint32_t>(signal));
    call.questions.push_back(Ask("Signal", std::move(send)));
  }
  call.answer = [](const Messages& answers) -> absl::StatusOr<SlurmAnswer> {
    const auto* const cancelled = dynamic_cast<const wire::CancelReply*>(answers[0].get());
    const auto& errors =
        cancelled != nullptr ? cancelled->errors() : As<wire::SignalReply>(answers[0]).errors();
    return errors.empty() ? absl::StatusOr<SlurmAnswer>(Json::object())
                          : absl::NotFoundError(errors.Get(0));
  };
  return call;
}

absl::StatusOr<SlurmCall> TakeSubmission(const http::Request& request,
                                         const std::string& /*name*/) {
  ASSIGN_OR_RETURN(wire::SubmitRequest submission, ReadSubmission(request.body));
  ASSIGN_OR_RETURN(const std::string random, RandomBytes(kTokenBytes));
  submission.set_token(absl::BytesToHexString(random));
  Json warnings = WarningsOf(submission);
  SlurmCall call;
  call.questions.push_back(Ask("Submit", std::move(submission)));
  call.answer = [warnings](const Messages& answers) -> absl::StatusOr<SlurmAnswer> {
    const std::uint64_t job = As<wire::SubmitReply>(answers[0]).job();
    return Json{{"warnings", warnings},
                {"job_id", job},
                {"step_id", "batch"},
                {"job_submit_user_msg", As<wire::SubmitReply>(answers[0]).remark()},
                {"result",
                 {{"job_id", job},
                  {"step_id", "batch"},
                  {"error", "No error"},
                  {"error_code", 0},
                  {"job_submit_user_msg", As<wire::SubmitReply>(answers[0]).remark()}}}};
  };
  return call;
}

// Nodes and policy, of which `entries` makes the list called `list`; of one, `name` alone.
absl::StatusOr<SlurmCall> AskCluster(const char* list, const std::string& name,
                                     Json (*entries)(const wire::ListNodesReply&,
                                                     const wire::ListPolicyReply&)) {
  SlurmCall call;
  call.questions.push_back(Ask("ListNodes", wire::ListNodesRequest()));
  call.questions.push_back(AskForPolicy());
  call.answer = [list, name, entries](const Messages& answers) -> absl::StatusOr<SlurmAnswer> {
    Json chosen = Json::array();
    for (Json& entry :
         entries(As<wire::ListNodesReply>(answers[0]), As<wire::ListPolicyReply>(answers[1]))) {
      if (name.empty() || entry.at("name") == name) {
        chosen.push_back(std::move(entry));
      }
    }
    if (chosen.empty() && !name.empty()) {
      return absl::NotFoundError(absl::StrCat(name, ": nothing of that name among ", list));
    }
    return Json{{list, std::move(chosen)}, {"last_update", JustNow()}};
  };
  return call;
}

absl::StatusOr<SlurmCall> ListNodesOf(const http::Request& /*request*/, const std::string& name) {
  return AskCluster("nodes", name,
                    [](const wire::ListNodesReply& nodes, const wire::ListPolicyReply& policy) {
                      Json list = Json::array();
                      for (const wire::NodeView& node : nodes.nodes()) {
                        list.push_back(NodeEntry(node, policy.objects()));
                      }
                      return list;
                    });
}

absl::StatusOr<SlurmCall> ListPartitions(const http::Request& /*request*/,
                                         const std::string& name) {
  return AskCluster("partitions", name,
                    [](const wire::ListNodesReply& nodes, const wire::ListPolicyReply& policy) {
                      Json list = Json::array();
                      for (const wire::PolicyView& object : policy.objects()) {
                        if (object.kind() == "partition") {
                          list.push_back(PartitionEntry(object, nodes.nodes()));
                        }
                      }
                      return list;
                    });
}

using EntryOf = Json (*)(const wire::PolicyView&);

// The objects of one kind.
absl::StatusOr<SlurmCall> AskPolicy(const char* list, const char* kind, const std::string& name,
                                    EntryOf entry) {
  SlurmCall call;
  call.questions.push_back(AskForPolicy());
  call.answer = [list, kind, name, entry](const Messages& answers) -> absl::StatusOr<SlurmAnswer> {
    Json chosen = Json::array();
    for (const wire::PolicyView& object : As<wire::ListPolicyReply>(answers[0]).objects()) {
      if (object.kind() == kind && (name.empty() || object.name() == name)) {
        chosen.push_back(entry(object));
      }
    }
    if (chosen.empty() && !name.empty()) {
      return absl::NotFoundError(absl::StrCat(name, ": nothing of that name among ", list));
    }
    return Json{{list, std::move(chosen)}};
  };
  return call;
}

absl::StatusOr<SlurmCall> ListReservations(const http::Request& /*request*/,
                                           const std::string& name) {
  return AskPolicy("reservations", "reservation", name, ReservationEntry);
}

absl::StatusOr<SlurmCall> ListAccounts(const http::Request& /*request*/, const std::string& name) {
  return AskPolicy("accounts", "account", name, AccountEntry);
}

absl::StatusOr<SlurmCall> ListQosOf(const http::Request& /*request*/, const std::string& name) {
  return AskPolicy("qos", "qos", name, QosEntry);
}

absl::StatusOr<SlurmCall> ListAssociations(const http::Request& /*request*/,
                                           const std::string& /*name*/) {
  return AskPolicy("associations", "association", "",
                   [](const wire::PolicyView& object) { return AssociationEntry(object, ""); });
}

absl::StatusOr<SlurmCall> ListUsers(const http::Request& /*request*/, const std::string& name) {
  SlurmCall call;
  call.questions.push_back(AskForPolicy());
  call.answer = [name](const Messages& answers) -> absl::StatusOr<SlurmAnswer> {
    Json chosen = Json::array();
    for (Json& user : UserEntries(As<wire::ListPolicyReply>(answers[0]).objects())) {
      if (name.empty() || user.at("name") == name) {
        chosen.push_back(std::move(user));
      }
    }
    return Json{{"users", std::move(chosen)}};
  };
  return call;
}

// ?users=a, ?start_time= (seconds since 1970).
absl::StatusOr<SlurmCall> ListAccounted(const http::Request& request, const std::string& /*name*/) {
  wire::ListHistoryRequest asked;
  asked.set_user(ValueOfQuery(request, "users"));
  asked.set_limit(kEndedMost);
  std::int64_t since = 0;
  const std::string start = ValueOfQuery(request, "start_time");
  if (!start.empty() && !absl::SimpleAtoi(start, &since)) {
    return absl::InvalidArgumentError("start_time: seconds since 1970");
  }
  asked.set_since(since * 1000);
  SlurmCall call;
  call.questions.push_back(Ask("ListHistory", std::move(asked)));
  call.answer = [](const Messages& answers) -> absl::StatusOr<SlurmAnswer> {
    std::string jobs;
    for (const wire::JobView& job : As<wire::ListJobsReply>(answers[0]).jobs()) {
      AppendAccountedJob(job, &jobs);
    }
    return SlurmAnswer(Json::object(), "jobs", std::move(jobs));
  };
  return call;
}

absl::StatusOr<SlurmCall> PingController(const http::Request& /*request*/,
                                         const std::string& /*name*/) {
  SlurmCall call;
  call.questions.push_back(Ask("Ping", wire::PingRequest()));
  call.answer = [](const Messages&) -> absl::StatusOr<SlurmAnswer> {
    return Json{{"pings", Json::array({PingEntry()})}};
  };
  return call;
}

absl::StatusOr<SlurmCall> Diagnose(const http::Request& /*request*/, const std::string& /*name*/) {
  SlurmCall call;
  call.questions.push_back(AskForMetrics());
  call.answer = [](const Messages& answers) -> absl::StatusOr<SlurmAnswer> {
    return Json{{"statistics", Statistics(As<wire::ReadMetricsReply>(answers[0]))}};
  };
  return call;
}

constexpr Path kPaths[] = {
    {"GET", kControl, "ping", PingController},
    {"GET", kControl, "diag", Diagnose},
    {"GET", kControl, "jobs", ListQueue},
    {"POST", kControl, "job/submit", TakeSubmission},
    {"GET", kControl, "job/*", ShowQueued},
    {"DELETE", kControl, "job/*", EndJob},
    {"GET", kControl, "nodes", ListNodesOf},
    {"GET", kControl, "node/*", ListNodesOf},
    {"GET", kControl, "partitions", ListPartitions},
    {"GET", kControl, "partition/*", ListPartitions},
    {"GET", kControl, "reservations", ListReservations},
    {"GET", kControl, "reservation/*", ListReservations},
    {"GET", kAccounting, "jobs", ListAccounted},
    {"GET", kAccounting, "job/*", ShowAccounted},
    {"GET", kAccounting, "accounts", ListAccounts},
    {"GET", kAccounting, "account/*", ListAccounts},
    {"GET", kAccounting, "associations", ListAssociations},
    {"GET", kAccounting, "qos", ListQosOf},
    {"GET", kAccounting, "qos/*", ListQosOf},
    {"GET", kAccounting, "users", ListUsers},
    {"GET", kAccounting, "user/*", ListUsers},
};

// Whether the path is it, and what stands for "*". A "/" at the end is left out, as clients add it.
bool Matches(const Path& path, const std::string& asked, std::string& name) {
  if (!absl::StartsWith(asked, path.before)) {
    return false;
  }
  std::string rest = asked.substr(std::string(path.before).size());
  if (absl::EndsWith(rest, "/")) {
    rest.pop_back();
  }
  const std::string wanted = path.path;
  if (!absl::EndsWith(wanted, "*")) {
    return rest == wanted;
  }
  const std::string before = wanted.substr(0, wanted.size() - 1);
  name = absl::StartsWith(rest, before) ? rest.substr(before.size()) : "";
  return !name.empty() && name.find('/') == std::string::npos;
}

absl::StatusOr<std::pair<const Path*, std::string>> FindSlurmPath(const http::Request& head) {
  std::string allowed;
  for (const Path& path : kPaths) {
    std::string name;
    if (!Matches(path, head.path, name)) {
      continue;
    }
    if (head.method == path.method) {
      return std::pair(&path, name);
    }
    absl::StrAppend(&allowed, allowed.empty() ? "" : ", ", path.method);
    if (name.empty()) {
      break;  // "job/submit" is no job
    }
  }
  return allowed.empty()
             ? absl::StatusOr<std::pair<const Path*, std::string>>(absl::NotFoundError(
                   absl::StrCat(head.path, ": nothing is there of slurmrestd's v0.0.40")))
             : absl::FailedPreconditionError(allowed);
}

}  // namespace

bool IsSlurmPath(const std::string& path) {
  return absl::StartsWith(path, "/slurm/") || absl::StartsWith(path, "/slurmdb/");
}

absl::Status CheckSlurmPath(const http::Request& head) {
  return FindSlurmPath(head).status();
}

absl::StatusOr<SlurmCall> ReadSlurmCall(const http::Request& request) {
  ASSIGN_OR_RETURN(const auto found, FindSlurmPath(request));
  return found.first->make(request, found.second);
}

}  // namespace muster::daemon::slurm
