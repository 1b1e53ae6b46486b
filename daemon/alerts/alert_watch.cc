#include "daemon/alerts/alert_watch.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/controller/views.h"
#include "daemon/leading/await.h"
#include "scheduler/core/state/apply/alert_table.h"
#include "scheduler/model/change/command.h"

namespace muster::daemon {
namespace {

bool IsWell(const NodeView& node) {
  return node.warnings.empty() && (node.health.empty() || node.health == "good") &&
         !absl::StartsWith(node.state, "DOWN") && !absl::StrContains(node.state, "+DRAIN");
}

// The node at which a job that runs on several is looked at.
bool IsFirstNode(const Job& job, NodeId node) {
  return job.attempt.has_value() && !job.attempt->allocation.nodes.empty() &&
         job.attempt->allocation.nodes.front().node == node;
}

bool IsOutOfPlace(const Attempt& attempt) {
  for (const NodeRun& run : attempt.runs) {
    for (const RankBinding& binding : run.bindings) {
      if (binding.verdict == BindingVerdict::kDiffers) {
        return true;
      }
    }
  }
  return false;
}

std::set<core::AlertTable::Name> NamesOf(const std::vector<Alert>& alerts) {
  std::set<core::AlertTable::Name> names;
  for (const Alert& alert : alerts) {
    names.emplace(alert.rule, alert.subject);
  }
  return names;
}

// Jobs of which the plan says that they never start, or should have started.
std::vector<JobId> DoubtfulJobs(const Plan& plan, Time now, std::size_t most) {
  std::vector<JobId> jobs;
  for (const LeftWaiting& left : plan.waiting) {
    const bool never = left.reason.verdict == ReasonClass::kNever;
    const bool late = left.reason.until != kNoTime && left.reason.until + AlertJudge::kLate < now;
    if (never || late) {
      jobs.push_back(left.job);
    }
    if (jobs.size() == most) {
      break;
    }
  }
  return jobs;
}

}  // namespace

AlertWatch::AlertWatch(Controller& controller, const LiveUsage& usage,
                       const ControllerWarnings& warnings, const Logger& log, AlertSettings rules,
                       std::chrono::milliseconds look_every)
    : controller_(controller),
      usage_(usage),
      warnings_(warnings),
      log_(log),
      look_every_(look_every),
      judge_(std::move(rules)),
      thread_([this] { Run(); }) {}

AlertWatch::~AlertWatch() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void AlertWatch::Use(AlertSettings rules) {
  const std::lock_guard hold(mutex_);
  others_ = std::move(rules);
}

void AlertWatch::Run() {
  std::unique_lock hold(mutex_);
  while (!wake_.wait_for(hold, look_every_, [this] { return stopping_; })) {
    if (others_.has_value()) {
      judge_.Use(*std::exchange(others_, std::nullopt));
    }
    hold.unlock();
    if (controller_.leads()) {
      LookOnce();
    }
    hold.lock();
  }
}

void AlertWatch::SeeNode(const StateView& view, const Node& node, const LiveUsage& usage,
                         Sight& sight) {
  NodeView status = StatusOf(view.state(), node);
  status.warnings = usage.WarningsOf(node.id, view.now());
  if (!IsWell(status)) {
    sight.nodes.push_back(std::move(status));
  }
  for (const JobId id : view.state().JobsOn(node.id)) {
    const Job* const job = view.state().FindJob(id);
    if (job == nullptr || !IsFirstNode(*job, node.id)) {
      continue;
    }
    std::vector<Warning> warnings = WarningsOf(usage, *job, view.now());
    if (!warnings.empty() || IsOutOfPlace(*job->attempt)) {
      sight.jobs.push_back(ViewOf(*job, nullptr));
      sight.jobs.back().warnings = std::move(warnings);
    }
  }
}

// Nothing: the loop does not answer.
std::optional<AlertWatch::Sight> AlertWatch::Look() {
  auto sight = std::make_shared<Sight>();
  const absl::Status looked = Await([&](const Controller::Reply& reply) {
    controller_.Look([&usage = usage_, seen = ends_seen_, sight,
                      reply](const StateView& view) -> Controller::Reply {
      sight->now = view.now();
      sight->epoch = view.state().epoch();
      sight->plan = view.plan();
      for (const auto& [name, alert] : view.state().alerts().all()) {
        sight->open.push_back(alert);
      }
      for (const auto& [id, node] : view.state().nodes()) {
        SeeNode(view, node, usage, *sight);
      }
      for (const BadEnd& end : view.alerts().ends()) {
        if (end.number > seen) {
          sight->ends.push_back(end);
        }
      }
      return reply;
    });
  });
  return looked.ok() ? std::optional<Sight>(std::move(*sight)) : std::nullopt;
}

// The views of jobs that wait and should not, as far as the loop still knows them.
std::vector<JobView> AlertWatch::LookAtWaiting(const Sight& sight) {
  auto doubtful = std::make_shared<std::vector<JobId>>();
  if (sight.plan != nullptr) {
    *doubtful = DoubtfulJobs(*sight.plan, sight.now, kJobsMost);
  }
  auto views = std::make_shared<std::vector<JobView>>();
  const absl::Status looked = Await([&](const Controller::Reply& reply) {
    controller_.Look([doubtful, views, reply](const StateView& view) -> Controller::Reply {
      std::set<JobId> jobs(doubtful->begin(), doubtful->end());
      for (const auto& [job, text] : view.alerts().texts()) {
        jobs.insert(job);
      }
      for (const JobId id : jobs) {
        const Job* const job = view.state().FindJob(id);
        if (job != nullptr && IsWaiting(job->state)) {
          const Reason reason = view.ReasonOf(id);
          views->push_back(ViewOf(*job, &reason));
          views->back().alert = view.AlertOf(id);
        }
      }
      return reply;
    });
  });
  return looked.ok() ? std::move(*views) : std::vector<JobView>();
}

void AlertWatch::LookOnce() {
  std::optional<Sight> sight = Look();
  if (!sight.has_value()) {
    return;
  }
  if (epoch_ != sight->epoch) {
    epoch_ = sight->epoch;
    judge_.Resume(sight->open);
  }
  for (BadEnd& end : sight->ends) {
    ends_seen_ = end.number;
    if (end.cause == EndCause::kHung) {
      judge_.NoteHung(end.job, sight->now);
    } else {
      judge_.NoteOutOfMemory(end.job, sight->now);
    }
  }
  std::vector<JobView> jobs = std::move(sight->jobs);
  for (JobView& waiting : LookAtWaiting(*sight)) {
    jobs.push_back(std::move(waiting));
  }
  judge_.Look(sight->nodes, jobs, warnings_.Now(sight->now), sight->now,
              warnings_.OfCallers(sight->now));
  std::vector<Alert> open = judge_.Open(sight->now);
  if (NamesOf(open) != NamesOf(sight->open)) {
    Settle(std::move(open));
  }
}

void AlertWatch::Settle(std::vector<Alert> open) {
  controller_.Take(SettleAlerts{std::move(open)},
                   [&log = log_](const core::Transition&, const absl::Status& status) {
                     if (!status.ok()) {
                       log.Warning("alerts", std::string(status.message()));
                     }
                   });
}

}  // namespace muster::daemon
