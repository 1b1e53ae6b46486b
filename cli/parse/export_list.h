#pragma once

// --export: which of the submitter's variables a job gets.
//
// ALL (the default), NONE, NIL (which leaves out SLURM_… too), or a list of NAME and NAME=VALUE,
// which may begin with ALL. Pure; errors as in number.h. Invariant: names are shell identifiers.

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli {

struct ExportList {
  bool all = true;
  std::vector<std::string> names;        // taken from the submitter's environment
  std::vector<std::string> assignments;  // "NAME=value", as given
  bool nil = false;                      // not even those that begin with SLURM_
  friend bool operator==(const ExportList&, const ExportList&) = default;
};

absl::StatusOr<ExportList> ParseExport(std::string_view text);

}  // namespace muster::cli
