// What ends an attempt while its programs run, besides its time limit: the end of its lease, and
// that it makes no progress.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/supervisor.h"
#include "agent/supervisor/user_space/output_path.h"
#include "scheduler/model/settings/elastic_policy.h"

namespace muster {
namespace {

constexpr Duration kProgressLookLimit{10000};

}  // namespace

void Supervisor::BeginWatches() {
  const JobSpec& spec = order_.launch.spec;
  if (spec.elastic) {
    lease_.Begin(SteadyTime(std::chrono::milliseconds(order_.lease_until_ms)));
  }
  if (spec.progress_timeout > Duration(0) && node_index_ == 0 && IsLeader(order_.launch)) {
    MakeProgressFile();
    progress_.emplace(spec.progress_timeout);
    LookForProgress();
  }
}

// For a job that names none. Without it the job is told of no progress but what else it shows.
void Supervisor::MakeProgressFile() const {
  if (order_.progress_file.empty()) {
    return;
  }
  const UniqueFd fd(open(order_.progress_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid() || (user_.has_value() && fchown(fd.get(), user_->uid, user_->gid) != 0)) {
    log_.Warning("supervisor",
                 absl::StrCat("cannot make ", order_.progress_file, ": ", std::strerror(errno)));
  }
}

void Supervisor::EndWithLease() {
  EndByForce(
      EndCause::kNodeLostRecord, Duration(0),
      absl::StrCat("its node did not hear from the controller for ", kElasticLease.count() / 1000,
                   " s, after which the job may go on without it"));
}

// The file that the job names, as its user sees it; else the attempt's own, and what the checkpoint
// library is asked.
void Supervisor::LookForProgress() {
  if (end_.ending()) {
    return;
  }
  const Program& program = order_.launch.program;
  if (program.progress_path.empty()) {
    ProgressSign sign = SignOfFile(order_.progress_file);
    sign.beats = checkpoints_.beats();
    JudgeProgress(sign);
    return;
  }
  PatternValues values;
  values.job = order_.launch.job;
  values.submission = order_.launch.submission;
  values.array_index = order_.launch.array_index;
  values.job_name = order_.launch.spec.name;
  values.node = order_.node_name;
  const std::string named = ExpandPattern(program.progress_path, values);
  const std::string path =
      named.starts_with('/') ? named : absl::StrCat(program.work_dir, "/", named);
  look_ = std::make_unique<UserTask>(
      loop_, user_.has_value() ? &*user_ : nullptr, kProgressLookLimit,
      [path]() -> absl::StatusOr<Brought> { return BringValue(SignOfFile(path)); },
      [this](absl::StatusOr<Brought> brought) {
        look_.reset();
        const std::optional<ProgressSign> sign =
            brought.ok() ? ValueIn<ProgressSign>(*brought) : std::nullopt;
        last_sign_ = sign.value_or(last_sign_);  // no answer is no progress
        if (!end_.ending()) {
          JudgeProgress(last_sign_);
        }
      });
}

void Supervisor::JudgeProgress(const ProgressSign& sign) {
  const bool now_frozen = suspension_.ordered();
  const bool frozen = now_frozen || std::exchange(was_frozen_, now_frozen);
  const std::optional<std::string> hung = progress_->Look(sign, clock_.SteadyNow(), frozen);
  if (hung.has_value()) {
    EndByForce(EndCause::kHung, order_.launch.spec.kill_grace, *hung);
    return;
  }
  After(progress_->interval(), [this] { LookForProgress(); });
}

}  // namespace muster
