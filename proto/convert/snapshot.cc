#include "proto/convert/snapshot.h"

#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/convert/codec.h"
#include "proto/convert/through_bytes.h"

namespace muster {

void ToWire(const Snapshot& value, wire::Snapshot* message) {
  convert::WriteThroughBytes(value, message);
  std::map<const Machine*, std::uint32_t> known;
  for (std::size_t i = 0; i < value.nodes.size(); ++i) {
    const Machine& machine = *value.nodes[i].machine;
    const auto [at, is_new] = known.try_emplace(&machine, static_cast<std::uint32_t>(known.size()));
    if (is_new) {
      convert::WriteThroughBytes(machine, message->add_machines());
    }
    message->mutable_nodes(static_cast<int>(i))->set_machine_at(at->second);
  }
}

absl::Status FromWire(const wire::Snapshot& message, Snapshot* value) {
  RETURN_IF_ERROR(convert::ReadThroughBytes(message, value));
  std::vector<std::shared_ptr<const Machine>> machines;
  for (const wire::Machine& wire : message.machines()) {
    auto machine = std::make_shared<Machine>();
    RETURN_IF_ERROR(convert::ReadThroughBytes(wire, machine.get()));
    machines.push_back(std::move(machine));
  }
  for (std::size_t i = 0; i < value->nodes.size(); ++i) {
    const std::uint32_t at = message.nodes(static_cast<int>(i)).machine_at();
    if (at >= machines.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("node ", value->nodes[i].name, ": machine ", at, " of ", machines.size()));
    }
    value->nodes[i].machine = machines[at];
  }
  return absl::OkStatus();
}

void ToWire(const ReplayBundle& value, wire::ReplayBundle* message) {
  message->set_program(value.program);
  ToWire(value.snapshot, message->mutable_snapshot());
  convert::WriteThroughBytes(value.config, message->mutable_config());
  convert::WriteThroughBytes(value.plan, message->mutable_plan());
  for (const OverlookedJob& job : value.overlooked) {
    convert::WriteThroughBytes(job, message->add_overlooked());
  }
}

absl::Status FromWire(const wire::ReplayBundle& message, ReplayBundle* value) {
  value->program = message.program();
  RETURN_IF_ERROR(FromWire(message.snapshot(), &value->snapshot));
  RETURN_IF_ERROR(convert::ReadThroughBytes(message.config(), &value->config));
  RETURN_IF_ERROR(convert::ReadThroughBytes(message.plan(), &value->plan));
  value->overlooked.clear();
  for (const wire::OverlookedJob& job : message.overlooked()) {
    RETURN_IF_ERROR(convert::ReadThroughBytes(job, &value->overlooked.emplace_back()));
  }
  return absl::OkStatus();
}

}  // namespace muster
