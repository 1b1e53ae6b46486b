#include "scheduler/simulator/workload/wishes.h"

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "scheduler/simulator/workload/draws.h"

namespace muster::sim {
namespace {

std::uint32_t UpTo(RandomSequence& random, std::uint32_t most) {
  return static_cast<std::uint32_t>(1 + random.Below(std::max(most, 1U)));
}

Duration Seconds(RandomSequence& random, std::uint32_t most) {
  return std::chrono::seconds(UpTo(random, most));
}

const std::string& OneOf(RandomSequence& random, const std::vector<std::string>& names) {
  return names[random.Below(names.size())];
}

User DrawUser(RandomSequence& random) {
  static const std::vector<std::string> kNames = {"ada", "bob", "cleo"};
  const std::uint64_t drawn = random.Below(kNames.size());
  const auto uid = static_cast<std::uint32_t>(1000 + drawn);
  return User{uid, uid, kNames[drawn]};
}

void AddMemory(const WishList& list, RandomSequence& random, ResourceRequest* request) {
  if (Chance(random, 500)) {
    request->memory_per_node = Bytes(list.memory_per_node.value() / UpTo(random, 4));
  } else {
    request->memory_per_cpu =
        Bytes(list.memory_per_node.value() / (std::uint64_t{2} * list.cpus_per_node));
  }
}

// Tasks that need not be the same number on each node.
void AddTasks(const WishList& list, RandomSequence& random, ResourceRequest* request) {
  request->tasks_per_node = 0;
  request->cpus_per_task = UpTo(random, 2);
  request->tasks = request->min_nodes + static_cast<std::uint32_t>(random.Below(3));
  request->max_nodes = Chance(random, 500) ? request->min_nodes
                                           : std::max(request->min_nodes, UpTo(random, list.nodes));
}

void AddGpus(const WishList& list, RandomSequence& random, JobSpec* spec) {
  ResourceRequest& request = spec->request;
  request.gpus_per_node.count = 0;
  switch (random.Below(4)) {
    case 0:
      request.gpus.count = UpTo(random, list.gpus_per_node * request.min_nodes);
      break;
    case 1:
      request.gpus_per_task.count = 1;
      request.own_gpus = true;
      break;
    case 2:
      request.gpus_per_node.count = UpTo(random, list.gpus_per_node);
      break;
    default:  // a part of one
      request.min_nodes = request.max_nodes = request.tasks = 1;
      request.tasks_per_node = 0;
      request.gpus.count = 1;
      request.gpu_share = GpuShare(static_cast<std::uint32_t>(100 * UpTo(random, 9)));
  }
}

void AddPlaces(const WishList& list, RandomSequence& random, ResourceRequest* request) {
  const auto node = [&] { return absl::StrCat("node", UpTo(random, list.nodes)); };
  switch (random.Below(5)) {
    case 0:
      request->nodelist = {node()};
      break;
    case 1:
      request->exclude = {node()};
      break;
    case 2:
      request->exclusive = true;
      break;
    case 3:
      request->exclusive_user = true;
      break;
    default:
      request->overcommit = true;
  }
}

void AddAlternatives(RandomSequence& random, JobSpec* spec) {
  Alternative first{spec->request, spec->time_limit};
  Alternative other = first;
  other.request.min_nodes = other.request.max_nodes = 1;
  other.request.tasks = 1;
  other.request.tasks_per_node = 0;
  other.request.gpus = other.request.gpus_per_node = other.request.gpus_per_task = {};
  other.request.gpu_share = {};
  other.time_limit = Seconds(random, 60);
  spec->alternatives = {first, other};
}

void AddTimes(Time now, RandomSequence& random, JobSpec* spec) {
  switch (random.Below(4)) {
    case 0:
      spec->time_limit = Seconds(random, 60);
      spec->time_min = spec->time_limit / 2;
      break;
    case 1:
      spec->time_limit = Seconds(random, 30);
      spec->deadline = now + spec->time_limit + Seconds(random, 120);
      break;
    case 2:
      spec->nice = static_cast<std::int32_t>(random.Below(2000)) - 1000;
      break;
    default:
      spec->time_limit = Seconds(random, 60);
      spec->warning.signal = 10;
      spec->warning.before = Seconds(random, 20);
  }
}

}  // namespace

void AddWishes(const WishList& list, Time now, RandomSequence& random, JobSpec* spec) {
  spec->user = DrawUser(random);
  ResourceRequest& request = spec->request;
  if (!spec->elastic && Chance(random, 300)) {
    AddTasks(list, random, &request);
  }
  if (!spec->elastic && Chance(random, 100)) {  // as wide as fits
    request.tasks = 0;
    request.min_nodes = 1;
    request.max_nodes = list.nodes;
  }
  if (Chance(random, 300)) {
    AddMemory(list, random, &request);
  }
  if (!spec->elastic && list.gpus_per_node > 0 && Chance(random, 400)) {
    AddGpus(list, random, spec);
  }
  if (Chance(random, 200)) {
    AddPlaces(list, random, &request);
  }
  if (Chance(random, 300)) {
    AddTimes(now, random, spec);
  }
  if (!spec->elastic && !spec->array.has_value() && Chance(random, 100)) {
    AddAlternatives(random, spec);
  }
  if (!list.licenses.empty() && Chance(random, 200)) {
    spec->licenses = {LicenseCount{OneOf(random, list.licenses), UpTo(random, 2)}};
  }
  if (!list.accounts.empty() && Chance(random, 700)) {
    spec->account = OneOf(random, list.accounts);
  }
  if (!list.partitions.empty() && Chance(random, 500)) {
    spec->partition = OneOf(random, list.partitions);
  }
  if (!list.qos.empty() && Chance(random, 300)) {
    spec->qos = OneOf(random, list.qos);
  }
  spec->requeue = Chance(random, 200) ? Choice::kYes : Choice::kUnsaid;
  spec->no_kill = Chance(random, 100);
}

Dependency DrawDependency(const std::vector<JobId>& jobs, RandomSequence& random) {
  constexpr DependencyKind kKinds[] = {DependencyKind::kAfter, DependencyKind::kAfterAny,
                                       DependencyKind::kAfterOk, DependencyKind::kAfterNotOk};
  Dependency dependency;
  if (Chance(random, 100)) {
    DependencyTerm alone;
    alone.kind = DependencyKind::kSingleton;
    dependency.terms = {alone};
    return dependency;
  }
  const std::uint32_t terms = UpTo(random, 2);
  for (std::uint32_t i = 0; i < terms; ++i) {
    DependencyTerm term;
    term.kind = kKinds[random.Below(std::size(kKinds))];
    term.job = jobs[random.Below(jobs.size())];
    term.delay = term.kind == DependencyKind::kAfter && Chance(random, 300) ? Seconds(random, 30)
                                                                            : Duration(0);
    dependency.terms.push_back(term);
  }
  dependency.any = terms > 1 && Chance(random, 500);
  return dependency;
}

}  // namespace muster::sim
