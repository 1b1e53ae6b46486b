#pragma once

// The environment of this command, read once in main, and the part of it that a job gets.
//
// Nothing else of the cli calls getenv: verbs take an Environment. Thread promise: an immutable
// value. Invariant: entries are "NAME=value" in the order in which the kernel gave them.

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/parse/export_list.h"

namespace muster::cli {

class Environment {
 public:
  Environment() = default;
  explicit Environment(std::vector<std::string> entries) : entries_(std::move(entries)) {}
  // Copies a null-terminated array such as main's third argument.
  static Environment Copy(const char* const* entries);

  // The value of `name`, or "" when it is absent.
  std::string Get(std::string_view name) const;
  bool Has(std::string_view name) const;
  const std::vector<std::string>& entries() const { return entries_; }

 private:
  std::vector<std::string> entries_;
};

// The most that a job's environment may hold in all.
inline constexpr std::size_t kEnvironmentBytesMax = std::size_t{1} << 20;

// What `list` chooses of `environment`. Entries that no message can carry (no name, not UTF-8) are
// dropped, and of several with one name all but the last, which a shell would take; with `new_job`,
// what an enclosing job was given (MUSTER_*, SLURM_*, PMIX_*) is dropped unless named.
// InvalidArgument when the result exceeds kEnvironmentBytesMax.
absl::StatusOr<std::vector<std::string>> SelectEnvironment(const Environment& environment,
                                                           const ExportList& list, bool new_job);

}  // namespace muster::cli
