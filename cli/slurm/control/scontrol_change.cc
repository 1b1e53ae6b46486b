#include "cli/slurm/control/scontrol_change.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/parse/selector.h"
#include "cli/request/job_options.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/host_list.h"

namespace muster::slurm {
namespace {

using JobChange =
    std::function<absl::StatusOr<ChangeOutcome>(Connection&, const std::vector<JobSelector>&)>;

// What Slurm says of a refusal that is a line of ours.
std::string Refusal(const std::string& line) {
  if (absl::StrContains(line, "no such job")) {
    return "Invalid job id specified";
  }
  if (absl::StrContains(line, "may not") || absl::StrContains(line, "only ")) {
    return "Access/permission denied";
  }
  const std::size_t colon = line.find(": ");
  return colon == std::string::npos ? line : line.substr(colon + 2);
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
    for (const std::string& id : SplitCommas(word)) {
      const absl::StatusOr<JobSelector> job = ParseSelector(id);
      std::string refusal = job.ok() ? "" : "Invalid job id specified";
      if (job.ok()) {
        const absl::StatusOr<ChangeOutcome> outcome = change(**connection, {*job});
        refusal = !outcome.ok()             ? SlurmText(outcome.status())
                  : outcome->errors.empty() ? ""
                                            : Refusal(outcome->errors.front());
      }
      if (!refusal.empty()) {
        code = FailPlainly(call.call, absl::StrCat(refusal, " for job ", id));
      }
    }
  }
  return code;
}

// A word "KEY=VALUE".
struct Pair {
  std::string key;  // in lower case
  std::string value;
  std::string name;  // the key as it was written
};
using Pairs = std::vector<Pair>;

absl::StatusOr<Pairs> ReadPairs(const std::vector<std::string>& words) {
  Pairs pairs;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    const std::string key = absl::AsciiStrToLower(words[i].substr(0, equals));
    if (equals == std::string::npos && i == 0 && i + 1 < words.size() && key == "job") {
      pairs.push_back({"jobid", words[++i], "JobId"});
    } else if (equals == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("scontrol: error: Invalid input: ", words[i], "  Request aborted"));
    } else {
      pairs.push_back({key, words[i].substr(equals + 1), words[i].substr(0, equals)});
    }
  }
  return pairs;
}

std::string ValueOf(const Pairs& pairs, const std::string& key) {
  const auto found = std::find_if(pairs.begin(), pairs.end(),
                                  [&key](const Pair& pair) { return pair.key == key; });
  return found == pairs.end() ? "" : found->value;
}

bool HasKey(const Pairs& pairs, const std::string& key) {
  return std::any_of(pairs.begin(), pairs.end(),
                     [&key](const Pair& pair) { return pair.key == key; });
}

// The option of `muster update` that changes what `key` does; null when there is none.
const char* OptionOf(const std::string& key) {
  constexpr const char* kOptions[][2] = {{"timelimit", "time"},    {"jobname", "job-name"},
                                         {"name", "job-name"},     {"comment", "comment"},
                                         {"nice", "nice"},         {"starttime", "begin"},
                                         {"begintime", "begin"},   {"eligibletime", "begin"},
                                         {"deadline", "deadline"}, {"dependency", "dependency"}};
  for (const auto& option : kOptions) {
    if (key == option[0]) {
      return option[1];
    }
  }
  return nullptr;
}

absl::StatusOr<JobUpdate> ReadJobUpdate(const Pairs& pairs, const RecordScene& scene) {
  std::map<std::string, std::string> values;
  for (const auto& [key, value, name] : pairs) {
    if (key == "jobid") {
      continue;
    }
    const char* option = OptionOf(key);
    if (option == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Update of this parameter is not supported: ", name, "=", value, "\nRequest aborted"));
    }
    values[option] = value;
  }
  const bool frees = values.contains("dependency") && values["dependency"].empty();
  if (frees) {
    values.erase("dependency");
  }
  absl::StatusOr<JobRequest> request =
      ReadJobOptions(values, {}, JobVerb::kSubmit, {.now = scene.now, .zone = scene.clock.zone()});
  if (!request.ok()) {
    return absl::InvalidArgumentError(
        values.contains("time") ? "scontrol: error: Invalid TimeLimit value"
                                : absl::StrCat("scontrol: error: ", request.status().message()));
  }
  JobUpdate changes;
  const auto set = [&values](const char* option, auto& change, auto& value) {
    if (values.contains(option)) {
      change = std::move(value);
    }
  };
  set("job-name", changes.name, request->spec.name);
  set("comment", changes.comment, request->spec.comment);
  set("time", changes.time_limit, request->spec.time_limit);
  set("nice", changes.nice, request->spec.nice);
  set("begin", changes.begin, request->spec.begin);
  set("deadline", changes.deadline, request->spec.deadline);
  set("dependency", changes.dependency, request->spec.dependency);
  if (frees) {
    changes.dependency = Dependency();
  }
  return changes;
}

int UpdateJob(const ControlCall& call, const Pairs& pairs) {
  const absl::StatusOr<JobUpdate> changes = ReadJobUpdate(pairs, call.scene);
  if (!changes.ok()) {
    call.call.err << std::string(changes.status().message()) << "\n";
    return 1;
  }
  return ChangeJobs(call, {ValueOf(pairs, "jobid")},
                    [&changes](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return connection.Update(jobs, *changes, /*force=*/false);
                    });
}

int RefuseUpdate(const ControlCall& call, const absl::Status& status) {
  return FailPlainly(
      call.call,
      absl::StrCat("slurm_update error: ",
                   absl::IsNotFound(status) ? "Invalid node name specified" : SlurmText(status)));
}

int UpdateNodes(const ControlCall& call, const Pairs& pairs) {
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
  if (!drains && !returns) {
    return FailPlainly(call.call, absl::StrCat("Invalid input: State=", ValueOf(pairs, "state")));
  }
  if (drains && reason.empty()) {
    return FailPlainly(call.call,
                       "You must specify a reason when DOWNING or DRAINING a node. Request denied");
  }
  const absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(ValueOf(pairs, "nodename"));
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  if (!names.ok() || !connection.ok()) {
    return RefuseUpdate(call, names.ok() ? connection.status() : absl::NotFoundError(""));
  }
  for (const std::string& name : *names) {
    if (const absl::Status done = (*connection)->Drain(name, drains, reason); !done.ok()) {
      return RefuseUpdate(call, done);
    }
  }
  return 0;
}

// A partition or a reservation, whose words Muster's policy has, too.
int ChangeObject(const ControlCall& call, PolicyVerb verb, PolicyKind kind, const Pairs& pairs) {
  std::string name;
  std::vector<Assignment> assignments;
  for (const Pair& pair : pairs) {
    if (pair.key == "partitionname" || pair.key == "partition" || pair.key == "reservationname" ||
        pair.key == "reservation") {
      name = pair.value;
    } else {
      assignments.push_back({pair.name, pair.value});
    }
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  const absl::Status done = connection.ok()
                                ? (*connection)->ChangePolicy(verb, kind, name, assignments)
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

}  // namespace

int HoldJobs(const ControlCall& call) {
  return ChangeJobs(call, call.words,
                    [](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return connection.Hold(jobs, true);
                    });
}

int ReleaseJobs(const ControlCall& call) {
  return ChangeJobs(call, call.words,
                    [](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return connection.Hold(jobs, false);
                    });
}

int RequeueJobs(const ControlCall& call) {
  return ChangeJobs(call, call.words,
                    [](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return connection.Requeue(jobs);
                    });
}

int RequeueHoldJobs(const ControlCall& call) {
  const int code = RequeueJobs(call);
  return code == 0 ? HoldJobs(call) : code;
}

int SuspendJobs(const ControlCall& call) {
  return ChangeJobs(call, call.words,
                    [](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return connection.Suspend(jobs, true);
                    });
}

int ResumeJobs(const ControlCall& call) {
  return ChangeJobs(call, call.words,
                    [](Connection& connection, const std::vector<JobSelector>& jobs) {
                      return connection.Suspend(jobs, false);
                    });
}

int UpdateEntity(const ControlCall& call) {
  const absl::StatusOr<Pairs> pairs = ReadPairs(call.words);
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
  const absl::StatusOr<Pairs> pairs = ReadPairs(words);
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
  const absl::StatusOr<Pairs> pairs = ReadPairs(call.words);
  if (!pairs.ok() || pairs->empty()) {
    return FailPlainly(call.call, "No valid entity in delete command");
  }
  const bool partition = HasKey(*pairs, "partitionname") || HasKey(*pairs, "partition");
  return ChangeObject(call, PolicyVerb::kDelete,
                      partition ? PolicyKind::kPartition : PolicyKind::kReservation, *pairs);
}

}  // namespace muster::slurm
