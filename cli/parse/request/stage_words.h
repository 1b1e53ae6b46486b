#pragma once

// --stage-in and --stage-out: what is copied for a job, and where to, as SRC:DST; and
// --checkpoint-object: on which store copies of its checkpoints are kept.
//
// A place is a path, or REMOTE:PATH as rclone has it ("s3:bucket/data",
// ":s3,env_auth=true:bucket"). As both may hold colons, DST says that it is a path by its first
// character: "/", ".", "~" or "$". Pure; errors as in number.h. Invariants: an accepted pair has
// both places; the job's side of it is a path.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// The last ":" before one of these characters parts them: "s3:bucket/data:/scratch/data".
absl::StatusOr<StagePair> ParseStageIn(std::string_view text);
// The first ":" parts them: "results:s3:bucket/results", "results:/archive/results".
absl::StatusOr<StagePair> ParseStageOut(std::string_view text);

// Pairs on a line each; they are added to `pairs`.
absl::Status AddStageIns(std::string_view lines, std::vector<StagePair>* pairs);
absl::Status AddStageOuts(std::string_view lines, std::vector<StagePair>* pairs);

// --stage-in-node: sources on a line each, of which the job's nodes are to have copies.
absl::Status AddNodeData(std::string_view lines, std::vector<std::string>* sources);
// A path from `directory` where it is a relative one, so that one source has one name.
std::string WithAbsoluteSource(const std::string& source, const std::string& directory);
// "s3:bucket/state", "s3:bucket/state,every=30m".
struct ObjectCopies {
  std::string place;                       // a remote of rclone
  Duration every = std::chrono::hours(1);  // between the begins of two copies, at least
};
absl::StatusOr<ObjectCopies> ParseObjectCopies(const std::string& text);
// The text, where it is such.
absl::Status ReadObjectCopies(const std::string& text, std::string* copies);

// False: it is a path.
bool IsRemotePlace(std::string_view place);

// Below `to` under its own name where `to` ends with "/"; otherwise `to` itself.
std::string StagedName(const std::string& from, const std::string& to);

}  // namespace muster::cli
