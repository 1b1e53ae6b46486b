#pragma once

// The fields of squeue: by letter (`-o %i`) and by name (`-O JobID`).
//
// Pure, except for the names of users and groups, which the system's tables tell. Invariant: a
// value is harmless to print before the suffix that it is asked for.

#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/format/percent_format.h"
#include "cli/slurm/queue/job_row.h"

namespace muster::cli::slurm {

struct JobField {
  const char* name;   // of -O
  const char* title;  // over its column
  char letter;        // of -o; 0: none
  const char* letter_title;
  std::string (*value)(const JobRow&, const JobScene&);
  bool detailed = false;  // needs JobRow::detail
  bool foreign = false;   // people's own words
  bool uncut = false;     // a duration, which a column that is too narrow does not cut
};

// Null when no field has the letter, or the name in any case.
const JobField* FindJobField(char letter);
const JobField* FindJobField(std::string_view name);

// A column of the table: a field, or a text alone.
struct JobColumn {
  const JobField* field = nullptr;
  std::string title;
  Slot slot;
};

std::string TitleLine(const std::string& prefix, const std::vector<JobColumn>& columns);
std::string ValueLine(const std::string& prefix, const std::vector<JobColumn>& columns,
                      const JobRow& row, const JobScene& scene);

}  // namespace muster::cli::slurm
