#include "cli/controller/controller.h"

#include <iostream>

#include "scheduler/base/status.h"

namespace muster::cli {

absl::StatusOr<Address> AddressOf(const Invocation& invocation) {
  return ControllerAddress(invocation.Value("controller"), invocation.Value("state"),
                           invocation.environment);
}

absl::StatusOr<std::unique_ptr<Connection>> OpenController(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  return Connection::Open(address);
}

int ReportChange(const std::string& verb, const ChangeOutcome& outcome) {
  for (const std::string& error : outcome.errors) {
    std::cerr << "muster " << verb << ": " << error << "\n";
  }
  return outcome.errors.empty() ? 0 : 1;
}

}  // namespace muster::cli
