#include "cli/service/service_calls.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/controller/query/newest_job.h"
#include "cli/jobs/submit/resubmission.h"
#include "cli/request/request.h"
#include "cli/service/replica/replica_note.h"
#include "cli/service/service_jobs.h"
#include "cli/service/service_script.h"
#include "cli/service/terms/reported_load.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

// Of a service without a live job, how long ago the last one may have ended.
constexpr Duration kEndedMost = std::chrono::hours(24);
constexpr const char* kCommentNote = "Comment";

// As which further ones are submitted: the newest that is not on its way out.
JobId NewestArray(const std::vector<ServiceReplica>& replicas) {
  for (auto each = replicas.rbegin(); each != replicas.rend(); ++each) {
    if (!each->leaves()) {
      return each->job.job;
    }
  }
  return replicas.back().job.job;
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

// What each replica that takes work reported, of those that did.
absl::StatusOr<std::vector<double>> ReportedBy(Connection& connection,
                                               const std::vector<ServiceReplica>& replicas,
                                               const ScaleRule& rule, Time now) {
  std::set<JobId> ready;
  std::set<JobId> arrays;
  for (const ServiceReplica& replica : replicas) {
    if (replica.ready()) {
      ready.insert(replica.id);
      arrays.insert(replica.job.job);
    }
  }
  std::vector<double> said;
  for (const JobId array : arrays) {
    const auto curves = connection.Call(ShowCurve{{.job = array}});
    if (absl::IsNotFound(curves.status())) {
      continue;  // it has just begun
    }
    RETURN_IF_ERROR(curves.status());
    for (const JobCurve& curve : *curves) {
      const std::optional<double> load = ReportedLoad(curve, rule.metric, now - rule.window, now);
      if (ready.count(curve.job) != 0 && load.has_value()) {
        said.push_back(*load);
      }
    }
  }
  return said;
}

// What is known of a service, which may have no live job for a while.
class KnownService {
 public:
  KnownService(Connection& connection, const Environment& environment, std::string service,
               std::string script)
      : connection_(connection),
        environment_(environment),
        service_(std::move(service)),
        script_(std::move(script)) {}

  absl::StatusOr<ServiceNow> Find() {
    ServiceNow now;
    ASSIGN_OR_RETURN(now.replicas, FindReplicas(connection_, service_));
    if (!now.replicas.empty()) {
      RETURN_IF_ERROR(TakeSubmission(NewestArray(now.replicas)));
      terms_ = TermsOf(now.replicas);
    } else if (array_.valid()) {
      RETURN_IF_ERROR(ReadEnded());
    } else {
      RETURN_IF_ERROR(FindEnded());
    }
    now.terms = terms_;
    return now;
  }

  absl::Status Ask(ServiceTerms terms) {
    terms.change = terms_.change + 1;
    const std::string comment = ReplicaComment(service_, terms);
    ASSIGN_OR_RETURN(const std::vector<ServiceReplica> replicas,
                     FindReplicas(connection_, service_));
    if (replicas.empty()) {
      RETURN_IF_ERROR(
          connection_.Call(NoteJob{{.job = array_}, {{.name = kCommentNote, .text = comment}}}));
    } else {
      RETURN_IF_ERROR(ChangeComment(replicas, comment));
    }
    terms_ = terms;
    return absl::OkStatus();
  }

  absl::StatusOr<JobId> Add(std::uint32_t count) {
    ASSIGN_OR_RETURN(JobRequest request, RequestAgain(submission_, {}, SystemClock().Now()));
    if (!script_.empty()) {
      ASSIGN_OR_RETURN(request.program.script, WithUserScript(request.program.script, script_));
    }
    request.spec.array = ArraySpec{.ranges = {ArrayRange{0, count - 1, 1}}};
    request.spec.comment = ReplicaComment(service_, terms_);
    RETURN_IF_ERROR(CompleteRequest(
        {.environment = environment_, .local = false, .new_job = true, .fallback = service_},
        &request));
    ASSIGN_OR_RETURN(const std::string token, MakeToken());
    ASSIGN_OR_RETURN(const Submitted submitted,
                     connection_.Call(SubmitJob{token, request.spec, request.program, {}, {}}));
    return submitted.job;
  }

 private:
  // A site may erase scripts when their jobs end: the one that was seen is kept.
  absl::Status TakeSubmission(JobId array) {
    if (array == array_) {
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(Submission submission, connection_.Call(ReadSubmission{array}));
    if (!submission.program.script.empty() || !array_.valid()) {
      submission_ = std::move(submission);
    }
    array_ = array;
    return absl::OkStatus();
  }

  absl::Status ChangeComment(const std::vector<ServiceReplica>& replicas,
                             const std::string& comment) {
    ForJobs<UpdateJob> update;
    update.changes.comment = comment;
    std::set<JobId> arrays;
    for (const ServiceReplica& replica : replicas) {
      if (arrays.insert(replica.job.job).second) {
        update.jobs.push_back({.job = replica.job.job});
      }
    }
    ASSIGN_OR_RETURN(const ChangeOutcome outcome, connection_.Call(update));
    return outcome.changed == 0 && !outcome.errors.empty()
               ? absl::FailedPreconditionError(outcome.errors.front())
               : absl::OkStatus();
  }

  // All that were known have ended: what is asked may have been changed since.
  absl::Status ReadEnded() {
    ASSIGN_OR_RETURN(const std::vector<JobDetail> details,
                     connection_.Call(ShowJob{.job = {.job = array_}, .ranks_limit = 1}));
    for (const JobDetail& detail : details) {
      const std::optional<ServiceTerms> said = TermsIn(detail.job.comment);
      if (said.has_value() && said->change > terms_.change) {
        terms_ = *said;
      }
    }
    return absl::OkStatus();
  }

  absl::Status FindEnded() {
    ListHistory question;
    question.user = OwnUserName();
    question.since = SystemClock().Now() - kEndedMost;
    ASSIGN_OR_RETURN(const std::vector<JobView> jobs, connection_.Call(question));
    std::vector<ServiceReplica> ended;
    for (const JobView& job : jobs) {
      if (ServiceOf(job.comment) == service_) {
        ended.push_back(ReplicaOf(job, {}));
      }
    }
    std::sort(ended.begin(), ended.end(),
              [](const ServiceReplica& a, const ServiceReplica& b) { return a.id < b.id; });
    const ServiceTerms terms = ended.empty() ? ServiceTerms() : TermsOf(ended);
    if (terms.replicas == 0 || terms.change == 0) {
      return NoSuchService(service_);
    }
    RETURN_IF_ERROR(TakeSubmission(ended.back().job.job));
    terms_ = terms;
    return absl::OkStatus();
  }

  Connection& connection_;
  const Environment& environment_;
  const std::string service_;
  const std::string script_;
  JobId array_;            // the newest that was seen
  Submission submission_;  // of it
  ServiceTerms terms_;
};

}  // namespace

ServiceCalls CallsOfService(Connection& connection, const Environment& environment,
                            const std::string& service, const std::string& script) {
  const auto known = std::make_shared<KnownService>(connection, environment, service, script);
  return {
      .find = [known] { return known->Find(); },
      .ask = [known](const ServiceTerms& terms) { return known->Ask(terms); },
      .add = [known](std::uint32_t count) { return known->Add(count); },
      .leave =
          [&connection](const std::vector<ServiceReplica>& replicas) {
            return SayLeaving(connection, replicas);
          },
      .cancel =
          [&connection](const std::vector<ServiceReplica>& replicas) {
            return CancelReplicas(connection, replicas);
          },
      .reported =
          [&connection](const std::vector<ServiceReplica>& replicas, const ScaleRule& rule) {
            return ReportedBy(connection, replicas, rule, SystemClock().Now());
          },
      .now = [] { return SystemClock().Now(); },
      .wait = [](Duration time) { std::this_thread::sleep_for(time); },
  };
}

}  // namespace muster::cli
