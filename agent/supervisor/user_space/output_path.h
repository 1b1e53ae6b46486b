#pragma once

// Where a job's output goes: the patterns of paths, and opening what they name.
//
//   %j job   %A array's id (or the job's)   %a array index   %x job name   %N node   %t rank
//   %s step   %J job, and .step for a step's ranks   %b array index modulo 10   %n the node's
//   number %u user   %% a percent sign.  %4j pads a number to four digits; other letters stay as
//   written. In a path with a backslash nothing is replaced, and the backslashes go.
//
// Thread promise: ExpandPattern is pure; the openers are called by the supervisor's thread.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

struct PatternValues {
  JobId job;
  JobId submission;
  std::optional<std::uint32_t> array_index;
  std::string job_name;  // slashes become underscores: a name never chooses a directory
  std::string node;
  std::uint32_t rank = 0;
  StepId step;
  bool of_step = false;          // a step's ranks, and not the script
  std::uint32_t node_index = 0;  // within the script's or the step's nodes
  std::string user;
};

std::string ExpandPattern(const std::string& pattern, const PatternValues& values);

// muster-%j.out, for an element of an array muster-%A_%a.out.
std::string DefaultOutputPattern(const PatternValues& values);

// Opens `path` (relative to `work_dir`) for writing at its end (the ranks of several nodes and
// steps may share it), with mode 0666 less the umask in force; cut to nothing unless `append`.
// Never waits: a FIFO that no process reads is refused. The error is one line that names the path.
absl::StatusOr<UniqueFd> OpenOutput(const std::string& work_dir, const std::string& path,
                                    bool append);

// Whether no byte more can be written there. May wait for the file system.
bool IsOnFullDisk(const std::string& work_dir, const std::string& path);

// Opens `path` for reading; empty is /dev/null. Never waits.
absl::StatusOr<UniqueFd> OpenInput(const std::string& work_dir, const std::string& path);

}  // namespace muster::agent
