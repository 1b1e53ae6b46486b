#pragma once

// What all documents of --json have in common, in the layout of the version that we claim.
//
// Pure. Invariants: a number that may be unset or infinite says which it is; what Muster does not
// know has no key.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/json_output.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/model/value/time.h"

namespace muster::cli::slurm {

// {"set":true,"infinite":false,"number":7}.
Json SlurmNumber(std::optional<std::uint64_t> number);
Json SlurmInfinite();
// Seconds since 1970; unset where there is no such moment.
Json SlurmMoment(Time time);
// Minutes; infinite where it is no limit.
Json SlurmMinutes(Duration limit);
// What a process ended with: "return_code" and "signal".
Json SlurmExit(std::int32_t code, std::int32_t signal);

// Rows under the names of their columns, in lower case.
Json RowsEntry(const std::vector<std::string>& names,
               const std::vector<std::vector<std::string>>& rows);

// {KEY: value, "meta": …, "errors": [], "warnings": []}, as a page.
std::string SlurmDocument(const std::string& key, Json value, const std::string& cluster);

// Whether --json was given, with a version that we write or none; InvalidArgument for another, and
// for --yaml.
absl::StatusOr<bool> WantsDocument(const Words& words);

// The rows that ReadCommand takes for it.
inline constexpr Row kDocumentRows[] = {{"json", 0, Takes::kOptional},
                                        {"yaml", 0, Takes::kOptional}};

}  // namespace muster::cli::slurm
