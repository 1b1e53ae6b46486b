#pragma once

// The command line of sinfo as what it asks for.
//
// Pure. Invariant: see the members.

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/nodes/node_rows.h"

namespace muster::cli::slurm {

std::span<const Row> SinfoRows();

struct SinfoColumn {
  NodeColumn column;
  bool fits = false;  // as wide as its widest value, and nine at least
};

struct SinfoRequest {
  NodeChoice choice;
  RowShape shape;
  bool document = false;  // --json
  bool header = true;
  bool with_date = false;     // --long
  bool reservations = false;  // --reservation
  std::string prefix;
  std::vector<SinfoColumn> columns;
  std::vector<std::string> sort;  // "#P", "-t"
  unsigned pause_s = 0;           // --iterate; 0: once
  std::string clusters;
};

// InvalidArgument: a line for stderr without the command's name.
absl::StatusOr<SinfoRequest> ReadSinfo(const Words& words, const Environment& environment);

}  // namespace muster::cli::slurm
