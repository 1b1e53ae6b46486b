#include "agent/supervisor/checkpoint/progress_duty.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/model/value/output_pattern.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

constexpr Duration kProgressLookLimit{10000};

}  // namespace

ProgressDuty::ProgressDuty(EventLoop& loop, const Clock& clock, const Logger& log,
                           const SupervisorOrder& order, const EndState& end, Handlers handlers)
    : loop_(loop),
      clock_(clock),
      log_(log),
      order_(order),
      end_(end),
      handlers_(std::move(handlers)),
      timers_(loop) {}

void ProgressDuty::Begin(const JobUser* user) {
  user_ = user;
  if (order_.launch.spec.progress_timeout > Duration(0)) {
    MakeFile();
    watch_.emplace(order_.launch.spec.progress_timeout);
    Look();
  }
}

// For a job that names none. Without it the job shows no progress but what its output does.
void ProgressDuty::MakeFile() const {
  if (order_.progress_file.empty()) {
    return;
  }
  const UniqueFd fd(open(order_.progress_file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!fd.valid() || (user_ != nullptr && fchown(fd.get(), user_->uid, user_->gid) != 0)) {
    const char* const why = std::strerror(errno);  // NOLINT(concurrency-mt-unsafe): glibc's is safe
    log_.Warning("supervisor", absl::StrCat("cannot make ", order_.progress_file, ": ", why));
  }
}

// By the job; "": by nobody.
std::string ProgressDuty::NamedFile() const {
  const Program& program = order_.launch.program;
  if (program.progress_path.empty()) {
    return "";
  }
  PatternValues values;
  values.job = order_.launch.job;
  values.submission = order_.launch.submission;
  values.array_index = order_.launch.array_index;
  values.job_name = order_.launch.spec.name;
  values.node = order_.node_name;
  const std::string named = ExpandPattern(program.progress_path, values);
  return named.starts_with('/') ? named : absl::StrCat(program.work_dir, "/", named);
}

void ProgressDuty::Look() {
  if (end_.ending()) {
    return;
  }
  const std::string path = NamedFile();
  if (path.empty()) {
    ProgressSign sign = SignOfFile(order_.progress_file);
    sign.beats = handlers_.beats();
    Judge(sign);
    return;
  }
  task_ = std::make_unique<UserTask>(
      loop_, user_, kProgressLookLimit,
      [path]() -> absl::StatusOr<Brought> { return BringValue(SignOfFile(path)); },
      [this](absl::StatusOr<Brought> brought) {
        task_.reset();
        const std::optional<ProgressSign> sign =
            brought.ok() ? ValueIn<ProgressSign>(*brought) : std::nullopt;
        last_ = sign.value_or(last_);  // no answer is no progress
        if (!end_.ending()) {
          Judge(last_);
        }
      });
}

void ProgressDuty::Judge(const ProgressSign& sign) {
  const bool suspended = handlers_.suspended();
  const bool stood = std::exchange(was_suspended_, suspended) || suspended;
  const std::optional<std::string> hung = watch_->Look(sign, clock_.SteadyNow(), stood);
  if (hung.has_value()) {
    handlers_.on_hung(*hung);
    return;
  }
  timers_.After(watch_->interval(), [this] { Look(); });
}

}  // namespace muster::agent
