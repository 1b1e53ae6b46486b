#pragma once

// Signals by name or number: "USR1", "SIGUSR1", "10".
//
// Pure; errors as in number.h.

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster::cli {

absl::StatusOr<std::uint32_t> ParseSignal(std::string_view text);

}  // namespace muster::cli
