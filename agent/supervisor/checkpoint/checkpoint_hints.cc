#include "agent/supervisor/checkpoint/checkpoint_hints.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "checkpoint/advice/interval.h"
#include "checkpoint/advice/levels.h"

namespace muster::agent {
namespace {

constexpr std::string_view kInterval = "MUSTER_CHECKPOINT_INTERVAL=";
constexpr std::string_view kAutomatic = "auto";
constexpr Duration kUnmeasured = std::chrono::hours(1);
constexpr Duration kCostUnmeasured = std::chrono::minutes(1);
constexpr Duration kShortest = std::chrono::seconds(30);
constexpr Duration kLongest = std::chrono::hours(24);
constexpr std::uint64_t kIntervalMaxS = std::uint64_t{366} * 24 * 3600;
constexpr mode_t kReadable = 0644;

std::uint64_t UnixMilliseconds(Time time) {
  return time == kNoTime ? 0 : static_cast<std::uint64_t>(time.time_since_epoch().count());
}

double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// The value of MUSTER_CHECKPOINT_INTERVAL; empty: there is none.
std::string IntervalText(const std::vector<std::string>& environment) {
  for (const std::string& assignment : environment) {
    const std::string_view text = assignment;
    if (text.substr(0, kInterval.size()) == kInterval) {
      return std::string(text.substr(kInterval.size()));
    }
  }
  return "";
}

}  // namespace

Duration AutomaticInterval(Duration cost, Duration mtbf) {
  if (mtbf <= Duration(0)) {
    return kUnmeasured;
  }
  const bool measured = cost > Duration(0);
  const checkpoint::Interval daly = checkpoint::DalyHigherOrder(
      {.cost_s = Seconds(measured ? cost : kCostUnmeasured), .mtbf_s = Seconds(mtbf)});
  // Where it fails faster than anything could be done, as often as is practical.
  const double wanted_s = daly ? daly.value : 0;
  const double longest_s = Seconds(measured ? kLongest : kUnmeasured);
  return Duration(
      static_cast<std::int64_t>(1000 * std::clamp(wanted_s, Seconds(kShortest), longest_s)));
}

std::uint32_t CopyEvery(Duration interval, Duration flush, Duration loss_mtbf) {
  if (interval <= Duration(0) || flush <= Duration(0) || loss_mtbf <= Duration(0)) {
    return 0;
  }
  const double interval_s = Seconds(interval);
  const checkpoint::Interval daly =
      checkpoint::DalyHigherOrder({.cost_s = Seconds(flush), .mtbf_s = Seconds(loss_mtbf)});
  const double wanted =
      daly ? static_cast<double>(checkpoint::NestedMultiple(daly.value, interval_s)) : 1;
  const double least = std::max(1.0, std::ceil(Seconds(flush) / interval_s));
  const double most = std::max(least, std::floor(Seconds(kLongest) / interval_s));
  return static_cast<std::uint32_t>(std::clamp(wanted, least, most));
}

Duration CheckpointIntervalOf(const std::vector<std::string>& environment) {
  const std::string value = IntervalText(environment);
  std::uint64_t seconds = 0;
  if (value == kAutomatic) {
    return AutomaticInterval(Duration(0), Duration(0));
  }
  return absl::SimpleAtoi(value, &seconds) && seconds <= kIntervalMaxS
             ? std::chrono::seconds(seconds)
             : Duration(0);
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
  automatic_ = IntervalText(environment) == kAutomatic;
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

void CheckpointHints::Learn(Duration cost, Duration flush) {
  if (cost != cost_ || flush != flush_) {
    cost_ = cost;
    flush_ = flush;
    Recompute();
    Publish();
  }
}

void CheckpointHints::Recompute() {
  if (automatic_) {
    const Duration every =
        AutomaticInterval(cost_ > Duration(0) ? cost_ : advice_.cost, advice_.mtbf);
    hints_.interval_ms = static_cast<std::uint64_t>(every / Duration(1));
    hints_.copy_every =
        CopyEvery(every, flush_ > Duration(0) ? flush_ : advice_.flush, advice_.loss_mtbf);
  }
}

void CheckpointHints::Advise(const CheckpointAdvice& advice) {
  if (advice.number <= advice_.number) {
    return;
  }
  advice_ = advice;
  hints_.write_slot = static_cast<checkpoint::WriteSlot>(advice.slot);
  Recompute();
  if (!announced_ && advice.notice != CheckpointNotice::kNone) {
    hints_.notice = static_cast<checkpoint::Notice>(advice.notice);
    hints_.notice_number = advice.number;
  }
  Publish();
}

void CheckpointHints::Announce(EndCause cause, Time end) {
  // What comes again may only move the end; one notice is answered once.
  announced_ = true;
  hints_.deadline_ms = UnixMilliseconds(end);
  const checkpoint::Notice notice =
      cause == EndCause::kResized ? checkpoint::Notice::kResize : checkpoint::Notice::kPreemption;
  if (cause != EndCause::kJobEnding && !std::exchange(asked_, true)) {
    hints_.notice = notice;
    // The same on all nodes of the attempt, whichever notices came before.
    hints_.notice_number = std::max(hints_.notice_number, advice_.number) + 1;
  }
  Publish();
}

void CheckpointHints::Publish() {
  if (file_.mapped()) {
    file_.Publish(hints_);
  }
}

}  // namespace muster::agent
