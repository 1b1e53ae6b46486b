#include "agent/supervisor/rehearsal.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "agent/supervisor/attempt/order_file.h"
#include "proto/convert/job.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {
namespace {

template <class T>
void FillWithOne(T& value);

template <class T>
void FillItem(std::vector<T>& value) {
  value.emplace_back();
  if constexpr (Described<T>) {
    FillWithOne(value.back());
  }
}
template <class T>
void FillItem(std::optional<T>& value) {
  FillWithOne(value.emplace());
}
template <class T>
void FillItem(std::shared_ptr<const T>& value) {
  auto held = std::make_shared<T>();
  FillWithOne(*held);
  value = std::move(held);
}
template <class T>
void FillItem(T& value) {
  if constexpr (Described<T>) {
    FillWithOne(value);
  }
}

// Gives each list one entry and each absent value its default, all the way down.
template <class T>
void FillWithOne(T& value) {
  if constexpr (Described<T>) {
    ForEachField(value, [](const char*, auto& member) { FillItem(member); });
  }
}

template <class FactKind>
void RehearseReport() {
  FactKind fact;
  FillWithOne(fact);
  wire::Report message;
  ToWire(Report{JobId(1), AttemptNumber(1), 1, std::move(fact)}, &message);
  message.SerializeAsString();
}

}  // namespace

absl::Status Rehearse() {
  SupervisorOrder order;
  FillWithOne(order.launch);
  FillWithOne(order.machine);
  RETURN_IF_ERROR(DecodeOrder(EncodeOrder(order)).status());
  RehearseReport<RunStarted>();
  RehearseReport<BindingRead>();
  RehearseReport<StepEnded>();
  RehearseReport<RunEnded>();
  RETURN_IF_ERROR(EventLoop::Create().status());
  return ReadIdentity(getpid()).status();
}

}  // namespace muster::agent
