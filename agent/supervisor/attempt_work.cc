#include "agent/supervisor/attempt_work.h"

#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/launch/mps_control.h"
#include "agent/supervisor/mpirun/host_file.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr StepId kRunStep{1};
constexpr Duration kMpsPatience{5'000};

}  // namespace

absl::StatusOr<std::uint32_t> FindNode(const Allocation& allocation, const std::string& name) {
  for (std::uint32_t i = 0; i < allocation.nodes.size(); ++i) {
    if (allocation.nodes[i].name == name) {
      return i;
    }
  }
  return absl::InvalidArgumentError(absl::StrCat("node ", name, " has no part in it"));
}

AttemptWork::AttemptWork(const AttemptSteps::Parts& here, const Parts& parts, Handlers handlers)
    : here_(here),
      parts_(parts),
      handlers_(std::move(handlers)),
      steps_(here, {.on_started = [this](StepId step) { OnStarted(step); },
                    .on_ended = [this](std::unique_ptr<Step> step) { OnEnded(std::move(step)); }}),
      data_(here.loop, here.log, here.directory, parts.order) {}

void AttemptWork::Begin() {
  if (parts_.suspension.ordered()) {
    held_ = true;
    return;
  }
  if (!opened_) {
    if (const absl::Status status = Open(); !status.ok()) {
      handlers_.on_failed(status);
      return;
    }
    opened_ = true;
    if (!data_.here()) {
      data_.Bring(node_index_, parts_.confinement.user(), parts_.confinement.cgroup(),
                  parts_.confinement.mounts(), [this](const absl::Status& brought) {
                    if (brought.ok()) {
                      Begin();
                    } else {
                      handlers_.on_failed(brought);
                    }
                  });
    }
  }
  if (!data_.here()) {
    return;
  }
  begun_ = true;
  if (const absl::Status status = Start(); !status.ok()) {
    handlers_.on_failed(status);
    return;
  }
  TakeHeldSteps();
}

void AttemptWork::GoOn() {
  if (std::exchange(held_, false)) {
    Begin();
  } else if (begun_) {
    TakeHeldSteps();
  }
}

// What there has to be before any process of the job's is.
absl::Status AttemptWork::Open() {
  ASSIGN_OR_RETURN(node_index_, FindNode(here_.order.launch.allocation, here_.order.node_name));
  RETURN_IF_ERROR(parts_.confinement.OpenSession());
  ListenToValues();
  return absl::OkStatus();
}

absl::Status AttemptWork::Start() {
  const LaunchOrder& launch = here_.order.launch;
  AwaitSharing();
  steps_.ListenToInnerRanks(node_index_);
  if (launch.spec.kind == JobKind::kRun) {
    BeginRun();
  } else if (node_index_ == 0 && IsLeader(launch)) {
    main_step_ = StepId();
    RETURN_IF_ERROR(parts_.criu.Prepare(parts_.confinement.user()));
    RETURN_IF_ERROR(parts_.confinement.WriteScript());
    RETURN_IF_ERROR(
        WriteHostfile(here_.directory.Hostfile(), launch.allocation, parts_.confinement.user()));
    BeginBatch();
  } else {
    ReportStarted();
  }
  return absl::OkStatus();
}

// What finds no MPS at its start has the GPU to itself by turns, and is held to nothing.
void AttemptWork::AwaitSharing() const {
  const std::string mps = here_.order.SharedThrough();
  if (mps.empty()) {
    return;
  }
  if (const absl::Status there = AwaitMps(parts_.confinement.user(), mps, kMpsPatience);
      !there.ok()) {
    here_.log.Warning("supervisor", std::string(there.message()));
  }
}

void AttemptWork::ListenToValues() {
  absl::StatusOr<std::unique_ptr<ValueDesk>> desk =
      ValueDesk::Open({.loop = here_.loop,
                       .clock = here_.clock,
                       .socket = here_.order.report_socket,
                       .file = here_.directory.Reported(),
                       .user = parts_.confinement.user()});
  if (desk.ok()) {
    values_ = *std::move(desk);
  } else {
    here_.log.Warning("supervisor", std::string(desk.status().message()));
  }
}

void AttemptWork::Note(std::optional<ReportedFinding> finding) const {
  if (values_ != nullptr) {
    values_->Note(std::move(finding));
  }
}

StepPlan AttemptWork::WholePlan(StepId step) const {
  StepPlan plan;
  plan.step = step;
  plan.program = here_.order.launch.program;
  plan.placement = here_.order.launch.allocation;
  plan.node_index = node_index_;
  plan.container = here_.order.launch.spec.container;
  return plan;
}

void AttemptWork::BeginBatch() {
  StepPlan plan = WholePlan(StepId());
  CriuCheckpoints* const saved = parts_.criu.checkpoints();
  plan.script = saved == nullptr ? here_.directory.Script() : saved->Script();
  if (!plan.program.io.address.empty()) {
    plan.container = {};  // it only holds the allocation, of which `muster alloc` has the rest
  }
  plan.starter = CarrierOf(here_.order);
  if (saved != nullptr) {
    plan.restore = saved->NextRestore();
    plan.program.append_output |= plan.restore.has_value();
  }
  steps_.Launch(std::move(plan));
}

void AttemptWork::BeginRun() {
  main_step_ = kRunStep;
  StepPlan plan = WholePlan(kRunStep);
  plan.ends_attempt = true;
  LaunchAfterProlog(std::move(plan));
}

void AttemptWork::LaunchAfterProlog(StepPlan plan) {
  const StepId id = plan.step;
  steps_.Take(id);
  parts_.scripts.BeforeStep(
      id, [this, plan = std::move(plan)]() mutable { steps_.Launch(std::move(plan)); });
}

absl::Status AttemptWork::Take(const StepOrder& order) {
  if (steps_.IsTaken(order.step)) {
    return absl::OkStatus();
  }
  if (parts_.end.ending()) {
    return absl::FailedPreconditionError(
        absl::StrCat("attempt ", here_.directory.Name(), " is ending: no step can start"));
  }
  if (parts_.suspension.ordered() || !begun_) {
    held_steps_.push_back(order);
    return absl::OkStatus();
  }
  return StartStep(order);
}

absl::Status AttemptWork::StartStep(const StepOrder& order) {
  StepPlan plan;
  ASSIGN_OR_RETURN(plan.node_index, FindNode(order.placement, here_.order.node_name));
  plan.step = order.step;
  plan.program = order.program;
  plan.placement = order.placement;
  plan.container =
      order.program.container.given() ? order.program.container : here_.order.launch.spec.container;
  here_.log.Info("step", absl::StrCat("starting step ", order.step.value()));
  LaunchAfterProlog(std::move(plan));
  return absl::OkStatus();
}

void AttemptWork::TakeHeldSteps() {
  for (const StepOrder& order : std::exchange(held_steps_, {})) {
    if (steps_.IsTaken(order.step)) {
      continue;
    }
    if (const absl::Status started = StartStep(order); !started.ok()) {
      here_.log.Warning("step", std::string(started.message()));
    }
  }
}

void AttemptWork::ReportStarted() {
  if (std::exchange(started_reported_, true)) {
    return;
  }
  RunStarted fact;
  fact.time = here_.clock.Now();
  fact.pid = static_cast<std::uint32_t>(getpid());
  fact.limits = ToText(parts_.confinement.limits());
  fact.image = steps_.ImageOf(here_.order.launch.spec.container);
  fact.data = data_.brought();
  here_.reporter.Report(std::move(fact));
}

void AttemptWork::OnStarted(StepId step) {
  if (main_step_ == step) {
    parts_.criu.Started();
    ReportStarted();
  }
}

void AttemptWork::OnEnded(std::unique_ptr<Step> step) {
  const StepId id = step->plan().step;
  if (main_step_ == id) {
    if (parts_.criu.BeginsOtherwise(*step)) {
      return;
    }
    const StepVerdict& verdict = step->verdict();
    parts_.end.TakeMainStep(verdict.status(), verdict.launch_error(), verdict.remark(),
                            here_.clock.SteadyNow());
    parts_.criu.TakeEnd(*step);
  }
  const ContainerSpec saved = SavedAfter(*step);
  // Before anything ends this process: it hands its connection on, which waits for it.
  step.reset();
  if (saved.save.empty() || parts_.end.ending()) {
    AfterStep(id);
    return;
  }
  ++saves_;
  steps_.Save(saved, [this, id](const absl::Status& status) {
    if (!status.ok()) {
      parts_.end.TakeSaveFailure(std::string(status.message()));
    }
    --saves_;
    AfterStep(id);
    if (saves_ == 0 && std::exchange(main_waits_, false)) {
      AfterStep(*main_step_);
    }
  });
}

// A step that has the job's container leaves it to the others. Of several nodes the first saves.
ContainerSpec AttemptWork::SavedAfter(const Step& step) const {
  const StepPlan& plan = step.plan();
  if (plan.node_index != 0) {
    return {};
  }
  return main_step_ == plan.step ? here_.order.launch.spec.container : plan.program.container;
}

// The end of the main step is the end of all, which would end the program that saves.
void AttemptWork::AfterStep(StepId id) {
  if (main_step_ == id && saves_ > 0) {
    main_waits_ = true;
    return;
  }
  parts_.scripts.AfterStep(id, [this, id] {
    if (main_step_ == id && !parts_.end.ending()) {
      handlers_.on_main_ended();
    }
    handlers_.on_step_ended();
  });
}

}  // namespace muster::agent
