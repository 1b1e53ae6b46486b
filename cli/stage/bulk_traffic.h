#pragma once

// By which NIC the bulk copies of a job go, and how fast: what [network.class] of the node's agent
// says of a class, as the job's environment has it (MUSTER_STAGING_NIC, …_RATE, …_DSCP).
//
// Thread promise: reads the environment and the kernel's list of addresses. Invariant: where
// nothing is said of a class, nothing is bound, marked or paced.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

inline constexpr const char* kStagingCopies = "STAGING";
inline constexpr const char* kCheckpointCopies = "CHECKPOINT";

struct BulkTraffic {
  std::vector<std::string> nics;  // as the kernel calls them
  std::uint64_t rate = 0;         // bytes a second; 0: any
  std::uint32_t dscp = 0;         // 0: as other packets
};
BulkTraffic BulkTrafficOf(const char* traffic_class, const Environment& environment);

// The name among /sys/class/net of a NIC that may be called by its name as an RDMA device.
std::string NetworkName(const std::string& nic);

struct NicAddress {
  std::string device;
  std::string address;
  friend bool operator==(const NicAddress&, const NicAddress&) = default;
};
// Of the first of the NICs that has one, an IPv4 address before one of IPv6 that is not of its link
// alone. NotFound: none has any.
absl::StatusOr<NicAddress> AddressOfNics(const std::vector<std::string>& nics);

// Options of rclone: its rate and the address that it binds to. It has none for DSCP.
std::vector<std::string> BulkWords(const char* traffic_class, const Environment& environment);

}  // namespace muster::cli
