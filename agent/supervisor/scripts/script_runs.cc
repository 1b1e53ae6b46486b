#include "agent/supervisor/scripts/script_runs.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/supervisor/scripts/site_request.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {

ScriptRuns::ScriptRuns(const Parts& parts, Handlers handlers)
    : parts_(parts), handlers_(std::move(handlers)) {}

ScriptRun::Request ScriptRuns::RequestOf(const char* what, const SiteScript& script,
                                         StepId step) const {
  return SiteRequest(parts_.order, node_index_, what, script, step, user_);
}

void ScriptRuns::RunAlone(ScriptRun::Request request, ScriptRun::Done done) {
  script_ = std::make_unique<ScriptRun>(parts_.loop, std::move(request), std::move(done));
}

void ScriptRuns::RunProlog(std::uint32_t node_index, const JobUser* user) {
  node_index_ = node_index;
  user_ = user;
  prolog_tried_ = true;
  const SiteScript& prolog = parts_.order.scripts.prolog;
  if (!prolog.given()) {
    handlers_.on_prolog();
    return;
  }
  RunAlone(RequestOf("prolog", prolog, {}), [this](const absl::Status& status) {
    script_.reset();
    OnProlog(status, handlers_.on_prolog);
  });
}

void ScriptRuns::OnProlog(const absl::Status& status, const Closure& go_on) {
  if (parts_.end.ending()) {
    handlers_.on_recalled();
  } else if (status.ok()) {
    go_on();
  } else {
    RecordFailure(status);
    handlers_.on_prolog_failed();
  }
}

void ScriptRuns::BeforeStep(StepId step, const Closure& launch) {
  const SiteScript& prolog = parts_.order.scripts.step_prolog;
  if (!prolog.given()) {
    launch();
    return;
  }
  of_steps_[step] = std::make_unique<ScriptRun>(parts_.loop, RequestOf("step prolog", prolog, step),
                                                [this, step, launch](const absl::Status& status) {
                                                  of_steps_.erase(step);
                                                  OnProlog(status, launch);
                                                });
}

void ScriptRuns::AfterStep(StepId step, const Closure& done) {
  const SiteScript& epilog = parts_.order.scripts.step_epilog;
  const bool wanted = epilog.given() && step != StepId();
  if (!wanted || parts_.end.ending()) {
    if (wanted) {
      epilogs_due_.push_back(step);
    }
    done();
    return;
  }
  of_steps_[step] = std::make_unique<ScriptRun>(
      parts_.loop, RequestOf("step epilog", epilog, step),
      [this, step, done](const absl::Status& status) {
        of_steps_.erase(step);
        RecordFailure(parts_.end.ending() ? absl::OkStatus()
                                          : status);  // else it was we who ended it
        done();
      });
}

bool ScriptRuns::RunLast() {
  if (!prolog_tried_) {
    return false;
  }
  if (script_ != nullptr) {
    return true;
  }
  const SiteScripts& scripts = parts_.order.scripts;
  if (!epilogs_due_.empty()) {
    RunEpilog("step epilog", scripts.step_epilog, epilogs_due_.back());
    epilogs_due_.pop_back();
    return true;
  }
  if (!scripts.epilog.given() || std::exchange(epilog_over_, true)) {
    return false;
  }
  ClaimEpilog();
  RunEpilog("epilog", scripts.epilog, {});
  return true;
}

void ScriptRuns::RunEpilog(const char* what, const SiteScript& script, StepId step) {
  parts_.end.SetEpilog(true);
  RunAlone(RequestOf(what, script, step), [this](const absl::Status& status) {
    script_.reset();
    parts_.end.SetEpilog(false);
    RecordFailure(status);
    handlers_.on_epilog();
  });
}

// From now on nobody else runs it, whatever becomes of us.
void ScriptRuns::ClaimEpilog() {
  const absl::StatusOr<ProcessIdentity> self = ReadIdentity(getpid());
  const absl::Status claimed = self.ok() ? TakeEpilogClaim(parts_.directory, *self) : self.status();
  if (!claimed.ok()) {
    parts_.log.Warning("supervisor", std::string(claimed.message()));
  }
}

void ScriptRuns::RecordFailure(const absl::Status& status) {
  if (!status.ok()) {
    parts_.log.Error("supervisor", std::string(status.message()));
    parts_.end.RecordNodeFault(std::string(status.message()));
  }
}

ScriptRun* ScriptRuns::Find(pid_t pid) const {
  if (script_ != nullptr && script_->Owns(pid)) {
    return script_.get();
  }
  const auto found = std::find_if(of_steps_.begin(), of_steps_.end(),
                                  [pid](const auto& each) { return each.second->Owns(pid); });
  return found == of_steps_.end() ? nullptr : found->second.get();
}

}  // namespace muster::agent
