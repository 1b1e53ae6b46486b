#pragma once

// Pages of columns that are chosen by name: sacctmgr's and sshare's.
//
// Pure. Invariant: a row has a value for each column of its kind, in their order.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/slurm/format/page_table.h"

namespace muster::cli::slurm {

struct NamedColumn {
  const char* name;   // "GrpJobs"
  int width;          // negative: to the left
  const char* title;  // "": the name
};

struct ColumnChoice {
  std::size_t at = 0;  // position in the kind's columns
  int width = 0;
};

// The columns of `format`, "user,account%20"; all of `usual` where it is empty. A name may be any
// beginning of a column's. InvalidArgument names the one that is none.
absl::StatusOr<std::vector<ColumnChoice>> ChooseColumns(std::span<const NamedColumn> columns,
                                                        std::string_view format,
                                                        std::string_view usual);

std::string NamedPage(std::span<const NamedColumn> columns, const std::vector<ColumnChoice>& choice,
                      const std::vector<std::vector<std::string>>& rows, const PageStyle& style);

}  // namespace muster::cli::slurm
