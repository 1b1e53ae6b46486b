// The jobs that a history submits.
#include <chrono>

#include "tests/unit/scheduler/core/history.h"

namespace muster::core::testing {

ResourceRequest History::AnyRequest() {
  ResourceRequest request;
  request.tasks = Number(0, 6);
  request.cpus_per_task = Number(1, 3);
  request.min_nodes = Chance(30) ? Number(1, 3) : 0;
  request.tasks_per_node = Chance(20) ? Number(1, 3) : 0;
  if (Chance(25)) {
    (Chance(50) ? request.memory_per_node : request.memory_per_cpu) = kGibibyte * Number(1, 4);
  }
  if (Chance(25)) {
    (Chance(50) ? request.gpus_per_task : request.gpus).count = Number(1, 2);
  } else if (Chance(20)) {
    request.gpu_share = GpuShare(Number(1, 9) * 100);
    request.gpus_per_node.count = Chance(30) ? 1 : 0;
  }
  if (Chance(10)) {
    request.layout = RankLayout{.tasks_per_socket = Number(0, 2), .threads_per_core = Number(0, 1)};
  }
  request.exclusive = Chance(8);
  request.exclusive_user = Chance(10);
  request.gpu_occupied = Chance(30);
  request.overcommit = Chance(8);
  if (config_.network != nullptr && Chance(20)) {
    request.switches = Number(1, 2);
    request.switches_wait = std::chrono::seconds(Number(0, 60));
  }
  if (config_.network != nullptr && request.min_nodes == 2 && request.nodelist.empty() &&
      request.constraint.counts.empty() && Chance(40)) {
    request.segment = 2;
  }
  return request;
}

JobSpec History::AnySpec() {
  JobSpec spec;
  spec.user = Chance(70) ? User{1000, 1000, "ada"} : User{1001, 1001, "bob"};
  spec.request = AnyRequest();
  spec.kind = Chance(25) ? JobKind::kRun : JobKind::kBatch;
  spec.nice = static_cast<std::int32_t>(Number(0, 2));
  spec.held = Chance(5);
  spec.account = Chance(30) ? "theory" : Chance(30) ? "physics" : "";
  spec.time_limit = std::chrono::minutes(Chance(40) ? Number(1, 90) : 0);
  if (Chance(10)) {
    spec.begin = now_ + std::chrono::seconds(Number(0, 60));
  }
  if (spec.kind == JobKind::kBatch && Chance(20)) {
    spec.array = ArraySpec{{{Number(0, 3), Number(3, 8), Number(1, 3)}}, Number(0, 2)};
  }
  spec.qos = Chance(10) ? "high" : Chance(15) ? "low" : "";
  spec.requeue = Chance(20) ? Choice::kNo : Choice::kUnsaid;
  if (Chance(10)) {
    spec.request = ResourceRequest();
    spec.request.min_nodes = Number(1, 2);
    spec.request.max_nodes = spec.request.min_nodes + Number(0, 3);
  }
  if (Chance(10)) {
    spec.alternatives = {{spec.request, spec.time_limit},
                         {AnyRequest(), std::chrono::minutes(Number(0, 60))}};
  }
  if (Chance(25)) {
    spec.container.image = "app@sha256:" + std::string(64, Chance(50) ? 'a' : 'b');
  }
  return spec;
}

}  // namespace muster::core::testing
