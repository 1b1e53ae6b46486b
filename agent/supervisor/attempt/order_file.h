#pragma once

// The order that an agent leaves in an attempt's directory for its supervisor: the model's view of
// wire::SupervisorOrder.
//
// Written by the agent before it spawns the supervisor, so that an attempt known to the agent is
// known after a crash of it too. Invariants: a reader sees a whole order or none.

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/attempt/limit_set.h"
#include "agent/supervisor/attempt/network_class.h"
#include "agent/supervisor/attempt/site_script.h"
#include "scheduler/model/job/order.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/value/fields.h"

namespace muster::agent {

struct SupervisorOrder {
  LaunchOrder launch;
  Machine machine;            // the node's
  std::string node_name;      // must be the name of a node in launch.allocation
  std::string agent_socket;   // path on which the agent is notified; empty: none listens
  std::string module_dir;     // where libmuster-pmix.so is
  std::string cgroup;         // directory for the attempt's own cgroup; empty: none can be made
  std::string pmix_patterns;  // path, before a user's number, of patterns of PMIx; empty: none
  std::string controller;     // the address that `muster` inside the job calls
  NodeLimits limits;          // what the node can hold the attempt to
  SiteScripts scripts;        // what the site has run around jobs and steps
  bool private_tmp = false;   // /tmp and /dev/shm are the attempt's own
  // Of an elastic job: until then, by the clock of time since boot, the controller has heard us.
  std::int64_t lease_until_ms = 0;
  ContainerSettings containers = {};  // for jobs in containers
  NetworkClasses network = {};        // the node's
  StagingSettings staging = {};       // for copies of data
  // What the supervisor knows by itself, and no file holds: paths, empty where there is none.
  std::string checkpoint_hints;
  std::string checkpoint_progress;
  std::string flush_program;
  std::string command;  // muster
  std::string remote_shell;
  std::string hostfile;
  std::string progress_file;  // that the job may touch
  std::string report_socket;  // on which its programs say how they get on
  std::string staged;         // in which the job finds its copies of data

  // The directory of the MPS through which the job shares GPUs; empty: it shares none, or by turns.
  [[nodiscard]] std::string SharedThrough() const {
    return launch.spec.request.gpu_share.zero() ? "" : machine.mps;
  }

  // What the file holds, in the order of the message's numbers.
  static constexpr auto Fields(auto list) {
    return list(
        Field{"launch", &SupervisorOrder::launch}, Field{"machine", &SupervisorOrder::machine},
        Field{"node_name", &SupervisorOrder::node_name},
        Field{"doorbell", &SupervisorOrder::agent_socket},
        Field{"module_dir", &SupervisorOrder::module_dir},
        Field{"cgroup", &SupervisorOrder::cgroup},
        Field{"controller", &SupervisorOrder::controller},
        Field{"limits", &SupervisorOrder::limits}, Field{"scripts", &SupervisorOrder::scripts},
        Field{"private_tmp", &SupervisorOrder::private_tmp},
        Field{"lease_until", &SupervisorOrder::lease_until_ms},
        Field{"pmix_patterns", &SupervisorOrder::pmix_patterns},
        Field{"containers", &SupervisorOrder::containers},
        Field{"network", &SupervisorOrder::network}, Field{"staging", &SupervisorOrder::staging});
  }
};

// The bytes of such a file, and back; DataLoss when they are not an order's.
std::string EncodeOrder(const SupervisorOrder& order);
absl::StatusOr<SupervisorOrder> DecodeOrder(std::string_view bytes);

// Writes `order` to `path`, whole, mode 0600. It outlives every process, not a loss of power: then
// the boot is another one and the order is void.
absl::Status WriteOrder(const std::string& path, const SupervisorOrder& order);

// Reads it back; DataLoss when it is not an order.
absl::StatusOr<SupervisorOrder> ReadOrder(const std::string& path);

}  // namespace muster::agent
