#pragma once

// The generation that a drill starts from: which one, and its copy for another job.
//
// Thread promise: one thread at a time. Invariants: the directory that is copied from is read and
// never written; the copy is this generation alone, complete, and the other job's as the checkpoint
// library checks it.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/store/store.h"

namespace muster::cli {

struct DrilledGeneration {
  std::uint64_t number = 0;
  checkpoint::Manifest manifest;          // as far as it can be read
  std::string fault;                      // why no job can go on from it; empty: it is whole
  std::optional<std::uint64_t> fallback;  // with a fault: the next older one that is whole
};

// The newest complete generation that job number `job` may have written, or generation `wanted`.
// Every byte of it is read. FailedPrecondition when there is none, in words that follow "job 12: ".
absl::StatusOr<DrilledGeneration> ChooseGeneration(const checkpoint::Store& store,
                                                   const std::string& job,
                                                   std::optional<std::uint64_t> wanted);

// By which name a job that is `job` now finds what was written by name `written` for job `before`:
// programs that give no name of their own have the job's number.
std::string NameOfCopy(const std::string& written, const std::string& before,
                       const std::string& job);

// Copies it into the directory `to`, which is there and empty, under the name `job`.
absl::Status CopyGeneration(const checkpoint::Store& store, const checkpoint::Manifest& manifest,
                            const std::string& job, const std::string& to);

}  // namespace muster::cli
