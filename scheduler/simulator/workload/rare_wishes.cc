#include "scheduler/simulator/workload/rare_wishes.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/simulator/workload/draws.h"
#include "scheduler/simulator/workload/spoiling.h"

namespace muster::sim {
namespace {

constexpr const char* kFeatures[] = {"fast", "big", "ib", "old", "containers", "staging", "criu"};

FeatureToken DrawFeature(RandomSequence& random) {
  return FeatureToken{FeatureOp::kHas, kFeatures[random.Below(std::size(kFeatures))]};
}

// "a", "!a", "a&b", "a|b".
FeatureExpression DrawExpression(RandomSequence& random) {
  FeatureExpression expression{{DrawFeature(random)}};
  if (Chance(random, 300)) {
    expression.postfix.push_back(FeatureToken{FeatureOp::kNot, ""});
  }
  if (Chance(random, 500)) {
    expression.postfix.push_back(DrawFeature(random));
    expression.postfix.push_back(
        FeatureToken{OneOf(random, {FeatureOp::kAnd, FeatureOp::kOr}), ""});
  }
  return expression;
}

void AddFeatures(RandomSequence& random, JobSpec* spec) {
  switch (random.Below(4)) {
    case 0:
      spec->request.constraint.every = DrawExpression(random);
      break;
    case 1:
    case 2:
      for (std::uint32_t i = 0; i <= Draw(random, 2); ++i) {
        spec->request.constraint.counts.push_back(
            FeatureCount{DrawExpression(random), 1 + Draw(random, 2)});
      }
      break;
    default:
      spec->prefer.every = DrawExpression(random);
  }
}

// On nodes that lie near each other.
void AddNearness(const WishList& list, RandomSequence& random, ResourceRequest* request) {
  if (Chance(random, 500)) {
    request->switches = 1 + Draw(random, 2);
    request->switches_wait = Chance(random, 500) ? std::chrono::seconds(Draw(random, 60))
                                                 : Duration(std::chrono::hours(24));
  } else {
    request->segment = 1 + Draw(random, 3);
    request->min_nodes = request->segment * (1 + Draw(random, 2));
    request->max_nodes = request->min_nodes + Draw(random, 3);
    request->tasks = request->min_nodes * (1 + Draw(random, 2));
    request->tasks_per_node = 0;
  }
  if (Chance(random, 300)) {
    request->min_nodes = request->max_nodes = list.nodes;
    request->tasks = std::max(request->tasks, list.nodes);
  }
}

void AddGroups(RandomSequence& random, ResourceRequest* request) {
  RankLayout& layout = *request->layout;
  if (Chance(random, 500)) {
    layout.grid = {1 + Draw(random, 3), 1 + Draw(random, 3)};
    if (Chance(random, 300)) {
      layout.grid.push_back(2);
    }
    request->tasks = Chance(random, 900) ? static_cast<std::uint32_t>(RanksOfGrid(layout.grid)) : 5;
  } else {
    ParallelGroups& groups = layout.parallel;
    groups.tensor = OneOf(random, {1U, 1U, 2U});
    groups.context = OneOf(random, {1U, 1U, 2U});
    groups.pipeline = OneOf(random, {1U, 2U});
    groups.data = OneOf(random, {0U, 1U, 2U, 4U});
    groups.expert = OneOf(random, {1U, 1U, 2U});
    groups.shard = OneOf(random, {1U, 1U, 2U, 4U});
    const std::uint32_t replicas = std::max(groups.data, 1U);
    request->tasks = groups.tensor * groups.context * groups.pipeline * replicas;
  }
  request->tasks_per_node = 0;
  request->min_nodes = 0;
  request->max_nodes = 0;
  if (Chance(random, 500)) {
    request->gpus_per_task.count = 1;
    request->gpus = request->gpus_per_node = {};
  }
}

void AddBinding(RandomSequence& random, ResourceRequest* request) {
  RankLayout& layout = *request->layout;
  layout.nodes = static_cast<Dealing>(random.Below(4));
  layout.plane = layout.nodes == Dealing::kPlane ? Draw(random, 3) : 0;
  layout.sockets =
      OneOf(random, {Dealing::kUnsaid, Dealing::kBlock, Dealing::kCyclic, Dealing::kFcyclic});
  layout.cpu_bind = static_cast<CpuBind>(random.Below(9));
  if (layout.cpu_bind >= CpuBind::kMapCpu) {
    layout.cpu_list = {CpuSet::Of({Draw(random, 4)}), CpuSet::Of({Draw(random, 9)})};
    request->exclusive = request->exclusive || Chance(random, 900);
  }
  layout.mem_bind = static_cast<MemBind>(random.Below(6));
  if (layout.mem_bind >= MemBind::kMapMem) {
    layout.mem_list = {NumaSet::Of({Draw(random, 3)})};
    request->exclusive = request->exclusive || Chance(random, 900);
  }
  layout.cores_per_socket = Chance(random, 400) ? 1 + Draw(random, 3) : 0;
  layout.tasks_per_socket = Chance(random, 400) ? 1 + Draw(random, 2) : 0;
  layout.threads_per_core = Chance(random, 400) ? 1 + Draw(random, 2) : 0;
}

void AddGpuBinding(RandomSequence& random, RankLayout* layout) {
  layout->gpu_bind = static_cast<GpuBind>(random.Below(7));
  layout->gpu_bind_count = Draw(random, 3);
  if (layout->gpu_bind >= GpuBind::kMapGpu) {
    layout->gpu_list = {GpuSet::Of({0}), GpuSet::Of({Draw(random, 3)})};
  }
}

void AddLayout(RandomSequence& random, ResourceRequest* request) {
  request->layout.emplace();
  if (Chance(random, 500)) {
    AddGroups(random, request);
  }
  if (Chance(random, 600)) {
    AddBinding(random, request);
  }
  if (Chance(random, 400)) {
    AddGpuBinding(random, &*request->layout);
  }
}

// Of a kind that some machines have, by its model, its memory or its profile.
void AddGpuKind(const WishList& list, RandomSequence& random, JobSpec* spec) {
  ResourceRequest& request = spec->request;
  const std::string types[] = {"",      "",        "h100",    "h100",   "a40",
                               "mi210", "1g.10gb", "3g.40gb", "1g.20gb"};
  GpuRequest kind;
  kind.type = types[random.Below(std::size(types))];
  kind.count = 1 + Draw(random, list.gpus_per_node);
  kind.memory = Chance(random, 200) ? kGibibyte * 48 : Bytes();
  request.gpus = request.gpus_per_node = request.gpus_per_task = {};
  OneOf(random, {&request.gpus, &request.gpus_per_node, &request.gpus_per_task})[0] = kind;
  if (Chance(random, 300)) {
    request.gpu_share_memory = kGibibyte * (5 + Draw(random, 50));
    request.gpus = request.gpus_per_node = request.gpus_per_task = {};
    request.gpus_per_task = GpuRequest{kind.type, Draw(random, 2), {}};
  } else if (Chance(random, 300)) {
    request.gpus_per_node.count = std::min(request.gpus_per_node.count, 1U);
    request.gpus_per_task.count = std::min(request.gpus_per_task.count, 1U);
    request.gpu_share = GpuShare(OneOf(random, {250U, 500U, 1000U, 1500U}));
  }
  request.gpu_occupied = Chance(random, 200);
}

// What each of its nodes is to have.
void AddMachine(RandomSequence& random, ResourceRequest* request) {
  switch (random.Below(5)) {
    case 0:
      request->sockets_per_node = 1 + Draw(random, 3);
      break;
    case 1:
      request->min_cpus = 1 + Draw(random, 12);
      break;
    case 2:
      request->tmp = kGibibyte * (50 + Draw(random, 60));
      break;
    case 3:
      request->gres = {{"scratch", 1 + Draw(random, 5)}};
      break;
    default:
      request->gres = {{"hugepages-2M", 1 + Draw(random, 70)}, {"scratch", 1}};
  }
}

void AddProgramParts(RandomSequence& random, JobSpec* spec) {
  switch (random.Below(8)) {
    case 0:
    case 5:
    case 6:
      spec->container.image = OneOf(random, {"alpine:3.20", "/images/a.sqsh"});
      spec->node_data = {"/data/set"};
      break;
    case 1:
      spec->node_data = {OneOf<std::string>(random, {"/data/set", "s3:bucket/data", "/"})};
      break;
    case 2:
      spec->checkpoint_with = CheckpointMeans::kCriu;
      break;
    case 3:
      spec->record = {"git.commit=a1"};
      spec->recorded = {"mail-type=END"};
      break;
    default:
      spec->paths = {ChangedPath{"output", "out.txt"}};
  }
}

void AddEnds(Time now, RandomSequence& random, JobSpec* spec) {
  switch (random.Below(7)) {
    case 0:
      spec->every =
          OneOf(random, {"* * * * *", "*/2 * * * *;CET-1CEST,M3.5.0,M10.5.0/3", "0 0 30 2 *", "x"});
      break;
    case 1:
      spec->requeue = OneOf(random, {Choice::kYes, Choice::kNo});
      spec->requeue_exit = OneOf(random, {0U, 1U, 85U, 256U});
      break;
    case 2:
      spec->progress_timeout = std::chrono::seconds(20 + Draw(random, 20));
      break;
    case 3:
      spec->warning.signal = 10;
      spec->warning.automatic = true;
      spec->warning.batch = Chance(random, 500);
      break;
    case 4:
      spec->priority = Draw(random, 10'000);
      break;
    case 5:
      spec->held = true;
      break;
    default:
      spec->deadline = now + std::chrono::seconds(5 + Draw(random, 300));
      spec->reservation = absl::StrCat("reserved-", 1 + Draw(random, 6));
  }
}

// The other request is a wish of its own.
void AddOtherRequests(const WishList& list, Time now, RandomSequence& random, JobSpec* spec) {
  const std::uint32_t others = 1 + Draw(random, 2);
  spec->alternatives = {Alternative{spec->request, spec->time_limit}};
  for (std::uint32_t i = 0; i < others; ++i) {
    JobSpec other = *spec;
    other.alternatives.clear();
    AddRareWishes(list, now, random, &other);
    spec->alternatives.push_back(
        Alternative{other.request, std::chrono::seconds(Draw(random, 60))});
  }
}

constexpr const char* kOptions[] = {"account",
                                    "array-throttle",
                                    "constraint",
                                    "cpus-per-task",
                                    "every",
                                    "exclude",
                                    "exclusive",
                                    "gpus",
                                    "exclusive-user",
                                    "gpu-occupied",
                                    "gres",
                                    "licenses",
                                    "mem",
                                    "mincpus",
                                    "nodelist",
                                    "nodes",
                                    "ntasks",
                                    "partition",
                                    "ntasks-per-node",
                                    "overcommit",
                                    "paths",
                                    "prefer",
                                    "priority",
                                    "qos",
                                    "recorded",
                                    "requeue",
                                    "reservation",
                                    "switches",
                                    "sockets-per-node",
                                    "time-min",
                                    "tmp",
                                    "no-such-option"};

// One of what an update names by itself.
void ChangeTerm(const std::vector<JobId>& jobs, Time now, RandomSequence& random,
                JobUpdate* changed) {
  JobUpdate& update = *changed;
  switch (random.Below(8)) {
    case 0:
      update.name = "other";
      break;
    case 1:
      update.comment = "changed";
      break;
    case 2:
      update.time_limit = std::chrono::seconds(Draw(random, 200));
      break;
    case 3:
      update.nice = static_cast<std::int32_t>(random.Below(200)) - 100;
      break;
    case 4:
      update.begin = now + std::chrono::seconds(Draw(random, 60));
      break;
    case 5:
      update.deadline = now + std::chrono::seconds(Draw(random, 300));
      break;
    case 6:
      update.dependency =
          jobs.empty() || Chance(random, 300) ? Dependency() : DrawDependency(jobs, random);
      break;
    default:
      break;
  }
}

}  // namespace

void NameRareSite(WishList* list) {
  list->partitions.insert(list->partitions.end(), {"more", "all,more", "shut", "all,shut"});
  list->qos.insert(list->qos.end(), {"urgent", "night", "normal", "strict"});
  list->licenses.emplace_back("meshes");
}

std::vector<std::string> DrawFeatures(RandomSequence& random) {
  std::vector<std::string> features;
  for (const char* feature : kFeatures) {
    if (Chance(random, 500)) {
      features.emplace_back(feature);
    }
  }
  return features;
}

void AddRareWishes(const WishList& list, Time now, RandomSequence& random, JobSpec* spec) {
  ResourceRequest& request = spec->request;
  if (Chance(random, 200)) {
    AddFeatures(random, spec);
  }
  if (Chance(random, 150)) {
    AddNearness(list, random, &request);
  }
  if (Chance(random, 200)) {
    AddLayout(random, &request);
  }
  if (list.gpus_per_node > 0 && Chance(random, 250)) {
    AddGpuKind(list, random, spec);
  }
  if (Chance(random, 150)) {
    AddMachine(random, &request);
  }
  if (Chance(random, 150)) {
    AddProgramParts(random, spec);
  }
  if (Chance(random, 200)) {
    AddEnds(now, random, spec);
  }
  if (Chance(random, 80)) {
    spec->reservation = absl::StrCat("reserved-", 1 + Draw(random, 6));
    spec->time_limit = std::chrono::seconds(10 + Draw(random, 60));
  }
  if (spec->kind == JobKind::kBatch && !spec->array.has_value() && Chance(random, 150)) {
    spec->array = ArraySpec{{ArrayRange{0, Draw(random, 5), 1}}, Draw(random, 3)};
  }
  if (spec->alternatives.empty() && Chance(random, 60)) {
    AddOtherRequests(list, now, random, spec);
  }
  if (Chance(random, 60)) {
    SpoilOne(random, spec);
  }
}

void AddRareDependency(const std::vector<JobId>& jobs, RandomSequence& random, SubmitJob* submit) {
  Dependency& dependency = submit->spec.dependency;
  if (jobs.empty() || !Chance(random, 250)) {
    return;
  }
  dependency = DrawDependency(jobs, random);
  submit->spec.kill_on_invalid_dep = static_cast<Choice>(random.Below(3));
  for (DependencyTerm& term : dependency.terms) {
    if (term.kind != DependencyKind::kSingleton && Chance(random, 300)) {
      term.element = Draw(random, 5);
    } else if (term.kind == DependencyKind::kAfterOk && Chance(random, 500)) {
      term.kind = DependencyKind::kAfterCorr;
      submit->spec.array = ArraySpec{{ArrayRange{0, Draw(random, 4), 1}}, 0};
    }
  }
}

void AddComponents(const WishList& list, Time now, RandomSequence& random, SubmitJob* submit) {
  if (!Chance(random, 100)) {
    return;
  }
  const std::uint32_t count = 1 + Draw(random, 2);
  for (std::uint32_t i = 0; i < count; ++i) {
    Component component{submit->spec, submit->program};
    component.spec.request = {};
    component.spec.request.tasks = component.spec.request.min_nodes =
        component.spec.request.max_nodes = 1 + Draw(random, 2);
    component.spec.request.tasks_per_node = 1;
    if (Chance(random, 500)) {
      AddWishes(list, now, random, &component.spec);
    }
    component.spec.alternatives.clear();
    submit->components.push_back(std::move(component));
  }
  submit->spec.array = Chance(random, 50) ? submit->spec.array : std::nullopt;
  submit->spec.elastic = submit->spec.elastic && Chance(random, 50);
  submit->spec.replace_wait = submit->spec.elastic ? submit->spec.replace_wait : Duration(0);
  if (!Chance(random, 50)) {
    submit->spec.alternatives.clear();
    submit->spec.every.clear();
  }
}

StepSpec DrawStep(const WishList& list, RandomSequence& random) {
  StepSpec step;
  step.tasks = Draw(random, 5);
  step.cpus_per_task = Draw(random, 3);
  step.nodes = Chance(random, 300) ? 1 + Draw(random, 3) : 0;
  step.overcommit = Chance(random, 150);
  step.overlap = Chance(random, 200);
  step.immediate = Chance(random, 150);
  step.no_gpus = Chance(random, 100);
  if (Chance(random, 250)) {
    ResourceRequest request;
    AddLayout(random, &request);
    step.layout = request.layout;
    step.tasks = Chance(random, 700) && request.tasks > 0 ? request.tasks : step.tasks;
  }
  if (Chance(random, 200)) {
    step.gpus.count = 1 + Draw(random, list.gpus_per_node);
  } else if (Chance(random, 200)) {
    step.gpus_per_task.count = 1 + Draw(random, 2);
    step.gpus_per_task.type = OneOf(random, {"", "", "h100", "none"});
  }
  if (Chance(random, 150)) {
    step.memory_per_node = kGibibyte * (1 + Draw(random, 20));
  }
  if (Chance(random, 150)) {
    step.nodelist = {absl::StrCat("node", 1 + Draw(random, list.nodes))};
  }
  if (Chance(random, 50)) {
    SpoilOne(random, &step);
  }
  return step;
}

StepIo DrawStepIo(RandomSequence& random) {
  return StepIo{OneOf<std::string>(random, {"", "unix:/tmp/x", "127.0.0.1:7000", "x"}),
                Chance(random, 800) ? std::string(32, 'a') : "short"};
}

Actor DrawRareActor(RandomSequence& random) {
  const User ada{1000, 1000, "ada"};
  const User eve{1009, 1009, "eve"};
  Actor actor;
  switch (random.Below(6)) {
    case 0:
      actor = Actor(eve, false, {OneOf<std::string>(random, {"physics", "chemistry"})});
      break;
    case 1:
      actor = Actor(eve, true, {});
      break;
    case 2:
      actor = Actor(eve);
      break;
    case 3:
      actor = Actor(User{0, 0, "root"});
      break;
    default:
      actor = Actor(ada);
  }
  actor.told_owners = Chance(random, 500);
  return actor;
}

JobUpdate DrawUpdate(const WishList& list, const std::vector<JobId>& jobs, Time now,
                     RandomSequence& random) {
  JobUpdate update;
  JobSpec asked;
  asked.request.min_nodes = asked.request.max_nodes = 1;
  asked.request.tasks = asked.request.tasks_per_node = 1;
  AddWishes(list, now, random, &asked);
  AddRareWishes(list, now, random, &asked);
  if (Chance(random, 700)) {
    for (std::uint32_t i = 0; i <= Draw(random, 3); ++i) {
      update.options.emplace_back(kOptions[random.Below(std::size(kOptions))]);
    }
    update.asked = asked;
    if (Chance(random, 500)) {
      update.asked->array = ArraySpec{{ArrayRange{0, 1, 1}}, Draw(random, 3)};
      update.asked->recorded = {"mail-type=NONE", "mail-type="};
    }
  }
  ChangeTerm(jobs, now, random, &update);
  return update;
}

}  // namespace muster::sim
