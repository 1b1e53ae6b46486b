#include "scheduler/simulator/crash/clients.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/simulator/workload/rare_changes.h"
#include "scheduler/simulator/workload/rare_wishes.h"
#include "scheduler/simulator/workload/site_changes.h"

namespace muster::sim {
namespace {

constexpr Duration kAskAgain = Requests::kAskAgain;
constexpr Duration kSuspended{20'000};  // at most
constexpr Duration kSettled{30'000};    // once faults have stopped
constexpr Duration kTired = std::chrono::minutes(40);
constexpr Duration kTiredOfAll = std::chrono::minutes(10);  // where much can never run
constexpr Duration kLimitMax{60'000};
constexpr Duration kEndless = std::chrono::hours(24 * 36525);
constexpr std::uint32_t kUid = 1000;
constexpr std::uint64_t kStepsMax = 4;

User Somebody() {
  return User{kUid, kUid, "ada"};
}

User Operator() {
  return User{0, 0, "root"};
}

}  // namespace

Clients::Clients(VirtualClock& clock, Faults& faults, Oracle& oracle, Bring bring, ClientPlan plan)
    : clock_(clock),
      faults_(faults),
      oracle_(oracle),
      plan_(plan),
      requests_(clock, faults, std::move(bring)),
      operators_(clock, requests_, OperatorPlan{plan.nodes, plan.changes, plan.active, ~plan.seed}),
      random_(plan.seed) {
  wishes_.nodes = plan.nodes;
  wishes_.cpus_per_node = plan.cpus_per_node;
  wishes_.gpus_per_node = plan.gpus_per_node;
  wishes_.memory_per_node = kGibibyte * 16;
  if (plan.wishes) {
    NameSite(&wishes_);
  }
  if (plan.whole) {
    NameRareSite(&wishes_);
  }
}

void Clients::Start() {
  if (plan_.wishes) {
    StartSite();
  }
  for (std::uint32_t number = 1; number <= plan_.submissions; ++number) {
    requests_.Later(faults_.Between(Duration(0), plan_.active), [this, number] { Submit(number); });
  }
  clock_.After(faults_.Between(Duration(0), plan_.active), [this] { DrainAndResume(); });
  for (std::uint32_t number = 1; number <= plan_.reservations; ++number) {
    requests_.Later(faults_.Between(Duration(0), plan_.active),
                    [this, number] { Reserve(number); });
  }
}

// Changes come while jobs do; in the end nothing limits them, and what was requeued too often and
// held is released.
void Clients::StartSite() {
  auto site = std::make_shared<std::vector<ChangePolicy>>(SiteAtFirst(plan_.nodes));
  if (plan_.whole) {
    const std::vector<ChangePolicy> rare = RareSiteAtFirst(random_);
    site->insert(site->end(), rare.begin(), rare.end());
  }
  MakeSite(site, 0);
  for (std::uint32_t number = 0; number < plan_.changes; ++number) {
    requests_.Later(faults_.Between(Duration(0), plan_.active),
                    [this] { requests_.Send(DrawChange(plan_.nodes, random_)); });
  }
  // Twice: a change that was asked for twice may come once more after the first.
  for (const Duration after : {kSettled, kSettled * 4}) {
    requests_.Later(plan_.active + after, [this] { LiftAll(); });
  }
  requests_.Later(plan_.active + (plan_.whole ? kTiredOfAll : kTired), [this] { CancelAll(); });
  if (plan_.whole) {
    operators_.Start();
  }
}

// One after the other: an account is made in the one above it.
void Clients::MakeSite(const std::shared_ptr<const std::vector<ChangePolicy>>& site,
                       std::size_t next) {
  if (next < site->size()) {
    requests_.Send((*site)[next],
                   [this, site, next](const core::Transition&) { MakeSite(site, next + 1); });
  }
}

// What can run has run by now.
void Clients::CancelAll() {
  for (const JobId job : known_) {
    requests_.Send(CancelJob{job, std::nullopt, Operator()});
  }
}

void Clients::LiftAll() {
  for (ChangePolicy& change : sim::LiftAll()) {
    requests_.Send(std::move(change));
  }
  if (plan_.whole) {
    operators_.LiftAll();
  }
  for (const JobId job : known_) {
    requests_.Send(HoldJob{job, std::nullopt, false, Operator()});
  }
}

// A minute of one node, for somebody else; it may be refused.
void Clients::Reserve(std::uint32_t number) {
  const Time start = clock_.now() + faults_.Between(Duration(1'000), Duration(60'000));
  std::vector<Assignment> said = {
      {"StartTime", MomentText(start)}, {"Duration", "1"}, {"Users", "root"}, {"NodeCnt", "1"}};
  if (faults_.Chance(500)) {
    said.push_back({"Flags", "IGNORE_JOBS"});
  }
  requests_.Send(ChangePolicy{PolicyVerb::kAdd, PolicyKind::kReservation,
                              absl::StrCat("reserved-", number), said, Operator()});
}

SubmitJob Clients::Make(std::uint32_t number) {
  SubmitJob submit;
  submit.token = absl::StrCat("token-", number);
  JobSpec& spec = submit.spec;
  spec.name = absl::StrCat("job-", number);
  spec.user = Somebody();
  spec.kind = faults_.Chance(500) ? JobKind::kRun : JobKind::kBatch;
  const auto nodes = static_cast<std::uint32_t>(1 + faults_.Below(std::min(plan_.nodes, 3U)));
  spec.request.min_nodes = nodes;
  spec.request.max_nodes = nodes;
  spec.request.tasks_per_node = 1;
  spec.request.tasks = nodes;
  spec.request.cpus_per_task = static_cast<std::uint32_t>(1 + faults_.Below(plan_.cpus_per_node));
  spec.kill_grace = Duration(5'000);
  if (faults_.Chance(200)) {
    spec.time_limit = faults_.Between(Duration(1'000), Duration(20'000));
  }
  if (faults_.Chance(100)) {
    spec.begin = clock_.now() + faults_.Between(Duration(1'000), Duration(30'000));
  }
  if (spec.kind == JobKind::kBatch && faults_.Chance(100)) {
    ArraySpec array;
    array.ranges.push_back(ArrayRange{0, static_cast<std::uint32_t>(faults_.Below(5)), 1});
    array.max_running = static_cast<std::uint32_t>(faults_.Below(3));
    spec.array = array;
  }
  if (spec.kind == JobKind::kBatch && plan_.elastic > 0 && faults_.Chance(plan_.elastic)) {
    spec.elastic = true;
    spec.request.tasks = 0;
    spec.request.min_nodes = 1;
    spec.request.max_nodes = std::max(plan_.nodes, 2U);
    spec.replace_wait = faults_.Between(Duration(0), Duration(60'000));
  }
  if (plan_.gpus_per_node > 0 && faults_.Chance(400)) {
    spec.request.gpus_per_node.count =
        static_cast<std::uint32_t>(1 + faults_.Below(plan_.gpus_per_node));
  }
  if (plan_.urgent > 0) {
    const std::uint64_t drawn = faults_.Below(1000);
    const std::uint64_t urgent = plan_.urgent;
    spec.qos = drawn < urgent       ? "high"
               : drawn < 2 * urgent ? "low"
               : drawn < 3 * urgent ? "mild"
                                    : "";
  }
  if (plan_.wishes) {
    AddWishes(wishes_, clock_.now(), random_, &spec);
    if (!known_.empty() && random_.Below(10) == 0) {
      spec.dependency = DrawDependency(known_, random_);
      spec.kill_on_invalid_dep = Choice::kYes;
    }
  }
  submit.program.argv = {"/bin/true"};
  submit.program.work_dir = "/";
  if (plan_.whole) {
    AddWhole(&submit);
  }
  if (spec.kind == JobKind::kBatch) {
    submit.program.script = "#!/bin/sh\ntrue\n";
  }
  return submit;
}

void Clients::AddWhole(SubmitJob* submit) {
  AddRareWishes(wishes_, clock_.now(), random_, &submit->spec);
  AddRareDependency(known_, random_, submit);
  AddComponents(wishes_, clock_.now(), random_, submit);
  submit->spec.kill_grace = Duration(static_cast<Duration::rep>(random_.Below(6'000)));
  submit->refuse_misfit = random_.Below(4) == 0;
  submit->by_operator = random_.Below(10) == 0;
  if (random_.Below(200) == 0) {
    submit->token.clear();
  }
}

void Clients::Submit(std::uint32_t number) {
  SubmitJob submit = Make(number);
  const std::string token = submit.token;
  const bool batch = submit.spec.kind == JobKind::kBatch;
  auto first = std::make_shared<bool>(true);
  requests_.Send(
      std::move(submit), [this, token, batch, first](const core::Transition& transition) {
        if (!transition.status.ok() && plan_.wishes) {
          ++refused_;
          return;
        }
        if (!transition.status.ok()) {
          oracle_.Broken(
              absl::StrCat(token, " was refused: ", std::string(transition.status.message())));
          return;
        }
        oracle_.Acknowledged(token, transition.job);
        if (std::exchange(*first, false)) {
          known_.push_back(transition.job);
          Afterwards(transition.job, batch);
        }
      });
}

// What users do with a job of theirs.
void Clients::Afterwards(JobId job, bool batch) {
  const Duration when = faults_.Between(Duration(0), Duration(30'000));
  const std::uint64_t what = faults_.Below(10);
  for (std::uint32_t i = 0; plan_.whole && i < 3; ++i) {
    requests_.Later(std::chrono::seconds(random_.Below(60)), [this, job] {
      if (random_.Below(2) == 0) {
        StartSteps(job);
      } else {
        DoRareThing(job);
      }
    });
  }
  requests_.Later(when, [this, job, batch, what] {
    if (plan_.whole && random_.Below(3) == 0) {
      DoRareThing(job);
    } else if (plan_.wishes && random_.Below(4) == 0) {
      UpdateRequest(job);
    } else if (what < 2) {
      requests_.Send(CancelJob{job, std::nullopt, Somebody()});
    } else if (what < 4) {
      HoldAndRelease(job);
    } else if (batch && what < 8) {
      StartSteps(job);
    } else if (what >= 8) {
      SuspendAndResume(job);
    } else {
      ChangeLimit(job);
    }
  });
}

StepSpec Clients::MakeStep() {
  if (plan_.whole) {
    return DrawStep(wishes_, random_);
  }
  StepSpec step;
  step.tasks = static_cast<std::uint32_t>(1 + faults_.Below(2));
  step.cpus_per_task = static_cast<std::uint32_t>(faults_.Below(plan_.cpus_per_node));
  step.immediate = faults_.Chance(100);
  return step;
}

// Several at once, so that some wait for the others' threads.
void Clients::StartSteps(JobId job) {
  const std::uint64_t count = 1 + faults_.Below(kStepsMax);
  for (std::uint64_t number = 1; number <= count; ++number) {
    StartStep start;
    start.token = absl::StrCat("step-", number, "-of-", ToString(job));
    start.job = job;
    start.spec = MakeStep();
    start.program.argv = {"/bin/hostname"};
    start.by = Somebody();
    if (plan_.whole) {
      absl::StrAppend(&start.token, "-", random_.Below(5));
      start.by = random_.Below(3) == 0 ? Somebody() : Operator();
    }
    requests_.Send(std::move(start));
  }
}

// Twice released: a hold that was asked twice may come once more after the first.
void Clients::HoldAndRelease(JobId job) {
  requests_.Send(HoldJob{job, std::nullopt, true, Somebody()},
                 [this, job](const core::Transition&) {
                   for (const Duration after : {Duration(0), kAskAgain * 4}) {
                     requests_.Later(after, [this, job] {
                       requests_.Send(HoldJob{job, std::nullopt, false, Somebody()});
                     });
                   }
                 });
}

// Mostly when it runs already: for longer, for less, or without a limit; some of it is refused.
void Clients::ChangeLimit(JobId job) {
  UpdateJob update{job, std::nullopt, JobUpdate(), {}, Operator()};
  update.changes.time_limit =
      faults_.Chance(200) ? kEndless : faults_.Between(Duration(1'000), kLimitMax);
  requests_.Send(std::move(update));
}

// The job is to be as another would be, or runs again. Much of it is refused.
void Clients::UpdateRequest(JobId job) {
  if (random_.Below(5) == 0) {
    return requests_.Send(RequeueJob{job, std::nullopt, Operator()});
  }
  constexpr const char* kOptions[] = {"account", "cpus-per-task", "exclude",   "exclusive",
                                      "gpus",    "licenses",      "mem",       "nodelist",
                                      "nodes",   "ntasks",        "partition", "priority",
                                      "qos",     "requeue",       "time-min",  "overcommit"};
  JobSpec asked;
  asked.request.min_nodes = asked.request.max_nodes = 1;
  asked.request.tasks = asked.request.tasks_per_node = 1;
  AddWishes(wishes_, clock_.now(), random_, &asked);
  asked.priority = static_cast<std::uint32_t>(random_.Below(2) * random_.Below(10'000));
  UpdateJob update{job, std::nullopt, JobUpdate(), {}, Operator()};
  update.changes.options = {kOptions[random_.Below(std::size(kOptions))]};
  if (random_.Below(3) == 0) {
    update.changes.nice = static_cast<std::int32_t>(random_.Below(100));
  }
  update.changes.asked = std::move(asked);
  requests_.Send(std::move(update));
}

// Of a job that there may be, or of one that never was; some of it by who may not.
void Clients::DoRareThing(JobId job) {
  const JobId named = random_.Below(20) == 0 ? JobId(1 + random_.Below(200)) : job;
  const std::optional<std::uint32_t> element =
      random_.Below(5) == 0 ? std::optional(static_cast<std::uint32_t>(random_.Below(6)))
                            : std::nullopt;
  const Actor by = DrawRareActor(random_);
  switch (random_.Below(8)) {
    case 0: {
      SignalJob signal{named,
                       element,
                       {},
                       static_cast<std::uint32_t>(random_.Below(70)),
                       static_cast<SignalScope>(random_.Below(3)),
                       by};
      if (random_.Below(2) == 0) {
        signal.step = StepId(static_cast<StepId::rep>(random_.Below(5)));
      }
      return requests_.Send(signal);
    }
    case 1: {
      AttachStep attach{named,
                        element,
                        {},
                        DrawStepIo(random_),
                        random_.Below(2) == 0,
                        random_.Below(2) == 0 ? by : Actor(Somebody())};
      if (random_.Below(2) == 0) {
        attach.step = StepId(static_cast<StepId::rep>(random_.Below(5)));
      }
      return requests_.Send(attach);
    }
    case 2:
      return requests_.Send(CancelJob{named, element, by});
    case 3:
      return requests_.Send(RequeueJob{named, element, by});
    case 4:
      return requests_.Send(HoldJob{named, element, random_.Below(2) == 0, by});
    case 5:
      return requests_.Send(SuspendJob{named, element, random_.Below(2) == 0, by});
    default: {
      UpdateJob update{named, element, DrawUpdate(wishes_, known_, clock_.now(), random_),
                       {},    by,      random_.Below(5) == 0};
      return requests_.Send(std::move(update));
    }
  }
}

// Twice asked back, for the same reason.
void Clients::SuspendAndResume(JobId job) {
  requests_.Send(SuspendJob{job, std::nullopt, true, Operator()},
                 [this, job](const core::Transition&) {
                   const Duration first = faults_.Between(Duration(1), kSuspended);
                   for (const Duration after : {first, first + kAskAgain * 4}) {
                     requests_.Later(after, [this, job] {
                       requests_.Send(SuspendJob{job, std::nullopt, false, Operator()});
                     });
                   }
                 });
}

// Twice resumed, for the same reason. Of every other node only jobs that may span nodes are kept
// away.
void Clients::DrainAndResume() {
  const std::uint64_t number = 1 + faults_.Below(plan_.nodes);
  const std::string node = absl::StrCat("node", number);
  const DrainNode drain{node, true, "to see what happens", kNoTime, kNoTime, number % 2 == 0};
  requests_.Send(drain, [this, node](const core::Transition&) {
    const Duration first = faults_.Between(Duration(1'000), Duration(60'000));
    for (const Duration after : {first, first + kAskAgain * 4}) {
      requests_.Later(after, [this, node] { requests_.Send(DrainNode{node, false, ""}); });
    }
  });
}

}  // namespace muster::sim
