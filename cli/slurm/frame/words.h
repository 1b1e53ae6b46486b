#pragma once

// A command line as getopt_long of the GNU C library reads it, which all of Slurm's commands do.
//
// Long options by any prefix that only one has, values in the same word or the next, clusters of
// letters. Thread promise: pure functions, except ReadCommand, which writes to the call's streams.
// Invariants: every GivenWord names a row's `name`, or its letter when it has no name.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

enum class Takes { kNothing, kValue, kOptional };

// Rows that share a letter are one option under several names; it is reported by the first of them.
struct Row {
  const char* name = "";  // "jobs"; "": a letter alone
  char letter = 0;        // 0: none
  Takes takes = Takes::kNothing;
};

struct GivenWord {
  std::string name;
  std::string value;  // "" when none was given
  bool has_value = false;
  friend bool operator==(const GivenWord&, const GivenWord&) = default;
};

struct Words {
  std::vector<GivenWord> options;  // in the order given
  std::vector<std::string> operands;

  bool Has(std::string_view name) const;
  // The last value of `name`; "" when it was not given.
  std::string Value(std::string_view name) const;
};

// Where operands may stand: among the options, or so that the first of them ends the options.
enum class Operands { kAnywhere, kLast };

// InvalidArgument with getopt's text, without the command's name: "unrecognized option '--foo'".
absl::StatusOr<Words> ReadWords(std::span<const Row> rows, Operands operands,
                                const std::vector<std::string>& arguments);

// The same with what every command has: --help, --usage and --version (-V), and -h where it is
// free. Nothing when that was all that was asked for, or when there was an error: both have been
// written, and `exit_code` is set.
std::optional<Words> ReadCommand(const Call& call, std::span<const Row> rows, Operands operands,
                                 int* exit_code);

// The values of `text` between commas, without empty ones.
std::vector<std::string> SplitCommas(std::string_view text);

}  // namespace muster::cli::slurm
