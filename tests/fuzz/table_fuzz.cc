// Tables of jobs and of nodes (sacct's dumps, GPU traces): whatever the bytes, the readers end, say
// what is wrong in one line, and what they accept is sound.

#include "scheduler/simulator/readers/node_list.h"
#include "tests/fuzz/trace_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::FileOfBytes file(data, size);
  if (!file.good()) {
    return 1;
  }
  const absl::StatusOr<muster::sim::TraceNodes> nodes = muster::sim::ReadNodeList(file.path());
  const bool listed = !nodes.ok() || (nodes->nodes >= 0 && nodes->cpus >= 0 && nodes->gpus >= 0);
  const bool holds = muster::fuzz::TraceHolds({.path = file.path(),
                                               .format = {},
                                               .unit = muster::sim::TraceUnit::kUsual,
                                               .lenient = size % 2 == 0});
  return listed && holds ? 0 : 1;
}
