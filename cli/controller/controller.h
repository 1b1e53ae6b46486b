#pragma once

// The controller that an invocation means: --controller, --state and the environment together.
//
// Thread promise: as Connection's. Invariant: the address is the one of address.h's order.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "cli/controller/connection.h"
#include "cli/frame/verb.h"

namespace muster::cli {

absl::StatusOr<Address> AddressOf(const Invocation& invocation);
absl::StatusOr<std::unique_ptr<Connection>> OpenController(const Invocation& invocation);

// One line on stderr for each error, "muster VERB: …"; the exit code that follows.
int ReportChange(const std::string& verb, const ChangeOutcome& outcome);

}  // namespace muster::cli
