#include "daemon/store/state_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/store/database/blob.h"
#include "daemon/store/rows/health_rows.h"
#include "daemon/store/rows/journal.h"
#include "daemon/store/rows/meta_rows.h"
#include "daemon/store/target_history.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/array.h"

namespace muster::daemon {
namespace {

// One row of submissions that has elements left.
struct Submission {
  JobId first;
  std::uint32_t count = 0;
  std::uint32_t open = 0;
  Time submitted = kNoTime;
  JobEstimate estimate;
  std::shared_ptr<const JobSpec> spec;
  // Of a heterogeneous job: those of the components after the first.
  std::vector<std::shared_ptr<const JobSpec>> components;

  [[nodiscard]] const std::shared_ptr<const JobSpec>& SpecOf(JobId id) const {
    return components.empty() || id == first ? spec : components[id.value() - first.value() - 1];
  }
};

// Jobs of all open submissions, by walking submissions and jobs side by side in the order of ids.
class JobsReader {
 public:
  explicit JobsReader(Database& database) : database_(database) {}

  absl::Status Read(StateImage* image);

 private:
  absl::Status NextJob();
  absl::StatusOr<Submission> ReadSubmission();
  absl::StatusOr<std::vector<std::uint64_t>> EndedIds(const Submission& submission);
  absl::Status Expand(const Submission& submission, StateImage* image);
  static void AddUntouched(const Submission& submission, JobId id, std::uint32_t count,
                           StateImage* image);
  absl::StatusOr<Job> TakeStored(const Submission& submission);
  std::string Where(const char* table, JobId id) const {
    return absl::StrCat(database_.path(), ": ", table, " ", id.value());
  }

  Database& database_;
  Statement submissions_{database_,
                         "SELECT first, count, open, submitted, spec, journal.payload "
                         "FROM submissions JOIN journal USING (version) "
                         "WHERE open > 0 ORDER BY first"};
  Statement jobs_{database_, "SELECT id, payload FROM jobs ORDER BY id"};
  Statement ended_{database_, "SELECT id FROM history WHERE submission = ?"};
  JobId stored_;  // the id in the current row of jobs_; 0 after the last
};

absl::Status JobsReader::Read(StateImage* image) {
  RETURN_IF_ERROR(NextJob());
  while (true) {
    ASSIGN_OR_RETURN(const bool more, submissions_.Next());
    if (!more) {
      break;
    }
    ASSIGN_OR_RETURN(const Submission submission, ReadSubmission());
    RETURN_IF_ERROR(Expand(submission, image));
  }
  if (stored_.valid()) {
    return Unreadable(Where("job", stored_), "belongs to no open submission");
  }
  return absl::OkStatus();
}

absl::Status JobsReader::NextJob() {
  ASSIGN_OR_RETURN(const bool more, jobs_.Next());
  stored_ = more ? JobId(jobs_.Unsigned(0)) : JobId();
  return absl::OkStatus();
}

absl::StatusOr<Submission> JobsReader::ReadSubmission() {
  Submission submission;
  submission.first = JobId(submissions_.Unsigned(0));
  submission.count = static_cast<std::uint32_t>(submissions_.Integer(1));
  submission.open = static_cast<std::uint32_t>(submissions_.Integer(2));
  submission.submitted = Time(Duration(submissions_.Integer(3)));
  auto spec = std::make_shared<JobSpec>();
  const std::string where = Where("submission", submission.first);
  RETURN_IF_ERROR(Decode(submissions_.Bytes(4), where, spec.get()));
  JournalEntry entry;
  RETURN_IF_ERROR(Decode(submissions_.Bytes(5), where, &entry));
  auto* event = std::get_if<JobSubmitted>(&entry.event);
  if (event == nullptr) {
    return Unreadable(where, "another event than its submission");
  }
  submission.estimate = event->estimate;
  std::uint32_t elements = spec->array.has_value() ? ElementCount(*spec->array) : 1;
  if (!spec->array.has_value() && submission.count > 1) {
    elements = static_cast<std::uint32_t>(event->components.size()) + 1;
    for (Component& component : event->components) {
      submission.components.push_back(std::make_shared<const JobSpec>(std::move(component.spec)));
    }
  }
  if (elements != submission.count) {
    return Unreadable(where,
                      absl::StrCat("of ", submission.count, " jobs, its array of ", elements));
  }
  submission.spec = std::move(spec);
  return submission;
}

absl::StatusOr<std::vector<std::uint64_t>> JobsReader::EndedIds(const Submission& submission) {
  std::vector<std::uint64_t> ids;
  if (submission.open == submission.count) {
    return ids;
  }
  ended_.Start(submission.first.value());
  while (true) {
    ASSIGN_OR_RETURN(const bool more, ended_.Next());
    if (!more) {
      break;
    }
    ids.push_back(ended_.Unsigned(0));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

absl::Status JobsReader::Expand(const Submission& submission, StateImage* image) {
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> ended, EndedIds(submission));
  if (submission.count - ended.size() != submission.open) {
    return Unreadable(Where("submission", submission.first),
                      absl::StrCat("counts ", submission.open, " open jobs of ", submission.count,
                                   ", but ", ended.size(), " ended"));
  }
  const std::uint64_t end = submission.first.value() + submission.count;
  auto gone = ended.begin();
  for (std::uint64_t next = submission.first.value(); next < end; ++next) {
    const std::uint64_t skip = gone == ended.end() ? end : *gone;
    const bool is_stored = stored_.value() >= next && stored_.value() < skip;
    const std::uint64_t known = is_stored ? stored_.value() : skip;
    AddUntouched(submission, JobId(next), static_cast<std::uint32_t>(known - next), image);
    if (is_stored) {
      ASSIGN_OR_RETURN(Job stored, TakeStored(submission));
      image->jobs.push_back(std::move(stored));
    } else if (gone != ended.end()) {
      ++gone;
    }
    next = known;
  }
  return absl::OkStatus();
}

// The `count` jobs from `id` on, as the submission made them.
void JobsReader::AddUntouched(const Submission& submission, JobId id, std::uint32_t count,
                              StateImage* image) {
  if (count == 0) {
    return;
  }
  Job job;
  job.id = id;
  job.submission = submission.first;
  job.spec = submission.SpecOf(id);
  job.held = submission.spec->held;
  job.submitted = submission.submitted;
  job.estimate = submission.estimate;
  job.het_size = submission.components.empty() ? 0 : submission.count;
  if (!submission.spec->array.has_value()) {
    for (std::uint32_t i = 0; i < count; ++i) {
      job.id = JobId(id.value() + i);
      job.spec = submission.SpecOf(job.id);
      image->jobs.push_back(job);
    }
    return;
  }
  job.array_index = IndexOfElement(*submission.spec->array, submission.first, id);
  image->elements.push_back(UntouchedElements{std::move(job), count});
}

absl::StatusOr<Job> JobsReader::TakeStored(const Submission& submission) {
  Job job;
  RETURN_IF_ERROR(Decode(jobs_.Bytes(1), Where("job", stored_), &job));
  job.spec = job.changed_spec != nullptr ? job.changed_spec : submission.SpecOf(job.id);
  RETURN_IF_ERROR(NextJob());
  return job;
}

absl::StatusOr<std::vector<Node>> ReadNodes(Database& database) {
  std::vector<Node> nodes;
  Statement rows(database, "SELECT id, payload FROM nodes ORDER BY id");
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return nodes;
    }
    Node node;
    const std::string where = absl::StrCat(database.path(), ": node ", rows.Integer(0));
    RETURN_IF_ERROR(Decode(rows.Bytes(1), where, &node));
    nodes.push_back(std::move(node));
  }
}

absl::Status ReadPolicy(Database& database, StateImage* image) {
  Statement rows(database, "SELECT kind, name, payload FROM policy ORDER BY kind, name");
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return absl::OkStatus();
    }
    const std::string where = absl::StrCat(database.path(), ": ", std::string(rows.Text(0)), " ",
                                           std::string(rows.Text(1)));
    if (rows.Text(0) == "spent") {
      Spent spent;
      RETURN_IF_ERROR(Decode(rows.Bytes(2), where, &spent));
      image->spent.push_back(std::move(spent));
    } else if (rows.Text(0) == "usage") {
      AccountUsage usage;
      RETURN_IF_ERROR(Decode(rows.Bytes(2), where, &usage));
      image->usage.push_back(std::move(usage));
    } else {
      PolicyChanged last;
      RETURN_IF_ERROR(Decode(rows.Bytes(2), where, &last));
      image->policy.push_back(std::move(last.object));
    }
  }
}

// Rows (version, token, job, step), newest first, as owners behind their versions.
using VersionedToken = std::pair<std::uint64_t, TokenOwner>;
absl::Status CollectTokens(Statement& rows, std::vector<VersionedToken>* tokens) {
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return absl::OkStatus();
    }
    tokens->push_back(
        {rows.Unsigned(0), TokenOwner{std::string(rows.Text(1)), JobId(rows.Unsigned(2)),
                                      StepId(static_cast<std::uint32_t>(rows.Integer(3)))}});
  }
}

absl::StatusOr<std::vector<TokenOwner>> ReadTokens(Database& database) {
  std::vector<VersionedToken> found;
  Statement submissions(database,
                        "SELECT version, token, first, 0 FROM submissions WHERE token <> '' "
                        "ORDER BY first DESC LIMIT ?");
  submissions.Start(kTokensKept);
  RETURN_IF_ERROR(CollectTokens(submissions, &found));
  Statement steps(database,
                  "SELECT steps.version, token, job, step FROM jobs "
                  "CROSS JOIN steps WHERE steps.job = jobs.id AND token <> ''");
  RETURN_IF_ERROR(CollectTokens(steps, &found));
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  const std::size_t kept = std::min<std::size_t>(found.size(), kTokensKept);
  std::vector<TokenOwner> tokens;
  tokens.reserve(kept);
  for (std::size_t i = found.size() - kept; i < found.size(); ++i) {
    tokens.push_back(std::move(found[i].second));
  }
  return tokens;
}

// What has ended of the jobs that the live ones depend on; each named once.
absl::StatusOr<std::vector<TargetHistory>> ReadHistory(Database& database,
                                                       const StateImage& image) {
  std::set<std::pair<JobId, std::optional<std::uint32_t>>> seen;
  std::vector<DependencyTerm> terms;
  const JobSpec* last = nullptr;  // all elements of an array share one
  const auto add = [&](const Job& job) {
    if (job.spec.get() == last) {
      return;
    }
    last = job.spec.get();
    for (const DependencyTerm& term : job.spec->dependency.terms) {
      if (seen.emplace(term.job, term.element).second) {
        terms.push_back(term);
      }
    }
  };
  std::for_each(image.jobs.begin(), image.jobs.end(), add);
  for (const UntouchedElements& elements : image.elements) {
    add(elements.first);
  }
  return ReadTargets(database, terms);
}

}  // namespace

absl::StatusOr<Version> ReadVersion(Database& database) {
  ASSIGN_OR_RETURN(const std::int64_t version,
                   database.ReadInteger("SELECT max(version) FROM journal"));
  return Version(static_cast<std::uint64_t>(version));
}

absl::StatusOr<StateImage> ReadState(Database& database) {
  Transaction transaction(database);
  RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kRead));
  return ReadStateWithin(database);
}

absl::StatusOr<StateImage> ReadStateWithin(Database& database) {
  StateImage image;
  ASSIGN_OR_RETURN(image.version, ReadVersion(database));
  ASSIGN_OR_RETURN(const std::int64_t epoch, ReadMeta(database, "epoch"));
  image.epoch = Epoch(static_cast<std::uint64_t>(epoch));
  ASSIGN_OR_RETURN(const std::int64_t half_life, ReadMeta(database, "half_life"));
  image.half_life = Duration(half_life);
  ASSIGN_OR_RETURN(const std::int64_t last_job,
                   database.ReadInteger(
                       "SELECT first + count - 1 FROM submissions ORDER BY first DESC LIMIT 1"));
  ASSIGN_OR_RETURN(const std::int64_t unknown, ReadMeta(database, "next_job"));
  image.next_job = std::max(JobId(static_cast<std::uint64_t>(last_job)).Next(),
                            JobId(static_cast<std::uint64_t>(unknown)));
  ASSIGN_OR_RETURN(const std::int64_t last_node, database.ReadInteger("SELECT max(id) FROM nodes"));
  ASSIGN_OR_RETURN(const std::int64_t next_node, ReadMeta(database, "next_node"));
  image.next_node = std::max(NodeId(static_cast<std::uint32_t>(last_node)).Next(),
                             NodeId(static_cast<std::uint32_t>(next_node)));
  ASSIGN_OR_RETURN(image.nodes, ReadNodes(database));
  JobsReader jobs(database);
  RETURN_IF_ERROR(jobs.Read(&image));
  RETURN_IF_ERROR(ReadPolicy(database, &image));
  RETURN_IF_ERROR(ReadHealthState(database, &image));
  ASSIGN_OR_RETURN(image.tokens, ReadTokens(database));
  ASSIGN_OR_RETURN(image.history, ReadHistory(database, image));
  return image;
}

}  // namespace muster::daemon
