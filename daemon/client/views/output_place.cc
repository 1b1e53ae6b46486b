#include "daemon/client/views/output_place.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/output_pattern.h"

namespace muster::daemon {
namespace {

constexpr StepId kOwnStep{1};  // of a run job
constexpr const char* kNowhere = "/dev/null";

bool HasScript(const JobDetail& job, const Program& program) {
  return job.batch || !program.script.empty();
}

absl::Status Elsewhere(const std::string& what, const std::string& text) {
  return absl::FailedPreconditionError(absl::StrCat(what, ": ", text));
}

// Where a rank is: its node's name and place within the step.
struct RankPlace {
  std::string node;
  std::uint32_t index = 0;
};

std::optional<RankPlace> PlaceIn(const Allocation& allocation, std::uint32_t rank) {
  for (std::size_t i = 0; i < allocation.nodes.size(); ++i) {
    for (const RankPlacement& each : allocation.nodes[i].ranks) {
      if (each.rank == rank) {
        return RankPlace{allocation.nodes[i].name, static_cast<std::uint32_t>(i)};
      }
    }
  }
  return std::nullopt;
}

// By what the nodes said of its ranks, where the step's placement is not at hand.
std::optional<RankPlace> PlaceIn(const AttemptView& attempt, StepId step, std::uint32_t rank) {
  const auto found =
      std::find_if(attempt.ranks.begin(), attempt.ranks.end(),
                   [&](const RankView& each) { return each.step == step && each.rank == rank; });
  if (found == attempt.ranks.end()) {
    return rank == 0 ? std::optional(RankPlace{attempt.nodes.front(), 0}) : std::nullopt;
  }
  const auto node = std::find(attempt.nodes.begin(), attempt.nodes.end(), found->node);
  return RankPlace{found->node, static_cast<std::uint32_t>(node - attempt.nodes.begin())};
}

PatternValues ValuesOf(const JobView& job, const std::string& node) {
  PatternValues values;
  values.job = job.id;
  values.submission = job.array_job_id;
  std::uint32_t index = 0;
  if (absl::SimpleAtoi(job.array_task_id, &index)) {
    values.array_index = index;
  }
  values.job_name = job.name;
  values.node = node;
  values.user = job.user;
  return values;
}

std::string Either(const std::string& changed, const std::string& submitted) {
  return changed.empty() ? submitted : changed;
}

// The patterns of one writer.
struct Patterns {
  std::string work_dir;
  std::string output;
  std::string error;
};

absl::StatusOr<std::string> PathOf(const std::string& what, const Patterns& patterns, bool error,
                                   const PatternValues& values) {
  if (error && patterns.error.empty()) {
    return Elsewhere(what, "its standard error goes where its output goes: leave --error out");
  }
  const std::string& given = error ? patterns.error : patterns.output;
  std::string path = ExpandPattern(given.empty() ? DefaultOutputPattern(values) : given, values);
  if (path.front() != '/') {
    path = absl::StrCat(patterns.work_dir, "/", path);
  }
  return path == kNowhere ? Elsewhere(what, "its output goes to /dev/null: nothing of it is kept")
                          : absl::StatusOr<std::string>(std::move(path));
}

absl::StatusOr<OutputPlace> OfScript(const ReadOutput& asked, const JobDetail& job,
                                     const Program& program) {
  const std::string what = absl::StrCat("job ", job.job.label);
  if (asked.rank.value_or(0) > 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        what, ": its script is one process: name the rank's step, like ", job.job.label, ".1"));
  }
  if (job.job.het_offset > 0) {
    return Elsewhere(what, absl::StrCat("its script runs in the first component, job ",
                                        job.job.het_job.value()));
  }
  if (!program.io.address.empty()) {
    return Elsewhere(what, "is held by muster alloc: what runs in it prints there");
  }
  const std::string& node = job.attempts.back().nodes.front();
  const Patterns patterns{Either(job.work_dir, program.work_dir),
                          Either(job.stdout_path, program.stdout_path),
                          Either(job.stderr_path, program.stderr_path)};
  ASSIGN_OR_RETURN(std::string path, PathOf(what, patterns, asked.error, ValuesOf(job.job, node)));
  return OutputPlace{std::move(path), node};
}

absl::Status NoSuchRank(const std::string& what, std::uint32_t rank) {
  return absl::NotFoundError(
      absl::StrCat(what, ": has no rank ", rank, ", or its node has not reported it yet"));
}

absl::StatusOr<OutputPlace> OfRank(const ReadOutput& asked, const JobDetail& job, StepId step,
                                   const Program& program, std::optional<RankPlace> place) {
  const std::string what = step == kOwnStep && !job.batch
                               ? absl::StrCat("job ", job.job.label)
                               : absl::StrCat("step ", job.job.label, ".", step.value());
  const std::uint32_t rank = asked.rank.value_or(0);
  if (!place.has_value()) {
    return NoSuchRank(what, rank);
  }
  const bool watched = !program.io.address.empty();
  if (watched && (asked.error ? program.stderr_path : program.stdout_path).empty()) {
    return Elsewhere(what, absl::StrCat("prints to the muster run that started it: see what that "
                                        "wrote to, or muster attach ",
                                        job.job.label, ".", step.value()));
  }
  PatternValues values = ValuesOf(job.job, place->node);
  values.rank = rank;
  values.step = step;
  values.of_step = true;
  values.node_index = place->index;
  const Patterns patterns{program.work_dir, program.stdout_path, program.stderr_path};
  ASSIGN_OR_RETURN(std::string path, PathOf(what, patterns, asked.error, values));
  // A `muster run` in the script writes its files there.
  return OutputPlace{std::move(path), watched ? job.attempts.back().nodes.front() : place->node};
}

}  // namespace

bool IsOfStep(const ReadOutput& asked, const JobDetail& job) {
  return asked.step.has_value() && asked.step->valid() && (job.batch || *asked.step != kOwnStep);
}

absl::StatusOr<OutputPlace> FindOutput(const ReadOutput& asked, const JobDetail& job,
                                       const Program& program, const StepStarted* step) {
  const AttemptView& attempt = job.attempts.back();
  const std::uint32_t rank = asked.rank.value_or(0);
  if (step != nullptr) {
    return OfRank(asked, job, step->step, step->program,
                  step->placement.nodes.empty() ? PlaceIn(attempt, step->step, rank)
                                                : PlaceIn(step->placement, rank));
  }
  if (HasScript(job, program)) {
    return OfScript(asked, job, program);
  }
  if (asked.step == StepId()) {
    return absl::NotFoundError(absl::StrCat("job ", job.job.label, ": has no batch script"));
  }
  return OfRank(asked, job, kOwnStep, program, PlaceIn(attempt, kOwnStep, rank));
}

}  // namespace muster::daemon
