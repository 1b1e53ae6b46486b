#include "cli/slurm/accounts/job_notes.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/parse/selector.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

constexpr std::size_t kLeastOfKey = 3;

// The note that a key can only mean; "" of none.
std::string NoteOf(const std::string& key) {
  const std::string name = absl::StartsWith(key, "new") ? key.substr(kLeastOfKey) : key;
  const auto* const found =
      std::find_if(std::begin(kJobNotes), std::end(kJobNotes), [&name](const JobNoteKind& kind) {
        return name.size() >= kLeastOfKey && absl::StartsWithIgnoreCase(kind.name, name);
      });
  return found == std::end(kJobNotes) ? "" : found->name;
}

absl::Status TakeCondition(const std::string& key, const std::string& value, JobNotes& request) {
  if (absl::StartsWith("clusters", key) && key.size() > 1) {
    request.clusters = value;
    return absl::OkStatus();
  }
  if (!absl::StartsWith("jobids", key) && key != "names" && key != "name") {
    return absl::InvalidArgumentError(absl::StrCat(" Unknown condition: ", key, "=", value,
                                                   "\n Use keyword 'set' to modify value"));
  }
  for (const std::string& id : SplitCommas(value)) {
    const absl::StatusOr<JobSelector> job = ParseSelector(id);
    if (!job.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(" Invalid job id specified: ", id));
    }
    request.jobs.push_back(*job);
  }
  return absl::OkStatus();
}

std::string NameOf(const JobSelector& job) {
  return job.elements.empty() ? absl::StrCat(job.job.value())
                              : absl::StrCat(job.job.value(), "_", job.elements.front());
}

}  // namespace

absl::StatusOr<JobNotes> ReadJobNotes(const std::vector<std::string>& words) {
  JobNotes request;
  bool sets = false;
  for (const std::string& word : words) {
    const std::string lower = absl::AsciiStrToLower(word);
    if (lower == "where" || lower == "set") {
      sets = lower == "set";
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string key = lower.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (!sets && equals != std::string::npos) {
      RETURN_IF_ERROR(TakeCondition(key, value, request));
      continue;
    }
    const std::string note = sets && equals != std::string::npos ? NoteOf(key) : "";
    if (note.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(" Unknown option: ", word, "\n Use keyword 'where' to modify condition"));
    }
    request.notes.push_back({.name = note, .text = value});
  }
  if (request.notes.empty()) {
    return absl::InvalidArgumentError(" You didn't give me anything to set");
  }
  if (request.jobs.empty()) {
    return absl::InvalidArgumentError(" You need to specify a job: where jobid=NUMBER");
  }
  return request;
}

int ChangeJobNotes(const Call& call, const std::vector<std::string>& words,
                   const ManagerManner& manner) {
  const absl::StatusOr<JobNotes> request = ReadJobNotes(words);
  if (!request.ok()) {
    return FailLines(call, std::string(request.status().message()));
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call);
  if (!connection.ok()) {
    return Fail(call, SlurmText(connection.status()));
  }
  if (const absl::Status known = CheckClusters(**connection, request->clusters); !known.ok()) {
    return Fail(call, std::string(known.message()));
  }
  std::string text = " Modified jobs...\n";
  for (const JobSelector& job : request->jobs) {
    if (!(*connection)->Call(ShowJob{job}).ok()) {
      call.out << " Nothing modified" << std::endl;
      return 1;
    }
    absl::StrAppend(&text, "  ", NameOf(job), "\n");
  }
  if (!manner.quiet) {
    call.out << text << std::flush;
  }
  if (!manner.immediate && !Agrees(call)) {
    call.out << " Changes Discarded" << std::endl;
    return 0;
  }
  for (const JobSelector& job : request->jobs) {
    if (const absl::Status done = (*connection)->Call(NoteJob{job, request->notes}); !done.ok()) {
      return FailPlainly(call,
                         absl::StrCat(" Error with request: ", absl::IsPermissionDenied(done)
                                                                   ? "Access/permission denied"
                                                                   : SlurmText(done)));
    }
  }
  return 0;
}

}  // namespace muster::cli::slurm
