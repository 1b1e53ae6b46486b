#pragma once

// What a job's nodes are to have copies of (--stage-in-node), and by what marks the cluster knows
// what its nodes keep of earlier jobs that this one would find there: such copies, and images.
//
// Pure. Invariants: (1) no mark is 0, and none of one user's is another's; (2) the sources of a
// spec that passed CheckNodeData have names that differ, each a plain name of a directory's entry.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/job/job_spec.h"

namespace muster {

inline constexpr std::size_t kNodeDataMax = 8;

// Below which name of $MUSTER_STAGED a job finds the copy: what stands last in the source,
// "data" of "s3:bucket/data/".
std::string NameOfSource(const std::string& source);

// InvalidArgument, one line, names the option.
absl::Status CheckNodeData(const std::vector<std::string>& sources);

// Of a copy of the source that a node keeps for that user.
std::uint64_t MarkOfData(std::uint32_t uid, const std::string& source);

// Of all that the job would find on a node: its container's image first.
std::vector<std::uint64_t> MarksOf(const JobSpec& spec);

}  // namespace muster
