#include "cli/slurm/control/scontrol_change.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "cli/parse/begin_time.h"
#include "cli/parse/selector.h"
#include "cli/request/job_changes.h"
#include "cli/slurm/control/job_update_words.h"
#include "cli/slurm/control/key_values.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/people.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

using JobChange =
    std::function<absl::StatusOr<ChangeOutcome>(Connection&, const std::vector<JobSelector>&)>;

// What Slurm says of a refusal that is a line of ours.
std::string Refusal(const std::string& line) {
  if (absl::StrContains(line, "no such job")) {
    return "Invalid job id specified";
  }
  if (absl::StrContains(line, "has started")) {
    return "Job is no longer pending execution";
  }
  if (absl::StrContains(line, "may not") || absl::StrContains(line, "only ")) {
    return "Access/permission denied";
  }
  const std::string text = SlurmText(absl::UnknownError(line));
  const std::size_t colon = text.find(": ");
  return text != line || colon == std::string::npos ? text : text.substr(colon + 2);
}

// The ids that a word names: "7,8_3", or "name=train" of the caller's own live jobs.
absl::StatusOr<std::vector<std::string>> IdsIn(Connection& connection, const std::string& word) {
  const std::size_t equals = word.find('=');
  const std::string key = absl::AsciiStrToLower(word.substr(0, equals));
  if (equals == std::string::npos || (key != "name" && key != "jobname")) {
    return SplitCommas(word);
  }
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs, connection.Call(ListJobs{}));
  std::vector<std::string> ids;
  for (const JobView& job : jobs) {
    if (job.uid == getuid() && job.name == word.substr(equals + 1)) {
      ids.push_back(job.label);
    }
  }
  return ids.empty() ? std::vector{word.substr(equals + 1)} : ids;
}

// Changes the job of that id alone; empty, or what Slurm says of the refusal.
std::string ChangeOne(Connection& connection, const std::string& id, const JobChange& change) {
  const absl::StatusOr<JobSelector> job = ParseSelector(id);
  if (!job.ok()) {
    return "Invalid job id specified";
  }
  const absl::StatusOr<ChangeOutcome> outcome = change(connection, {*job});
  return !outcome.ok()             ? SlurmText(outcome.status())
         : outcome->errors.empty() ? ""
                                   : Refusal(outcome->errors.front());
}

// Every job of the words, in one request each: so each refusal has its job.
int ChangeJobs(const ControlCall& call, const std::vector<std::string>& words,
               const JobChange& change) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  if (!connection.ok()) {
    return FailPlainly(call.call, SlurmText(connection.status()));
  }
  int code = 0;
  for (const std::string& word : words) {
    const absl::StatusOr<std::vector<std::string>> ids = IdsIn(**connection, word);
    if (!ids.ok()) {
      return FailPlainly(call.call, SlurmText(ids.status()));
    }
    for (const std::string& id : *ids) {
      const std::string refusal = ChangeOne(**connection, id, change);
      if (!refusal.empty()) {
        code = FailPlainly(call.call, absl::StrCat(refusal, " for job ", id));
      }
    }
  }
  return code;
}

// The limit that is longer or shorter than the job's: "+30".
absl::StatusOr<Duration> MovedLimit(const JobView& job, const std::string& by) {
  const absl::StatusOr<Duration> difference = ParseTimeLimit(by.substr(1));
  if (!difference.ok() || (by[0] == '-' && job.time_limit <= *difference)) {
    return absl::InvalidArgumentError("Invalid TimeLimit value");
  }
  return by[0] == '+' ? job.time_limit + *difference : job.time_limit - *difference;
}

// The limit with which the running job ends then.
absl::StatusOr<Duration> LimitUntil(const JobView& job, const std::string& text,
                                    const RecordScene& scene) {
  const absl::StatusOr<Time> end = ParseBegin(text, scene.now, scene.clock.zone());
  if (!end.ok() || *end <= scene.now) {
    return absl::InvalidArgumentError("Invalid time specified");
  }
  if (job.start_time == kNoTime || IsTerminal(job.state)) {
    return absl::FailedPreconditionError("Job is not running");
  }
  return *end - job.start_time - job.suspended;
}

absl::Status TakeLimit(Connection& connection, const std::vector<JobSelector>& jobs,
                       const JobUpdateWords& words, const RecordScene& scene, JobUpdate& changes) {
  ASSIGN_OR_RETURN(const std::vector<JobDetail> details,
                   connection.Call(ShowJob{ById(jobs.front())}));
  const JobView& job = details.front().job;
  ASSIGN_OR_RETURN(changes.time_limit, words.end.empty() ? MovedLimit(job, words.moved_limit)
                                                         : LimitUntil(job, words.end, scene));
  return absl::OkStatus();
}

// NumCPUs: that many over the tasks that the job has.
absl::Status TakeCpus(Connection& connection, const std::vector<JobSelector>& jobs,
                      const std::string& text, JobUpdate& changes) {
  std::uint64_t cpus = 0;
  ASSIGN_OR_RETURN(const std::vector<JobDetail> details,
                   connection.Call(ShowJob{ById(jobs.front())}));
  const std::uint64_t tasks = std::max(details.front().job.tasks, 1U);
  if (!absl::SimpleAtoi(text.substr(0, text.find('-')), &cpus) || cpus == 0 || cpus > UINT32_MAX ||
      cpus % tasks != 0) {
    return absl::FailedPreconditionError("Requested node configuration is not available");
  }
  if (!changes.asked.has_value()) {
    changes.asked.emplace();
  }
  changes.options.emplace_back("cpus-per-task");
  changes.asked->request.cpus_per_task = static_cast<std::uint32_t>(cpus / tasks);
  return absl::OkStatus();
}

absl::StatusOr<ChangeOutcome> Change(Connection& connection, const std::vector<JobSelector>& jobs,
                                     const JobUpdateWords& words, const RecordScene& scene,
                                     JobUpdate changes) {
  if (!words.cpus.empty()) {
    RETURN_IF_ERROR(TakeCpus(connection, jobs, words.cpus, changes));
  }
  if (changes.asked.has_value()) {
    std::vector<std::string> names = changes.asked->request.nodelist;
    const std::vector<std::string>& without = changes.asked->request.exclude;
    names.insert(names.end(), without.begin(), without.end());
    RETURN_IF_ERROR(CheckNodes(connection, names));
  }
  if (!words.moved_limit.empty() || !words.end.empty()) {
    RETURN_IF_ERROR(TakeLimit(connection, jobs, words, scene, changes));
  }
  ChangeOutcome outcome;
  if (changes != JobUpdate()) {
    ASSIGN_OR_RETURN(outcome, connection.Call(ForJobs<muster::UpdateJob>{
                                  {.changes = changes, .force = false}, jobs}));
  }
  if (words.held.has_value() && outcome.errors.empty()) {
    ASSIGN_OR_RETURN(ChangeOutcome held,
                     connection.Call(ForJobs<HoldJob>{{.held = *words.held}, jobs}));
    // A job that is not held has nothing to be let go of.
    outcome = *words.held ? std::move(held) : std::move(outcome);
  }
  return outcome;
}

int UpdateJob(const ControlCall& call, const KeyValues& pairs) {
  const absl::StatusOr<JobUpdateWords> words = ReadJobUpdateWords(pairs);
  absl::StatusOr<JobUpdate> changes = JobUpdate();
  if (words.ok() && !words->values.empty()) {
    changes =
        ReadJobChanges(words->values, {.now = call.scene.now, .zone = call.scene.clock.zone()});
    if (!changes.ok()) {
      changes = absl::InvalidArgumentError(
          words->values.contains("time")
              ? "scontrol: error: Invalid TimeLimit value"
              : absl::StrCat("scontrol: error: ", std::string(changes.status().message())));
    }
  }
  if (!words.ok() || !changes.ok()) {
    return FailLines(call.call,
                     std::string((words.ok() ? changes.status() : words.status()).message()));
  }
  return ChangeJobs(call, {ValueOf(pairs, "jobid")},
                    [&](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return Change(connection, jobs, *words, call.scene, *changes);
                    });
}

int RefuseUpdate(const ControlCall& call, const absl::Status& status) {
  return FailPlainly(
      call.call,
      absl::StrCat("slurm_update error: ",
                   absl::IsNotFound(status) ? "Invalid node name specified" : SlurmText(status)));
}

// "n[1-3]", "ALL"; with `drained` those that are drained alone, whose reason can be another.
absl::StatusOr<std::vector<std::string>> NodesNamed(Connection& connection, const std::string& list,
                                                    bool drained) {
  std::vector<std::string> wanted;
  if (const bool all = absl::EqualsIgnoreCase(list, "all"); !all) {
    const absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(list);
    if (!names.ok() || names->empty()) {
      return absl::NotFoundError("");
    }
    wanted = *names;
    if (!drained) {
      return wanted;
    }
  }
  ASSIGN_OR_RETURN(const NodeList nodes,
                   connection.Call(ListNodes{wanted, /*with_machine=*/false}));
  std::vector<std::string> names;
  for (const NodeView& node : nodes.nodes) {
    if (!drained || absl::EndsWith(node.state, "+DRAIN")) {
      names.push_back(node.name);
    }
  }
  return names;
}

// Each of the nodes; what was refused of one is told, and the others go on.
int RebootEach(const ControlCall& call, RebootNode order, const std::string& list) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  const absl::StatusOr<std::vector<std::string>> names =
      connection.ok() ? NodesNamed(**connection, list, false)
                      : absl::StatusOr<std::vector<std::string>>(connection.status());
  const auto refuse = [&call](const absl::Status& status) {
    return FailPlainly(
        call.call, absl::StrCat("slurm_reboot_nodes error: ",
                                absl::IsNotFound(status)             ? "Invalid node name specified"
                                : absl::IsFailedPrecondition(status) ? std::string(status.message())
                                                                     : SlurmText(status)));
  };
  if (!names.ok()) {
    return refuse(names.status());
  }
  int code = 0;
  for (const std::string& name : *names) {
    order.name = name;
    if (const auto done = (*connection)->Call(order); !done.ok()) {
      code = refuse(done.status());
    }
  }
  return code;
}

int UpdateNodes(const ControlCall& call, const KeyValues& pairs) {
  const std::string state = absl::AsciiStrToUpper(ValueOf(pairs, "state"));
  const std::string reason = ValueOf(pairs, "reason");
  const bool drains = state == "DRAIN" || state == "DOWN" || state == "FAIL";
  const bool returns = state == "RESUME" || state == "UNDRAIN" || state == "IDLE";
  for (const auto& [key, value, name] : pairs) {
    if (key != "nodename" && key != "state" && key != "reason") {
      return FailPlainly(
          call.call, absl::StrCat("Update of this parameter is not supported: ", name, "=", value));
    }
  }
  const bool renames = state.empty() && HasKey(pairs, "reason");
  if (!drains && !returns && !renames) {
    return FailPlainly(call.call, absl::StrCat("Invalid input: State=", ValueOf(pairs, "state")));
  }
  if (drains && reason.empty()) {
    return FailPlainly(call.call,
                       "You must specify a reason when DOWNING or DRAINING a node. Request denied");
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  if (!connection.ok()) {
    return RefuseUpdate(call, connection.status());
  }
  const absl::StatusOr<std::vector<std::string>> names =
      NodesNamed(**connection, ValueOf(pairs, "nodename"), renames);
  if (!names.ok()) {
    return RefuseUpdate(call, names.status());
  }
  for (const std::string& name : *names) {
    if (const absl::Status done = (*connection)->Call(DrainNode{name, drains || renames, reason});
        !done.ok()) {
      return RefuseUpdate(call, done);
    }
  }
  return 0;
}

// Nodes that are gone for good.
int DeleteNodes(const ControlCall& call, const std::string& list) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  if (!connection.ok()) {
    return RefuseUpdate(call, connection.status());
  }
  const absl::StatusOr<std::vector<std::string>> names =
      NodesNamed(**connection, list, /*drained=*/false);
  if (!names.ok()) {
    return RefuseUpdate(call, names.status());
  }
  for (const std::string& name : *names) {
    if (const absl::Status done = (*connection)->Call(ForgetNode{name}); !done.ok()) {
      return RefuseUpdate(call, done);
    }
  }
  return 0;
}

// A time of a reservation as people write one is UTC from here on.
std::string Moment(const KeyValue& pair, const RecordScene& scene) {
  if ((pair.key != "starttime" && pair.key != "endtime") || ParseMoment(pair.value).ok()) {
    return pair.value;
  }
  const absl::StatusOr<Time> moment = ParseBegin(pair.value, scene.now, scene.clock.zone());
  return moment.ok() ? muster::MomentText(*moment) : pair.value;
}

// Of a reservation that nobody named: "ada_1", or the next that is free.
absl::StatusOr<std::string> FreeName(Connection& connection) {
  ASSIGN_OR_RETURN(const std::vector<PolicyView> there,
                   connection.Call(ListPolicy{{PolicyKind::kReservation}}));
  const std::string user = UserName(getuid());
  for (std::size_t number = 1;; ++number) {
    std::string name = absl::StrCat(user, "_", number);
    if (std::none_of(there.begin(), there.end(),
                     [&name](const PolicyView& one) { return one.name == name; })) {
      return name;
    }
  }
}

// A partition or a reservation, whose words Muster's policy has, too.
int ChangeObject(const ControlCall& call, PolicyVerb verb, PolicyKind kind,
                 const KeyValues& pairs) {
  std::string name;
  std::vector<Assignment> assignments;
  for (const KeyValue& pair : pairs) {
    if (pair.key == "partitionname" || pair.key == "partition" || pair.key == "reservationname" ||
        pair.key == "reservation") {
      name = pair.value;
    } else {
      assignments.push_back({pair.name, Moment(pair, call.scene)});
    }
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  if (name.empty() && connection.ok() && kind == PolicyKind::kReservation &&
      verb == PolicyVerb::kAdd) {
    const absl::StatusOr<std::string> free = FreeName(**connection);
    name = free.ok() ? *free : "";
  }
  const absl::Status done = connection.ok()
                                ? (*connection)->Call(ChangePolicy{verb, kind, name, assignments})
                                : connection.status();
  if (done.ok()) {
    if (verb == PolicyVerb::kAdd && kind == PolicyKind::kReservation) {
      call.call.out << "Reservation created: " << name << "\n" << std::flush;
    }
    return 0;
  }
  const bool partition = kind == PolicyKind::kPartition;
  const std::string text = !absl::IsNotFound(done) ? SlurmText(done)
                           : partition             ? "Invalid partition name specified"
                                                   : "Requested reservation is invalid";
  return FailPlainly(call.call, absl::StrCat("slurm_update error: ", text));
}

// Takes so much from the job's nice value that it comes before its user's other waiting jobs.
absl::StatusOr<ChangeOutcome> PutFirst(Connection& connection,
                                       const std::vector<JobSelector>& jobs) {
  ASSIGN_OR_RETURN(const std::vector<JobDetail> details,
                   connection.Call(ShowJob{ById(jobs.front())}));
  const JobView& job = details.front().job;
  JobFilter filter;
  filter.states = {Name(JobState::kPending)};
  filter.user = job.user;
  ASSIGN_OR_RETURN(const std::vector<JobView> others, connection.Call(ListJobs{filter}));
  std::int64_t nice = job.nice;
  for (const JobView& other : others) {
    if (other.array_job_id != job.array_job_id) {
      const std::int64_t ahead = std::int64_t{other.priority} - std::int64_t{job.priority};
      nice = std::min(nice, (ahead == 0 ? other.nice : job.nice - ahead) - 1);
    }
  }
  if (!IsWaiting(job.state)) {
    return absl::FailedPreconditionError("Job is no longer pending execution");
  }
  JobUpdate changes;
  changes.nice = static_cast<std::int32_t>(
      std::max(nice, std::int64_t{std::numeric_limits<std::int32_t>::min()}));
  return connection.Call(ForJobs<muster::UpdateJob>{{.changes = changes, .force = false}, jobs});
}

}  // namespace

int HoldJobs(const ControlCall& call) {
  return ChangeJobs(call, call.words,
                    [](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return connection.Call(ForJobs<HoldJob>{{.held = true}, jobs});
                    });
}

int ReleaseJobs(const ControlCall& call) {
  return ChangeJobs(call, call.words,
                    [](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return connection.Call(ForJobs<HoldJob>{{.held = false}, jobs});
                    });
}

int RequeueJobs(const ControlCall& call) {
  return ChangeJobs(call, call.words,
                    [](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return connection.Call(ForJobs<RequeueJob>{{}, jobs});
                    });
}

int RequeueHoldJobs(const ControlCall& call) {
  const int code = RequeueJobs(call);
  return code == 0 ? HoldJobs(call) : code;
}

int TopJobs(const ControlCall& call) {
  return ChangeJobs(call, call.words,
                    [](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return PutFirst(connection, jobs);
                    });
}

// "[ASAP] [nextstate=RESUME|DOWN] [reason=TEXT] LIST".
int RebootNodes(const ControlCall& call) {
  RebootNode order;
  std::string list;
  for (const std::string& word : call.words) {
    const std::string lower = absl::AsciiStrToLower(word);
    if (lower == "asap") {
      order.drain = true;
    } else if (lower == "nextstate=down") {
      order.keep_drained = true;
    } else if (absl::StartsWith(lower, "reason=")) {
      order.reason = word.substr(word.find('=') + 1);
    } else if (absl::StartsWith(lower, "nextstate=") && lower != "nextstate=resume") {
      return FailPlainly(call.call, absl::StrCat("Invalid nextstate: ", word));
    } else if (!absl::StartsWith(lower, "nextstate=")) {
      list = word;
    }
  }
  order.drain = order.drain || order.keep_drained;
  return RebootEach(call, order, list);
}

int CancelReboot(const ControlCall& call) {
  RebootNode order;
  order.cancel = true;
  return RebootEach(call, order, call.words.front());
}

int SuspendJobs(const ControlCall& call) {
  return ChangeJobs(call, call.words,
                    [](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return connection.Call(ForJobs<SuspendJob>{{.suspended = true}, jobs});
                    });
}

int ResumeJobs(const ControlCall& call) {
  return ChangeJobs(call, call.words,
                    [](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return connection.Call(ForJobs<SuspendJob>{{.suspended = false}, jobs});
                    });
}

int UpdateEntity(const ControlCall& call) {
  const absl::StatusOr<KeyValues> pairs = ReadKeyValues(call.words);
  if (!pairs.ok()) {
    return FailPlainly(call.call, std::string(pairs.status().message()));
  }
  if (HasKey(*pairs, "jobid")) {
    return UpdateJob(call, *pairs);
  }
  if (HasKey(*pairs, "nodename")) {
    return UpdateNodes(call, *pairs);
  }
  if (HasKey(*pairs, "partitionname")) {
    return ChangeObject(call, PolicyVerb::kSet, PolicyKind::kPartition, *pairs);
  }
  if (HasKey(*pairs, "reservationname")) {
    return ChangeObject(call, PolicyVerb::kSet, PolicyKind::kReservation, *pairs);
  }
  return FailPlainly(call.call,
                     "No valid entity in update command: the line must include JobId, NodeName, "
                     "PartitionName or ReservationName");
}

int CreateEntity(const ControlCall& call) {
  std::vector<std::string> words = call.words;
  const std::string first = absl::AsciiStrToLower(words.front());
  if (first == "reservation" || first == "partition") {
    words.erase(words.begin());
  }
  const absl::StatusOr<KeyValues> pairs = ReadKeyValues(words);
  if (!pairs.ok() || pairs->empty()) {
    return FailPlainly(
        call.call,
        absl::StrCat("scontrol: error: Invalid input: ", call.words.front(), "  Request aborted"));
  }
  const bool partition = HasKey(*pairs, "partitionname") || first == "partition";
  return ChangeObject(call, PolicyVerb::kAdd,
                      partition ? PolicyKind::kPartition : PolicyKind::kReservation, *pairs);
}

int DeleteEntity(const ControlCall& call) {
  const absl::StatusOr<KeyValues> pairs = ReadKeyValues(call.words);
  if (!pairs.ok() || pairs->empty()) {
    return FailPlainly(call.call, "No valid entity in delete command");
  }
  if (HasKey(*pairs, "nodename")) {
    return DeleteNodes(call, ValueOf(*pairs, "nodename"));
  }
  const bool partition = HasKey(*pairs, "partitionname") || HasKey(*pairs, "partition");
  return ChangeObject(call, PolicyVerb::kDelete,
                      partition ? PolicyKind::kPartition : PolicyKind::kReservation, *pairs);
}

}  // namespace muster::cli::slurm
