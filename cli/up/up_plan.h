#pragma once

// What `muster up` is asked for, and the daemons that follow from it.
//
// Pure but for the check that the programs are there. Invariants: the first daemon is the
// controller; a node's agent keeps its state in STATE/agents/NAME and gets the path of the
// controller's unix socket.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/verb.h"
#include "cli/up/daemon_child.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

inline constexpr std::uint32_t kPersonalNodesMax = 1024;

struct UpOptions {
  std::string state;  // absolute
  std::uint32_t nodes = 1;
  std::vector<std::string> topologies;  // empty: this machine; one: every node plays it
  std::vector<std::string> features;    // empty: none; one list: every node has it
  std::vector<std::string> gres;        // the same
  std::string config;                   // the controller's; empty: none
  std::string network;                  // a file; empty: none
  std::vector<std::string> names;       // the nodes', as the network calls them; or node1, …
  std::string listen;                   // HOST:PORT; empty: the unix socket alone
  bool web = false;                     // with the gateway
  std::string web_address;              // HOST:PORT of it
  std::string cgroup_root;              // the agents'; empty: they look for themselves
};

struct UpPlan {
  std::string state;
  std::string controller;                // the address
  std::vector<std::string> directories;  // the agents', to be made
  std::vector<DaemonSpec> daemons;
  std::string web_address;  // to be listened on for the last daemon, the gateway; empty: none
};

absl::StatusOr<UpOptions> ReadUpOptions(const Invocation& invocation);
absl::StatusOr<UpPlan> MakeUpPlan(const UpOptions& options);

// "ready: 2 nodes, 2 cores, 23 GiB — submit with: muster submit --wrap hostname".
std::string ReadyLine(const std::vector<NodeView>& nodes);

}  // namespace muster::cli
