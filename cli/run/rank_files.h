#pragma once

// Where the output of `muster run`'s ranks goes: the terminal, nowhere, or files of their own.
//
//   %t rank   %n number of its node in the step   %N node   %j job   %s step   %x job name
//   %% a percent sign.  %4t pads a number to four digits; other letters stay as written.
//
// Thread promise: the loop's owner. Invariants: a file is cut to nothing at most once, when its
// first output comes; running out of descriptors closes files and opens them again at their end.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/run/stream/step_io.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

// What --output, --error and --open-mode say.
struct OutputChoice {
  std::string output;  // "", "all": the terminal; "none"; a rank; a pattern
  std::string error;   // "": where the output goes
  bool append = false;
  std::string work_dir;  // of relative paths
};

// Whether the choice is a file's pattern.
bool NamesFile(const std::string& choice);

// What the patterns need to know of the step.
struct StepNames {
  JobId job;
  StepId step;
  std::string job_name;
  std::string array_job = {};    // of an element of an array: "12"
  std::string array_index = {};  // its index
  std::string user = {};
};

// `pattern` for one rank. A name never chooses a directory.
std::string ExpandRankPattern(const std::string& pattern, const StepNames& names,
                              const RankSource& rank);

class RankFiles {
 public:
  enum class Place { kTerminal, kElsewhere };

  explicit RankFiles(OutputChoice choice) : choice_(std::move(choice)) {}
  // Checks what can be checked before anything runs.
  [[nodiscard]] absl::Status Check() const;
  void Name(StepNames names) { names_ = std::move(names); }

  // Takes what goes into a file or nowhere; kTerminal leaves it to the caller.
  absl::StatusOr<Place> Write(const RankSource& rank, bool error, std::string_view bytes);

 private:
  [[nodiscard]] const std::string& ChoiceOf(bool error) const;
  absl::StatusOr<int> Open(const std::string& path);

  OutputChoice choice_;
  StepNames names_;
  std::map<std::string, UniqueFd> open_;
  std::set<std::string> begun_;
};

// Writes all of `bytes`, waiting where the descriptor does not. False when no process reads.
bool WriteAll(int fd, std::string_view bytes);

}  // namespace muster::cli
