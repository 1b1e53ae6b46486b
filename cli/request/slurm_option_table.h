#pragma once

// The table of Slurm's options of jobs and steps: every long option of sbatch, srun and salloc,
// what becomes of it here, and Slurm's words for a value that it does not take.
//
// #SBATCH lines, SBATCH_… variables and the commands of cli/slurm all read by it. Invariants: a
// name stands once for each command; an honoured option is one of ours (`as`), or the command
// itself acts on it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::cli {

enum class SlurmFate : std::uint8_t {
  kHonoured,  // done as Slurm does it
  kRecorded,  // cannot change the result: kept with the job
  kRefused,   // would change it, and is not done here
};

enum class SlurmValue : std::uint8_t { kNone, kRequired, kOptional };

// The commands that take an option, added up.
inline constexpr unsigned kSbatch = 1;
inline constexpr unsigned kSrun = 2;
inline constexpr unsigned kSalloc = 4;
inline constexpr unsigned kEverySlurmCommand = kSbatch | kSrun | kSalloc;

// One of our options, or "recorded" with NAME[=VALUE].
struct OwnOption {
  std::string name;
  std::string value;
  friend bool operator==(const OwnOption&, const OwnOption&) = default;
};

struct SlurmOption {
  const char* name;
  char letter;
  SlurmValue takes;
  unsigned commands;
  SlurmFate fate;
  const char* as = "";  // ours of the same meaning; "": the command itself acts on it
  // A value of Slurm's as ours; null: it is the same. An error has no place yet.
  absl::StatusOr<std::vector<OwnOption>> (*translate)(const std::string& value) = nullptr;
  // Slurm's line for a value that it does not take, with %s for the value; for an option that is
  // refused, why. "": "Invalid --NAME specification".
  const char* complaint = "";
  const char* variable = "";  // SBATCH_… and SALLOC_… that give it
};

std::span<const SlurmOption> AllSlurmOptions();

// The option of one of `commands` by its name or any prefix that no other has, or by its letter;
// null when there is none.
const SlurmOption* FindSlurmOption(std::string_view name, unsigned commands);
const SlurmOption* FindSlurmOption(char letter, unsigned commands);

// What an option of Slurm's comes to here: options of ours, "recorded" among them. InvalidArgument
// in our words for a value that is none, Unimplemented for an option that is refused.
absl::StatusOr<std::vector<OwnOption>> Translate(const SlurmOption& option, bool has_value,
                                                 const std::string& value);

// Slurm's line for `value`, or for the option itself when it is refused.
std::string SlurmComplaint(const SlurmOption& option, const std::string& value);

}  // namespace muster::cli
