// The supervisor's scripts of the site: prologs and epilogs.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "agent/supervisor/scripts/site_request.h"
#include "agent/supervisor/supervisor.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"

namespace muster {
ScriptRun::Request Supervisor::RequestOf(const char* what, const SiteScript& script,
                                         StepId step) const {
  return SiteRequest(order_, node_index_, what, script, step,
                     user_.has_value() ? &*user_ : nullptr);
}

// From now on nobody else runs it, whatever becomes of us.
void Supervisor::ClaimEpilog() {
  const absl::StatusOr<ProcessIdentity> self = ReadIdentity(getpid());
  const absl::Status claimed = self.ok() ? TakeEpilogClaim(directory_, *self) : self.status();
  if (!claimed.ok()) {
    log_.Warning("supervisor", std::string(claimed.message()));
  }
}

// After the prolog, which may have made what its modules need, and before the first process.
absl::Status Supervisor::OpenSession() {
  const char* const service = getenv(kPamService);  // NOLINT(concurrency-mt-unsafe): one thread
  if (!user_.has_value() || service == nullptr) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(session_, PamSession::Open(service, user_->name));
  user_->session = session_->traits();
  return absl::OkStatus();
}

void Supervisor::RunProlog() {
  prolog_tried_ = true;
  if (!order_.scripts.prolog.given()) {
    BeginWork();
    return;
  }
  script_ = std::make_unique<ScriptRun>(loop_, RequestOf("prolog", order_.scripts.prolog, {}),
                                        [this](const absl::Status& status) { OnProlog(status); });
}

void Supervisor::OnProlog(const absl::Status& status) {
  script_.reset();
  if (end_.ending()) {
    CheckFinished();
  } else if (!status.ok()) {
    BlameNode(status);
    EndByForce(EndCause::kPrologFailed, Duration(0), end_.node_fault());
  } else {
    BeginWork();
  }
}

void Supervisor::BeginWork() {
  if (suspension_.ordered()) {
    work_held_ = true;
    return;
  }
  began_ = true;
  if (const absl::Status status = StartWork(); !status.ok()) {
    FailLaunch(status);
    return;
  }
  TakeHeldSteps();
}

void Supervisor::LaunchAfterProlog(StepPlan plan) {
  if (!order_.scripts.step_prolog.given()) {
    Launch(std::move(plan));
    return;
  }
  const StepId id = plan.step;
  known_steps_.insert(id);
  const auto done = [this, id, plan = std::move(plan)](const absl::Status& status) {
    step_scripts_.erase(id);
    if (end_.ending()) {
      CheckFinished();
    } else if (status.ok()) {
      Launch(plan);
    } else {
      BlameNode(status);
      EndByForce(EndCause::kPrologFailed, Duration(0), end_.node_fault());
    }
  };
  step_scripts_[id] = std::make_unique<ScriptRun>(
      loop_, RequestOf("step prolog", order_.scripts.step_prolog, id), done);
}

void Supervisor::RunStepEpilog(StepId id) {
  const bool wanted = order_.scripts.step_epilog.given() && id != StepId();
  if (!wanted) {
    AfterStep(id);
  } else if (end_.ending()) {
    epilogs_due_.push_back(id);
    AfterStep(id);
  } else {
    const auto done = [this, id](const absl::Status& status) {
      step_scripts_.erase(id);
      BlameNode(end_.ending() ? absl::OkStatus() : status);  // else it was we who ended it
      AfterStep(id);
    };
    step_scripts_[id] = std::make_unique<ScriptRun>(
        loop_, RequestOf("step epilog", order_.scripts.step_epilog, id), done);
  }
}

void Supervisor::AfterStep(StepId id) {
  if (main_step_ == id && !end_.ending()) {
    end_.EndByItself();
    termination_.EndLeftovers(order_.launch.spec.kill_grace);
  }
  CheckFinished();
}

bool Supervisor::RunsEpilogs() {
  if (!prolog_tried_) {
    return false;
  }
  if (script_ != nullptr) {
    return true;
  }
  const auto done = [this](const absl::Status& status) { OnEpilog(status); };
  if (!epilogs_due_.empty()) {
    end_.SetEpilog(true);
    script_ = std::make_unique<ScriptRun>(
        loop_, RequestOf("step epilog", order_.scripts.step_epilog, epilogs_due_.back()), done);
    epilogs_due_.pop_back();
    return true;
  }
  if (!order_.scripts.epilog.given() || std::exchange(epilog_over_, true)) {
    return false;
  }
  end_.SetEpilog(true);
  ClaimEpilog();
  script_ =
      std::make_unique<ScriptRun>(loop_, RequestOf("epilog", order_.scripts.epilog, {}), done);
  return true;
}

void Supervisor::OnEpilog(const absl::Status& status) {
  script_.reset();
  end_.SetEpilog(false);
  BlameNode(status);
  termination_.Kill();  // what it left behind
  CheckFinished();
}

// The first fault is told.
void Supervisor::BlameNode(const absl::Status& status) {
  if (!status.ok()) {
    log_.Error("supervisor", std::string(status.message()));
    end_.BlameNode(std::string(status.message()));
  }
}

ScriptRun* Supervisor::ScriptOf(pid_t pid) {
  if (script_ != nullptr && script_->Owns(pid)) {
    return script_.get();
  }
  const auto found = std::find_if(step_scripts_.begin(), step_scripts_.end(),
                                  [pid](const auto& each) { return each.second->Owns(pid); });
  return found == step_scripts_.end() ? nullptr : found->second.get();
}

}  // namespace muster
