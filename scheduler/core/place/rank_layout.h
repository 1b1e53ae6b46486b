#pragma once

// Ranks as the job asked to have them: dealt to nodes and sockets, bound, and numbered by the
// groups in which they work together.
//
// The last step of a placement: which cores and GPUs the job has on its nodes is settled by then.
// With --parallel the ranks of a tensor-parallel group have neighbouring GPUs, those joined best;
// beside one another lie the groups of a context, then the replicas that share experts or a copy of
// the weights, then the stages of a pipeline, leaf switch by leaf switch; numbers are RankOfGroups'
// (model/job/rank_layout.h). With --grid neighbours on the grid are near (grid_numbers.h), and the
// allocation has the grid. Invariants: (1) a rank's threads and memory nodes stay within its
// node's part; (2) ranks are numbered 0..n-1 over the allocation, ascending on each node; (3) rank
// 0 is on the first node; (4) without a layout only the NICs, what they see, and the numbers where
// the job lies in segments are new.

#include <functional>

#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/machine/allocation.h"
#include "scheduler/model/machine/machine.h"

namespace muster::core {

// `machine_of` and `leaf_of` are asked by position in the allocation; leaves are any numbers, equal
// for nodes on one leaf switch.
void LayOutRanks(const ResourceRequest& request,
                 const std::function<const Machine&(std::size_t)>& machine_of,
                 const std::function<std::uint32_t(std::size_t)>& leaf_of, Allocation& allocation);

// What a rank sees of its node's devices: its GPUs as --gpu-bind says, its own alone where GPUs
// were asked for by the task, and its NIC (core/place/locality). For code that changes ranks or
// GPUs of a part after LayOutRanks, which does this itself.
void GiveDevices(const ResourceRequest& request, const Machine& machine, NodeAllocation& part);

}  // namespace muster::core
