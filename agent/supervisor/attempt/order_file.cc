#include "agent/supervisor/attempt/order_file.h"

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "proto/convert/convert.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

void ToWire(const NodeLimits& limits, wire::NodeLimits* message) {
  message->mutable_held()->Assign(limits.set.held.begin(), limits.set.held.end());
  for (const MissingLimit& missing : limits.set.missing) {
    wire::MissingLimit* const entry = message->add_missing();
    entry->set_what(missing.what);
    entry->set_why(missing.why);
  }
  message->set_pids(limits.pids);
  message->set_memory_high(limits.memory_high);
  for (const topology::DeviceNodes& nodes : limits.devices) {
    wire::DeviceNodes* const entry = message->add_devices();
    entry->set_major(nodes.major);
    entry->set_first_minor(nodes.first_minor);
    entry->set_last_minor(nodes.last_minor);
    entry->mutable_gpus()->Assign(nodes.gpus.begin(), nodes.gpus.end());
  }
}

NodeLimits FromWire(const wire::NodeLimits& message) {
  NodeLimits limits;
  limits.set.held.assign(message.held().begin(), message.held().end());
  for (const wire::MissingLimit& missing : message.missing()) {
    limits.set.missing.push_back({missing.what(), missing.why()});
  }
  limits.pids = message.pids();
  limits.memory_high = message.memory_high();
  for (const wire::DeviceNodes& nodes : message.devices()) {
    limits.devices.push_back({nodes.major(),
                              nodes.first_minor(),
                              nodes.last_minor(),
                              {nodes.gpus().begin(), nodes.gpus().end()}});
  }
  return limits;
}

void ToWire(const SiteScript& script, wire::SiteScript* message) {
  message->set_program(script.program);
  message->set_as_user(script.as_user);
  message->set_time_limit(script.time_limit.count());
}

SiteScript FromWire(const wire::SiteScript& message) {
  return {message.program(), message.as_user(), Duration(message.time_limit())};
}

void ToWire(const SiteScripts& scripts, wire::SiteScripts* message) {
  ToWire(scripts.prolog, message->mutable_prolog());
  ToWire(scripts.epilog, message->mutable_epilog());
  ToWire(scripts.step_prolog, message->mutable_step_prolog());
  ToWire(scripts.step_epilog, message->mutable_step_epilog());
}

SiteScripts FromWire(const wire::SiteScripts& message) {
  return {FromWire(message.prolog()), FromWire(message.epilog()), FromWire(message.step_prolog()),
          FromWire(message.step_epilog())};
}

}  // namespace

std::string EncodeOrder(const SupervisorOrder& order) {
  wire::SupervisorOrder message;
  ToWire(order.launch, message.mutable_launch());
  ToWire(order.machine, message.mutable_machine());
  message.set_node_name(order.node_name);
  message.set_doorbell(order.agent_socket);
  message.set_module_dir(order.module_dir);
  message.set_cgroup(order.cgroup);
  message.set_pmix_patterns(order.pmix_patterns);
  message.set_controller(order.controller);
  ToWire(order.limits, message.mutable_limits());
  ToWire(order.scripts, message.mutable_scripts());
  message.set_private_tmp(order.private_tmp);
  message.set_lease_until(order.lease_until_ms);
  return message.SerializeAsString();
}

absl::StatusOr<SupervisorOrder> DecodeOrder(std::string_view bytes) {
  wire::SupervisorOrder message;
  if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::DataLossError("not a supervisor's order");
  }
  SupervisorOrder order;
  RETURN_IF_ERROR(FromWire(message.launch(), &order.launch));
  RETURN_IF_ERROR(FromWire(message.machine(), &order.machine));
  order.node_name = message.node_name();
  order.agent_socket = message.doorbell();
  order.module_dir = message.module_dir();
  order.cgroup = message.cgroup();
  order.pmix_patterns = message.pmix_patterns();
  order.controller = message.controller();
  order.limits = FromWire(message.limits());
  order.scripts = FromWire(message.scripts());
  order.private_tmp = message.private_tmp();
  order.lease_until_ms = message.lease_until();
  return order;
}

absl::Status WriteOrder(const std::string& path, const SupervisorOrder& order) {
  return ReplaceFile(path, EncodeOrder(order));
}

absl::StatusOr<SupervisorOrder> ReadOrder(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  absl::StatusOr<SupervisorOrder> order = DecodeOrder(bytes);
  return order.ok() ? std::move(order)
                    : absl::Status(order.status().code(),
                                   absl::StrCat(path, ": ", std::string(order.status().message())));
}

}  // namespace muster::agent
