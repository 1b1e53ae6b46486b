#pragma once

// Which of a cluster's controllers leads, as each of them says.
//
// Thread promise: each call blocks its own thread. Invariant: a controller that does not answer at
// once counts as one that is not there.

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/address.h"

namespace muster::cli {

struct ControllerStatus {
  std::string name;
  bool leads = false;
  std::string leader;  // empty: it knows of none
  std::string leader_addresses;
  std::uint64_t epoch = 0;
  std::uint64_t version = 0;         // of the last journal entry that it knows
  std::chrono::milliseconds age{0};  // what it shows was so long ago at most
};

// Of an address of several controllers each alone, with the same keys.
std::vector<Address> AllOf(const Address& address);

absl::StatusOr<ControllerStatus> ReadControllerStatus(
    const std::shared_ptr<grpc::Channel>& channel);
absl::StatusOr<ControllerStatus> ReadControllerStatus(const Address& address);

// Has the controller lead no more, and `to` ("": any) take over.
absl::Status HandOver(const Address& address, const std::string& to);

}  // namespace muster::cli
