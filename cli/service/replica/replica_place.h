#pragma once

// Where others reach a replica: this node's address, and ports that are free here.
//
// Invariant: the ports that one call gives are different.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/address.h"

namespace muster::cli {

// The address from which this node reaches the controller; 127.0.0.1 where the controller is on
// this machine.
absl::StatusOr<std::string> OwnAddress(const Address& controller);

// Ports that nobody has taken just now.
absl::StatusOr<std::vector<std::uint16_t>> FreePorts(std::size_t count);

}  // namespace muster::cli
