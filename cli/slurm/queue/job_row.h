#pragma once

// A line of squeue before it is written, and what all lines are written with.
//
// Thread promise: plain values; a row points into what it was made of.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/slurm/format/amounts.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

struct JobRow {
  const JobView* job = nullptr;
  std::vector<std::uint64_t> elements = {};  // of an array, that wait together
  const JobDetail* detail = nullptr;         // where a field needs it and the controller has it
};

struct JobScene {
  Clockface clock = {};
  Time now = kNoTime;
  std::string cluster = {};
};

}  // namespace muster::cli::slurm
