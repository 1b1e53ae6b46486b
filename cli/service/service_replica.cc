#include "cli/service/service_replica.h"

#include <algorithm>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/parse/selector.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

constexpr const char* kComment = "replica of service ";

// Between the service and its terms; no name has it.
constexpr const char* kTermsBegin = ": ";

}  // namespace

bool ServiceReplica::leaves() const {
  return note.state == kReplicaLeaving || job_state == Name(JobState::kCompleting);
}

std::string ReplicaComment(const std::string& service, const ServiceTerms& terms) {
  return absl::StrCat(kComment, service, kTermsBegin, TermsText(terms));
}

std::string ServiceOf(const std::string& comment) {
  if (!absl::StartsWith(comment, kComment)) {
    return "";
  }
  const std::string named = comment.substr(std::string(kComment).size());
  return named.substr(0, named.find(kTermsBegin));
}

std::optional<ServiceTerms> TermsIn(const std::string& comment) {
  const std::size_t begin = comment.find(kTermsBegin);
  return ServiceOf(comment).empty() || begin == std::string::npos
             ? std::nullopt
             : ReadTerms(comment.substr(begin + std::string(kTermsBegin).size()));
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
  replica.terms = TermsIn(job.comment);
  for (const JobNote& note : notes) {
    const std::optional<ReplicaNote> said =
        note.name == kReplicaNote ? ReadNote(note.text) : std::nullopt;
    if (said.has_value() && said->restarts == job.restarts &&
        job.state == Name(JobState::kRunning)) {
      replica.note = *said;
    }
  }
  return replica;
}

std::vector<ServiceReplica> Staying(std::vector<ServiceReplica> replicas) {
  std::erase_if(replicas, [](const ServiceReplica& replica) { return replica.leaves(); });
  return replicas;
}

ServiceTerms TermsOf(const std::vector<ServiceReplica>& replicas) {
  std::optional<ServiceTerms> latest;
  for (const ServiceReplica& replica : replicas) {
    if (replica.terms.has_value() &&
        (!latest.has_value() || replica.terms->change > latest->change)) {
      latest = replica.terms;
    }
  }
  ServiceTerms as_they_are;
  as_they_are.replicas = static_cast<std::uint32_t>(Staying(replicas).size());
  return latest.value_or(as_they_are);
}

}  // namespace muster::cli
