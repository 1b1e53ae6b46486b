#include "scheduler/simulator/crash/clients.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/simulator/workload/site_changes.h"

namespace muster::sim {
namespace {

constexpr Duration kAskAgain{3'000};
constexpr Duration kSuspended{20'000};  // at most
constexpr Duration kSettled{30'000};    // once faults have stopped
constexpr Duration kTired = std::chrono::minutes(40);
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
      bring_(std::move(bring)),
      plan_(plan),
      random_(plan.seed) {
  wishes_.nodes = plan.nodes;
  wishes_.cpus_per_node = plan.cpus_per_node;
  wishes_.gpus_per_node = plan.gpus_per_node;
  wishes_.memory_per_node = kGibibyte * 16;
  if (plan.wishes) {
    NameSite(&wishes_);
  }
}

void Clients::Start() {
  if (plan_.wishes) {
    StartSite();
  }
  for (std::uint32_t number = 1; number <= plan_.submissions; ++number) {
    Later(faults_.Between(Duration(0), plan_.active), [this, number] { Submit(number); });
  }
  clock_.After(faults_.Between(Duration(0), plan_.active), [this] { DrainAndResume(); });
  for (std::uint32_t number = 1; number <= plan_.reservations; ++number) {
    Later(faults_.Between(Duration(0), plan_.active), [this, number] { Reserve(number); });
  }
}

// Changes come while jobs do; in the end nothing limits them, and what was requeued too often and
// held is released.
void Clients::StartSite() {
  for (ChangePolicy& change : SiteAtFirst(plan_.nodes)) {
    Request(std::move(change));
  }
  for (std::uint32_t number = 0; number < plan_.changes; ++number) {
    Later(faults_.Between(Duration(0), plan_.active),
          [this] { Request(DrawChange(plan_.nodes, random_)); });
  }
  // Twice: a change that was asked for twice may come once more after the first.
  for (const Duration after : {kSettled, kSettled * 4}) {
    Later(plan_.active + after, [this] { LiftAll(); });
  }
  Later(plan_.active + kTired, [this] { CancelAll(); });
}

// What can run has run by now.
void Clients::CancelAll() {
  for (const JobId job : known_) {
    Request(CancelJob{job, std::nullopt, Operator()});
  }
}

void Clients::LiftAll() {
  for (ChangePolicy& change : sim::LiftAll()) {
    Request(std::move(change));
  }
  for (const JobId job : known_) {
    Request(HoldJob{job, std::nullopt, false, Operator()});
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
  Request(ChangePolicy{PolicyVerb::kAdd, PolicyKind::kReservation,
                       absl::StrCat("reserved-", number), said, Operator()});
}

// What is still to be asked for counts as unanswered, too.
void Clients::Later(Duration after, std::function<void()> act) {
  ++unanswered_;
  clock_.After(after, [this, act = std::move(act)] {
    --unanswered_;
    act();
  });
}

void Clients::Request(Command command, Answer answer) {
  ++unanswered_;
  Try(std::make_shared<const Command>(std::move(command)), std::make_shared<bool>(false),
      std::make_shared<const Answer>(std::move(answer)));
}

void Clients::Try(const std::shared_ptr<const Command>& command,
                  const std::shared_ptr<bool>& answered,
                  const std::shared_ptr<const Answer>& answer) {
  if (*answered) {
    return;
  }
  clock_.After(faults_.MessageDelay(), [this, command, answered, answer] {
    bring_(*command, [this, answered, answer](const core::Transition& transition) {
      if (faults_.Fault(faults_.rates().reply_lost)) {
        ++faults_.counts().replies_lost;
        return;
      }
      clock_.After(faults_.MessageDelay(), [this, answered, answer, transition] {
        // Every answer is heard, so that two different ones are noticed.
        if (!std::exchange(*answered, true)) {
          --unanswered_;
          (*answer)(transition);
        } else if (transition.job.valid() && !transition.step.valid()) {
          (*answer)(transition);
        }
      });
    });
  });
  clock_.After(kAskAgain, [this, command, answered, answer] { Try(command, answered, answer); });
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
  if (spec.kind == JobKind::kBatch) {
    submit.program.script = "#!/bin/sh\ntrue\n";
  }
  submit.program.work_dir = "/";
  return submit;
}

void Clients::Submit(std::uint32_t number) {
  SubmitJob submit = Make(number);
  const std::string token = submit.token;
  const bool batch = submit.spec.kind == JobKind::kBatch;
  auto first = std::make_shared<bool>(true);
  Request(std::move(submit), [this, token, batch, first](const core::Transition& transition) {
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
  Later(when, [this, job, batch, what] {
    if (plan_.wishes && random_.Below(4) == 0) {
      UpdateRequest(job);
    } else if (what < 2) {
      Request(CancelJob{job, std::nullopt, Somebody()});
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

// Several at once, so that some wait for the others' threads.
void Clients::StartSteps(JobId job) {
  const std::uint64_t count = 1 + faults_.Below(kStepsMax);
  for (std::uint64_t number = 1; number <= count; ++number) {
    StartStep start;
    start.token = absl::StrCat("step-", number, "-of-", ToString(job));
    start.job = job;
    start.spec.tasks = static_cast<std::uint32_t>(1 + faults_.Below(2));
    start.spec.cpus_per_task = static_cast<std::uint32_t>(faults_.Below(plan_.cpus_per_node));
    start.spec.immediate = faults_.Chance(100);
    start.program.argv = {"/bin/hostname"};
    start.by = Somebody();
    Request(std::move(start));
  }
}

// Twice released: a hold that was asked twice may come once more after the first.
void Clients::HoldAndRelease(JobId job) {
  Request(HoldJob{job, std::nullopt, true, Somebody()}, [this, job](const core::Transition&) {
    for (const Duration after : {Duration(0), kAskAgain * 4}) {
      Later(after, [this, job] { Request(HoldJob{job, std::nullopt, false, Somebody()}); });
    }
  });
}

// Mostly when it runs already: for longer, for less, or without a limit; some of it is refused.
void Clients::ChangeLimit(JobId job) {
  UpdateJob update{job, std::nullopt, JobUpdate(), {}, Operator()};
  update.changes.time_limit =
      faults_.Chance(200) ? kEndless : faults_.Between(Duration(1'000), kLimitMax);
  Request(std::move(update));
}

// The job is to be as another would be, or runs again. Much of it is refused.
void Clients::UpdateRequest(JobId job) {
  if (random_.Below(5) == 0) {
    return Request(RequeueJob{job, std::nullopt, Operator()});
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
  Request(std::move(update));
}

// Twice asked back, for the same reason.
void Clients::SuspendAndResume(JobId job) {
  Request(SuspendJob{job, std::nullopt, true, Operator()}, [this, job](const core::Transition&) {
    const Duration first = faults_.Between(Duration(1), kSuspended);
    for (const Duration after : {first, first + kAskAgain * 4}) {
      Later(after, [this, job] { Request(SuspendJob{job, std::nullopt, false, Operator()}); });
    }
  });
}

// Twice resumed, for the same reason. Of every other node only jobs that may span nodes are kept
// away.
void Clients::DrainAndResume() {
  const std::uint64_t number = 1 + faults_.Below(plan_.nodes);
  const std::string node = absl::StrCat("node", number);
  const DrainNode drain{node, true, "to see what happens", kNoTime, kNoTime, number % 2 == 0};
  Request(drain, [this, node](const core::Transition&) {
    const Duration first = faults_.Between(Duration(1'000), Duration(60'000));
    for (const Duration after : {first, first + kAskAgain * 4}) {
      Later(after, [this, node] { Request(DrainNode{node, false, ""}); });
    }
  });
}

}  // namespace muster::sim
