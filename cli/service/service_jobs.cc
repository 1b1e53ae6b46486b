#include "cli/service/service_jobs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/controller/query/newest_job.h"
#include "cli/jobs/submit/resubmission.h"
#include "cli/parse/selector.h"
#include "cli/request/request.h"
#include "cli/service/service_script.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

constexpr const char* kComment = "replica of service ";

// As which further ones are submitted: the newest that is not on its way out.
JobId NewestArray(const std::vector<ServiceReplica>& replicas) {
  for (auto each = replicas.rbegin(); each != replicas.rend(); ++each) {
    if (!each->leaves()) {
      return each->job.job;
    }
  }
  return replicas.back().job.job;
}

absl::StatusOr<JobId> AddReplicas(Connection& connection, const Environment& environment,
                                  const std::string& service, const std::string& script,
                                  std::uint32_t count) {
  ASSIGN_OR_RETURN(const std::vector<ServiceReplica> replicas, ReplicasOf(connection, service));
  ASSIGN_OR_RETURN(const Submission before, connection.Call(ReadSubmission{NewestArray(replicas)}));
  ASSIGN_OR_RETURN(JobRequest request, RequestAgain(before, {}, SystemClock().Now()));
  if (!script.empty()) {
    ASSIGN_OR_RETURN(request.program.script, WithUserScript(request.program.script, script));
  }
  request.spec.array = ArraySpec{.ranges = {ArrayRange{0, count - 1, 1}}};
  RETURN_IF_ERROR(CompleteRequest(
      {.environment = environment, .local = false, .new_job = true, .fallback = service},
      &request));
  ASSIGN_OR_RETURN(const std::string token, MakeToken());
  ASSIGN_OR_RETURN(const Submitted submitted,
                   connection.Call(SubmitJob{token, request.spec, request.program, {}, {}}));
  return submitted.job;
}

absl::Status SayLeaving(Connection& connection, const std::vector<ServiceReplica>& replicas) {
  for (const ServiceReplica& replica : replicas) {
    ReplicaNote note = replica.note;
    note.state = kReplicaLeaving;
    RETURN_IF_ERROR(
        connection.Call(NoteJob{replica.job, {{.name = kReplicaNote, .text = NoteText(note)}}}));
  }
  return absl::OkStatus();
}

// Whether one of them lives and is not about to end.
absl::StatusOr<bool> AnyGoesOn(Connection& connection,
                               const std::vector<ServiceReplica>& replicas) {
  ASSIGN_OR_RETURN(const std::vector<ServiceReplica> now,
                   FindReplicas(connection, replicas.front().service));
  return std::any_of(now.begin(), now.end(), [&replicas](const ServiceReplica& each) {
    return each.job_state != Name(JobState::kCompleting) &&
           std::any_of(replicas.begin(), replicas.end(),
                       [&each](const ServiceReplica& replica) { return replica.id == each.id; });
  });
}

// What has ended meanwhile needs no cancelling, and is no error.
absl::Status CancelReplicas(Connection& connection, const std::vector<ServiceReplica>& replicas) {
  CancelJobs cancel;
  for (const ServiceReplica& replica : replicas) {
    cancel.jobs.push_back(replica.job);
  }
  ASSIGN_OR_RETURN(const ChangeOutcome outcome, connection.Call(cancel));
  if (outcome.errors.empty()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const bool goes_on, AnyGoesOn(connection, replicas));
  return goes_on ? absl::FailedPreconditionError(outcome.errors.front()) : absl::OkStatus();
}

}  // namespace

std::string ReplicaComment(const std::string& service) {
  return absl::StrCat(kComment, service);
}

std::string ServiceOf(const std::string& comment) {
  return absl::StartsWith(comment, kComment) ? comment.substr(std::string(kComment).size()) : "";
}

ServiceReplica ReplicaOf(const JobView& job, const std::vector<JobNote>& notes) {
  ServiceReplica replica;
  replica.service = ServiceOf(job.comment);
  replica.label = job.label;
  replica.id = job.id;
  const absl::StatusOr<JobSelector> named = ParseSelector(job.label);
  replica.job = named.ok() ? *named : JobSelector{.job = job.id};
  replica.job_state = job.state;
  replica.reason = job.reason.text;
  replica.nodes = job.nodes;
  for (const JobNote& note : notes) {
    const std::optional<ReplicaNote> said =
        note.name == kReplicaNote ? ReadNote(note.text) : std::nullopt;
    if (said.has_value() && said->restarts == job.restarts && job.state == "RUNNING") {
      replica.note = *said;
    }
  }
  return replica;
}

absl::StatusOr<std::vector<ServiceReplica>> FindReplicas(Connection& connection,
                                                         const std::string& service) {
  ListJobs question;
  question.user = OwnUserName();
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs, connection.Call(question));
  std::map<JobId, JobView> ours;
  std::set<JobId> arrays;
  for (const JobView& job : jobs) {
    const std::string of = ServiceOf(job.comment);
    if (!of.empty() && (service.empty() || of == service) && !IsTerminal(job.state)) {
      ours.emplace(job.id, job);
      arrays.insert(job.array_job_id.valid() ? job.array_job_id : job.id);
    }
  }
  std::map<JobId, std::vector<JobNote>> notes;
  for (const JobId array : arrays) {
    ASSIGN_OR_RETURN(const std::vector<JobDetail> details,
                     connection.Call(ShowJob{.job = {.job = array}, .ranks_limit = 1}));
    for (const JobDetail& detail : details) {
      notes[detail.job.id] = detail.notes;
    }
  }
  std::vector<ServiceReplica> replicas;
  for (const auto& [id, job] : ours) {
    replicas.push_back(ReplicaOf(job, notes[id]));
  }
  return replicas;
}

absl::StatusOr<std::vector<ServiceReplica>> ReplicasOf(Connection& connection,
                                                       const std::string& service) {
  ASSIGN_OR_RETURN(std::vector<ServiceReplica> replicas, FindReplicas(connection, service));
  if (replicas.empty()) {
    return absl::NotFoundError(
        absl::StrCat(Quote(service), ": no such service runs; muster service list names them"));
  }
  return replicas;
}

ServiceCalls CallsOfService(Connection& connection, const Environment& environment,
                            const std::string& service, const std::string& script) {
  return {
      .find = [&connection, &service] { return FindReplicas(connection, service); },
      .add =
          [&](std::uint32_t count) {
            return AddReplicas(connection, environment, service, script, count);
          },
      .leave =
          [&connection](const std::vector<ServiceReplica>& replicas) {
            return SayLeaving(connection, replicas);
          },
      .cancel =
          [&connection](const std::vector<ServiceReplica>& replicas) {
            return CancelReplicas(connection, replicas);
          },
      .wait = [](Duration time) { std::this_thread::sleep_for(time); },
  };
}

}  // namespace muster::cli
