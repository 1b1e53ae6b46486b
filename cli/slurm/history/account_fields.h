#pragma once

// The fields of sacct.
//
// Pure, except for the names of groups, which the system's table tells. Invariant: the names are
// Slurm's, in the order in which `sacct --helpformat` lists them.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/format/amounts.h"
#include "scheduler/model/view/view.h"

namespace muster::cli::slurm {

// A line of sacct: a job, its script, or a step.
struct AccountRow {
  const JobView* job = nullptr;
  const JobDetail* detail = nullptr;         // where it was asked for
  const StepView* step = nullptr;            // of a step
  bool batch = false;                        // of the script
  std::vector<std::uint64_t> elements = {};  // of an array, that wait together

  [[nodiscard]] bool whole() const { return step == nullptr && !batch; }
};

struct AccountScene {
  Clockface clock = {};
  Time now = kNoTime;
  std::string cluster = {};
  char unit = 0;  // of memory; 0: the largest that is exact
};

struct AccountField {
  const char* name;
  int width;  // negative: to the left
  std::string (*value)(const AccountRow&, const AccountScene&);
  bool foreign = false;  // people's own words
};

std::span<const AccountField> AccountFields();
// Null when no field has the name, in whatever case.
const AccountField* FindAccountField(std::string_view name);

// "sacct --helpformat".
std::string FieldHelp();

}  // namespace muster::cli::slurm
