#include "agent/supervisor/checkpoint_hints.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "absl/strings/numbers.h"

namespace muster {
namespace {

constexpr std::string_view kInterval = "MUSTER_CHECKPOINT_INTERVAL=";
constexpr std::chrono::hours kAutomatic{1};
constexpr std::uint64_t kIntervalMaxS = std::uint64_t{366} * 24 * 3600;
constexpr mode_t kReadable = 0644;

std::uint64_t UnixMilliseconds(Time time) {
  return time == kNoTime ? 0 : static_cast<std::uint64_t>(time.time_since_epoch().count());
}

}  // namespace

Duration CheckpointIntervalOf(const std::vector<std::string>& environment) {
  for (const std::string& assignment : environment) {
    const std::string_view text = assignment;
    if (text.substr(0, kInterval.size()) != kInterval) {
      continue;
    }
    const std::string value(text.substr(kInterval.size()));
    std::uint64_t seconds = 0;
    if (value == "auto") {
      return kAutomatic;
    }
    return absl::SimpleAtoi(value, &seconds) && seconds <= kIntervalMaxS
               ? std::chrono::seconds(seconds)
               : Duration(0);
  }
  return Duration(0);
}

absl::Status CheckpointHints::Make(const std::string& path,
                                   const std::vector<std::string>& environment) {
  checkpoint::Result<checkpoint::HintFile> file = checkpoint::HintFile::Create(path);
  if (!file.ok()) {
    return absl::InternalError("no checkpoint hints: " + file.error.text);
  }
  // Who runs the job may be another user than we are: he reads, and only we write.
  if (geteuid() == 0 && chmod(path.c_str(), kReadable) != 0) {
    return absl::ErrnoToStatus(errno, "no checkpoint hints for other users: " + path);
  }
  file_ = std::move(file.value);
  hints_.interval_ms = static_cast<std::uint64_t>(CheckpointIntervalOf(environment) / Duration(1));
  Publish();
  return absl::OkStatus();
}

void CheckpointHints::SetEnd(Time end) {
  if (!announced_) {
    hints_.deadline_ms = UnixMilliseconds(end);
    Publish();
  }
}

void CheckpointHints::Advise(const CheckpointAdvice& advice) {
  if (advice.number <= advice_.number) {
    return;
  }
  advice_ = advice;
  if (!announced_ && advice.notice != CheckpointNotice::kNone) {
    hints_.notice = static_cast<checkpoint::Notice>(advice.notice);
    hints_.notice_number = advice.number;
    Publish();
  }
}

void CheckpointHints::Announce(EndCause cause, Time end) {
  // What comes again may only move the end; one notice is answered once.
  announced_ = true;
  hints_.deadline_ms = UnixMilliseconds(end);
  if (cause != EndCause::kJobEnding && hints_.notice != checkpoint::Notice::kPreemption) {
    hints_.notice = checkpoint::Notice::kPreemption;
    ++hints_.notice_number;
  }
  Publish();
}

void CheckpointHints::Publish() {
  if (file_.mapped()) {
    file_.Publish(hints_);
  }
}

}  // namespace muster
