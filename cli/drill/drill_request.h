#pragma once

// What a drill is asked for, and the job that it submits.
//
// Pure. Invariants of the request: it is the original's but for what the options say; it keeps its
// checkpoints and its output in the drill's directory; it is held, runs once, mails nobody and
// waits for no other job.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/request/job_request.h"
#include "scheduler/model/request/job_questions.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct DrillOptions {
  std::optional<std::uint64_t> generation;
  Duration timeout{0};
  std::string from;      // the original's checkpoints; empty: where its submission says
  std::string into;      // the folder for the drill's directory; empty: beside the checkpoints
  std::string interval;  // --checkpoint-interval; empty: as the original's
  std::map<std::string, std::string> job;  // options of the job, by name
  bool keep = false;
  bool exact = false;
  bool json = false;
};

// For the verb's table.
std::vector<Option> DrillOptionTable();
absl::StatusOr<DrillOptions> ReadDrillOptions(const Invocation& invocation);

// Why there can be no drill of that job, in words that follow "job 12: "; empty: nothing is in the
// way. `uid`: the caller's. `directory`: of its checkpoints.
std::string WhyNoDrill(const JobDetail& job, const Submission& submission, std::uint32_t uid,
                       const std::string& directory);

// Where the job keeps its checkpoints: by --from, its record, or what follows from its number.
std::string CheckpointsOf(const JobDetail& job, const DrillOptions& options);

// Where a drill lives, and what it is a drill of.
struct DrillPlace {
  std::string original;        // "12_3"
  std::string directory = {};  // with "checkpoint" and "output"
  std::uint64_t generation = 0;
  std::string writer = {};  // by which name the checkpoints are written
};

absl::StatusOr<JobRequest> MakeDrillRequest(const Submission& submission,
                                            const std::vector<std::uint32_t>& elements,
                                            const DrillOptions& options, const DrillPlace& place,
                                            Time now);

}  // namespace muster::cli
