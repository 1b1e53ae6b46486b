#include "agent/supervisor/order_file.h"

#include "absl/strings/str_cat.h"
#include "proto/convert/convert.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster {

absl::Status WriteOrder(const std::string& path, const SupervisorOrder& order) {
  wire::SupervisorOrder message;
  ToWire(order.launch, message.mutable_launch());
  ToWire(order.machine, message.mutable_machine());
  message.set_node_name(order.node_name);
  message.set_doorbell(order.doorbell);
  message.set_module_dir(order.module_dir);
  message.set_cgroup(order.cgroup);
  message.set_controller(order.controller);
  return WriteFileAtomically(path, message.SerializeAsString());
}

absl::StatusOr<SupervisorOrder> ReadOrder(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  wire::SupervisorOrder message;
  if (!message.ParseFromString(bytes)) {
    return absl::DataLossError(absl::StrCat(path, ": not a supervisor's order"));
  }
  SupervisorOrder order;
  RETURN_IF_ERROR(FromWire(message.launch(), &order.launch));
  RETURN_IF_ERROR(FromWire(message.machine(), &order.machine));
  order.node_name = message.node_name();
  order.doorbell = message.doorbell();
  order.module_dir = message.module_dir();
  order.cgroup = message.cgroup();
  order.controller = message.controller();
  return order;
}

}  // namespace muster
