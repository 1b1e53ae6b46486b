#include "daemon/serve/idle_watch.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/leading/await.h"
#include "scheduler/core/state/tables/usage_keys.h"
#include "scheduler/model/machine/amounts.h"

namespace muster::daemon {
namespace {

// Nothing: it has no GPUs, or its nodes have not all reported.
std::optional<GpuUse> UseOf(const Job& job, const LiveUsage& usage, const StateView& view) {
  GpuUse use;
  use.job = job.id;
  use.attempt = job.attempt->number;
  use.partition = core::EffectivePartition(job.attempt->partition);
  for (const NodeAllocation& part : job.attempt->allocation.nodes) {
    use.gpus += static_cast<std::uint32_t>(part.gpus.size());
  }
  const std::vector<NodeUsage> live =
      use.gpus == 0 ? std::vector<NodeUsage>() : usage.Of(job, view.state());
  if (live.empty() || live.size() != job.attempt->allocation.nodes.size()) {
    return std::nullopt;
  }
  use.time = view.now();
  for (const NodeUsage& node : live) {
    use.busy += node.usage.gpu_busy;
    use.time = std::min(use.time, node.time);
  }
  return use;
}

}  // namespace

IdleWatch::IdleWatch(Controller& controller, LiveUsage& usage, const Logger& log, IdleRules rules,
                     User by, std::chrono::milliseconds look_every)
    : controller_(controller),
      usage_(usage),
      log_(log),
      judge_(std::move(rules)),
      by_(std::move(by)),
      look_every_(look_every),
      thread_([this] { Run(); }) {}

IdleWatch::~IdleWatch() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void IdleWatch::Run() {
  std::unique_lock hold(mutex_);
  while (!wake_.wait_for(hold, look_every_, [this] { return stopping_; })) {
    bool look = judge_.on();
    if (others_.has_value()) {
      judge_.Use(*std::exchange(others_, std::nullopt));
      look = look || judge_.on();  // once more without rules: their warnings go
    }
    hold.unlock();
    if (look && controller_.leads()) {
      LookOnce();
    }
    hold.lock();
  }
}

void IdleWatch::Use(IdleRules rules) {
  const std::lock_guard hold(mutex_);
  others_ = std::move(rules);
}

// Of the jobs that run.
std::vector<GpuUse> IdleWatch::Uses() {
  auto uses = std::make_shared<std::vector<GpuUse>>();
  const absl::Status looked = Await([&](const Controller::Reply& reply) {
    controller_.Look([&usage = usage_, uses, reply](const StateView& view) -> Controller::Reply {
      view.state().jobs().ForEachRun([&](const Job& job, std::uint32_t) {
        if (job.attempt.has_value() && IsRunning(job.state)) {
          if (std::optional<GpuUse> use = UseOf(job, usage, view)) {
            uses->push_back(*std::move(use));
          }
        }
      });
      return reply;
    });
  });
  return looked.ok() ? std::move(*uses) : std::vector<GpuUse>();
}

void IdleWatch::LookOnce() {
  std::map<JobId, Warning> warnings;
  std::set<JobId> still;
  for (const IdleJob& idle : judge_.Look(Uses())) {
    warnings[idle.job] = Warning{"GpuIdle", idle.text, idle.since};
    if (idle.action != IdleAction::kWarn) {
      still.insert(idle.job);
      if (!acted_.contains(idle.job)) {
        Act(idle);
      }
    }
  }
  acted_ = std::move(still);
  usage_.TakeIdle(std::move(warnings));
}

void IdleWatch::Act(const IdleJob& idle) {
  const bool ends = idle.action == IdleAction::kEnd;
  const std::string text =
      absl::StrCat(ends ? "ended: " : "sent back to the queue: ", idle.text, ", see [idle]");
  log_.Info("idle", absl::StrCat("job ", idle.job.value(), ": ", text));
  controller_.Keep(
      [job = idle.job, text, user = by_.name](Batch& batch, Time now) {
        batch.notes.emplace_back(job, JobNote{"SystemComment", text, user, now});
      },
      [](const absl::Status&) {});
  const auto done = [&log = log_, job = idle.job](const core::Transition&,
                                                  const absl::Status& status) {
    if (!status.ok()) {
      log.Warning("idle", absl::StrCat("job ", job.value(), ": ", std::string(status.message())));
    }
  };
  if (ends) {
    controller_.Take(CancelJob{idle.job, {}, by_}, done);
  } else {
    controller_.Take(RequeueJob{idle.job, {}, by_}, done);
  }
}

}  // namespace muster::daemon
