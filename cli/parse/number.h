#pragma once

// Whole numbers and plain text as people write them on a command line, read strictly.
//
// ASCII digits only: no sign, blank, exponent or suffix slips through, and nothing wraps round.
// Every parser of this folder is pure and returns InvalidArgument with `"TEXT" is not a …: MEND`;
// the caller puts the place (option or file:line) in front.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::cli {

// The most of anything that one request may ask for (nodes, tasks, threads, GPUs).
inline constexpr std::uint32_t kCountMax = 1'000'000;

// A whole number from 1 to `max`.
absl::StatusOr<std::uint32_t> ParseCount(std::string_view text, std::uint32_t max = kCountMax);

// Refuses text that is longer than `bytes_max`, is not UTF-8 or holds a control character.
absl::Status CheckText(std::string_view text, std::size_t bytes_max);

}  // namespace muster::cli
