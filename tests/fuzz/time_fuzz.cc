// Time limits, durations and begin times: an accepted limit is in range and reads back, a duration
// is in range; no begin before 1970; Slurm's spellings turned into ours are read or are no time in
// either. Returns 1 when an invariant of the parser is broken; crashes are the sanitizers' to find.

#include <cstdint>
#include <string>

#include "cli/parse/begin_time.h"
#include "cli/request/slurm_values.h"
#include "scheduler/base/text/duration_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<muster::Duration> limit = muster::ParseTimeLimit(text);
  if (limit.ok() && (limit->count() < 1000 || *limit > muster::kTimeLimitMax ||
                     muster::ParseTimeLimit(muster::FormatTimeLimit(*limit)).value() != *limit)) {
    return 1;
  }
  const absl::StatusOr<muster::Duration> duration = muster::ParseDuration(text);
  if (duration.ok() && (duration->count() < 0 || *duration > muster::kDurationMax)) {
    return 1;
  }
  const muster::Time now(std::chrono::milliseconds(1773480413000));
  const absl::StatusOr<muster::Time> begin =
      muster::cli::ParseBegin(text, now, absl::UTCTimeZone());
  const absl::StatusOr<muster::Duration> slurms =
      muster::ParseTimeLimit(muster::cli::SlurmTimeLimit(text));
  if ((slurms.ok() && slurms->count() < 1000) || (limit.ok() && !slurms.ok())) {
    return 1;
  }
  const absl::StatusOr<muster::Time> moment =
      muster::cli::ParseBegin(muster::cli::SlurmMoment(text), now, absl::UTCTimeZone());
  const bool early = (begin.ok() && begin->time_since_epoch().count() < 0) ||
                     (moment.ok() && moment->time_since_epoch().count() < 0);
  return early ? 1 : 0;
}
