// Small worlds, enumerated whole: a brute-force search over all assignments of cores says whether
// the first job of the queue can start, and the planner must agree.
#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/scheduler/core/builders.h"

namespace muster::core {
namespace {

using testing::Asks;
using testing::MakeNode;
using testing::Normal;

// Cores, memory and GPUs that are free on a node, as plain numbers.
struct Left {
  std::uint32_t cores = 0;
  std::uint32_t memory = 0;  // GiB
  std::uint32_t gpus = 0;
  bool idle = true;
};

// Whether k tasks of the request fit what is left, by the words of the manual only.
bool Holds(const Left& left, const ResourceRequest& request, std::uint32_t k) {
  if (k == 0 || (request.exclusive && !left.idle)) {
    return false;
  }
  if (request.tasks_per_node > 0 && k > request.tasks_per_node) {
    return false;
  }
  const std::uint32_t cores = request.cpus_per_task * (request.overcommit ? 1 : k);
  const auto per_cpu = static_cast<std::uint32_t>(request.memory_per_cpu.value() >> 30U);
  const std::uint32_t gpus = request.gpus_per_task.count * k + request.gpus_per_node.count;
  return cores <= left.cores && per_cpu * request.cpus_per_task * k <= left.memory &&
         gpus <= left.gpus;
}

// Tries every way to split the tasks over the nodes.
bool CanStart(const std::vector<Left>& nodes, const ResourceRequest& request, std::size_t next = 0,
              std::uint32_t placed = 0, std::uint32_t used = 0) {
  if (next == nodes.size()) {
    return placed == request.tasks && used >= request.min_nodes && used <= request.max_nodes;
  }
  for (std::uint32_t k = 0; placed + k <= request.tasks; ++k) {
    if (k > 0 && !Holds(nodes[next], request, k)) {
      continue;
    }
    if (CanStart(nodes, request, next + 1, placed + k, used + (k > 0 ? 1 : 0))) {
      return true;
    }
  }
  return false;
}

// Every request of a small range that passes Normalise.
std::vector<ResourceRequest> Requests() {
  std::vector<ResourceRequest> requests;
  for (std::uint32_t bits = 0; bits < 4 * 3 * 3 * 3 * 2 * 3 * 3; ++bits) {
    std::uint32_t rest = bits;
    const auto digit = [&rest](std::uint32_t base) {
      const std::uint32_t value = rest % base;
      rest /= base;
      return value;
    };
    ResourceRequest request;
    request.tasks = digit(4);
    request.cpus_per_task = digit(3) + 1;
    request.min_nodes = digit(3);
    request.tasks_per_node = digit(3);
    request.memory_per_cpu = kGibibyte * (digit(2) + 1);
    const std::uint32_t gpus = digit(3);
    request.gpus_per_task.count = gpus == 1 ? 1 : 0;
    request.gpus_per_node.count = gpus == 2 ? 1 : 0;
    const std::uint32_t flags = digit(3);
    request.exclusive = flags == 1;
    request.overcommit = flags == 2;
    JobSpec spec;
    spec.request = request;
    if (Normalise(spec, SchedulerConfig()).ok()) {
      requests.push_back(Asks(request));
    }
  }
  return requests;
}

// A node with 1-3 cores, of which some are taken; 1 GiB a core; 0 or 1 GPU.
struct Made {
  NodeSnapshot node_snapshot;
  Left left;
};

Made MakeSmall(std::uint32_t id, std::uint32_t cores, std::uint32_t taken, std::uint32_t gpus) {
  Made made;
  made.node_snapshot =
      MakeNode(id, {.cores = cores, .gpus = gpus, .memory = kGibibyte * 2 * cores});
  for (std::uint32_t cpu = 0; cpu < taken; ++cpu) {
    made.node_snapshot.taken.cpus.Insert(cpu);
  }
  made.node_snapshot.taken.memory = kGibibyte * 2 * taken;
  made.left = Left{cores - taken, 2 * (cores - taken), gpus, taken == 0};
  return made;
}

std::vector<Made> SmallNodes(std::uint32_t id) {
  std::vector<Made> nodes;
  for (std::uint32_t cores = 1; cores <= 3; ++cores) {
    for (std::uint32_t taken = 0; taken <= cores; ++taken) {
      nodes.push_back(MakeSmall(id, cores, taken, (cores + taken) % 2));
    }
  }
  return nodes;
}

Snapshot WorldOf(const std::vector<Made>& nodes, const std::vector<ResourceRequest>& queue) {
  Snapshot snapshot;
  for (const Made& node : nodes) {
    snapshot.nodes.push_back(node.node_snapshot);
  }
  for (const ResourceRequest& request : queue) {
    WaitingJob job;
    job.id = JobId(snapshot.waiting.size() + 1);
    job.submission = job.id;
    JobSpec spec;
    spec.request = request;
    job.spec = std::make_shared<const JobSpec>(std::move(spec));
    snapshot.waiting.push_back(std::move(job));
  }
  return snapshot;
}

void ExpectHeadAgrees(const std::vector<Made>& nodes, const ResourceRequest& request) {
  std::vector<Left> left;
  std::vector<Left> empty;
  for (const Made& node : nodes) {
    left.push_back(node.left);
    const auto cores = static_cast<std::uint32_t>(node.node_snapshot.machine->cores.size());
    empty.push_back(Left{cores, 2 * cores, node.left.gpus, true});
  }
  const Plan plan = MakePlan(WorldOf(nodes, {request}), SchedulerConfig());
  const bool starts = CanStart(left, request);
  ASSERT_EQ(plan.starts.size(), starts ? 1U : 0U)
      << "tasks " << request.tasks << " cpus " << request.cpus_per_task << " nodes "
      << request.min_nodes << "-" << request.max_nodes
      << (plan.waiting.empty() ? "" : ToSentence(plan.waiting[0].reason));
  if (!starts) {
    const Reason& reason = plan.waiting.at(0).reason;
    ASSERT_EQ(reason.kind,
              CanStart(empty, request) ? ReasonKind::kResources : ReasonKind::kBadConstraints)
        << ToSentence(reason);
    ASSERT_FALSE(reason.shortages.empty());
  }
}

TEST(SmallWorlds, TheHeadOfTheQueueStartsOnOneNodeExactlyWhenItCan) {
  const std::vector<ResourceRequest> requests = Requests();
  ASSERT_GT(requests.size(), 500U);
  for (const Made& node : SmallNodes(1)) {
    for (const ResourceRequest& request : requests) {
      ASSERT_NO_FATAL_FAILURE(ExpectHeadAgrees({node}, request));
    }
  }
}

TEST(SmallWorlds, TheHeadOfTheQueueStartsOnTwoNodesExactlyWhenItCan) {
  const std::vector<ResourceRequest> requests = Requests();
  for (const Made& first : SmallNodes(1)) {
    for (const Made& second : SmallNodes(2)) {
      for (std::size_t i = 0; i < requests.size(); i += 7) {
        ASSERT_NO_FATAL_FAILURE(ExpectHeadAgrees({first, second}, requests[i]));
      }
    }
  }
}

// With plain jobs of n tasks on single-core tasks the answer for a whole queue is easy to say: jobs
// start in order until one that could run on the empty cluster does not fit; nothing starts behind.
TEST(SmallWorlds, AQueueOfThreeStartsInOrderUpToTheFirstThatMustWait) {
  for (std::uint32_t code = 0; code < 6 * 6 * 6 * 4 * 4; ++code) {
    std::uint32_t rest = code;
    std::vector<std::uint32_t> tasks;
    for (int i = 0; i < 3; ++i) {
      tasks.push_back(rest % 6 + 1);
      rest /= 6;
    }
    const std::uint32_t taken_a = rest % 4;
    const std::uint32_t taken_b = rest / 4;
    const std::vector<Made> nodes = {MakeSmall(1, 3, std::min(taken_a, 3U), 0),
                                     MakeSmall(2, 2, std::min(taken_b, 2U), 0)};
    std::vector<ResourceRequest> queue;
    for (const std::uint32_t n : tasks) {
      queue.push_back(Asks(testing::Tasks(n)));
    }
    std::uint32_t free = nodes[0].left.cores + nodes[1].left.cores;
    std::vector<JobId> expected;
    for (std::size_t i = 0; i < 3; ++i) {
      if (tasks[i] > 5) {
        continue;  // never fits: it waits, and nobody waits for it
      }
      if (tasks[i] > free) {
        break;
      }
      free -= tasks[i];
      expected.push_back(JobId(i + 1));
    }
    std::vector<JobId> started;
    SchedulerConfig in_order;
    in_order.backfill = Backfill::kNone;
    for (const PlannedStart& start : MakePlan(WorldOf(nodes, queue), in_order).starts) {
      started.push_back(start.job);
    }
    ASSERT_EQ(started, expected) << code;
  }
}

// Takes the first component out of the nodes in every way that holds it, then asks for the second.
bool CanStartBoth(std::vector<Left> nodes, const ResourceRequest& first,
                  const ResourceRequest& second, std::size_t next = 0, std::uint32_t placed = 0,
                  std::uint32_t used = 0) {
  if (next == nodes.size()) {
    return placed == first.tasks && used <= first.max_nodes && CanStart(nodes, second);
  }
  for (std::uint32_t k = 0; placed + k <= first.tasks && k <= nodes[next].cores; ++k) {
    std::vector<Left> after = nodes;
    after[next].cores -= k;
    after[next].memory -= k;
    if (CanStartBoth(after, first, second, next + 1, placed + k, used + (k > 0 ? 1 : 0))) {
      return true;
    }
  }
  return false;
}

TEST(SmallWorlds, AGroupOfTwoStartsExactlyWhenBothFitBesideOneAnother) {
  const auto request_of = [](std::uint32_t code) {
    ResourceRequest request = testing::Tasks(code % 4 + 1);
    request.max_nodes = code < 4 ? 1 : 0;
    request.min_nodes = code < 4 ? 1 : 0;
    return Asks(request);
  };
  for (std::uint32_t code = 0; code < 8 * 8 * 4 * 4; ++code) {
    const ResourceRequest first = request_of(code % 8);
    const ResourceRequest second = request_of(code / 8 % 8);
    const std::vector<Made> nodes = {MakeSmall(1, 3, code / 64 % 4, 0),
                                     MakeSmall(2, 3, code / 256, 0)};
    Snapshot snapshot = WorldOf(nodes, {first, second});
    for (WaitingJob& job : snapshot.waiting) {
      job.submission = JobId(1);
      job.het_size = 2;
    }
    const bool starts = CanStartBoth({nodes[0].left, nodes[1].left}, first, second);
    const Plan plan = MakePlan(snapshot, SchedulerConfig());
    ASSERT_EQ(plan.starts.size(), starts ? 2U : 0U) << code;
    ASSERT_EQ(plan.waiting.size(), starts ? 0U : 2U) << code;
  }
}

}  // namespace
}  // namespace muster::core
