#include "cli/slurm/format/amounts.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli::slurm {

Clockface::Clockface(const Environment& environment) : zone_(absl::LocalTimeZone()) {
  const std::string format = environment.Get("SLURM_TIME_FORMAT");
  if (!format.empty() && format != "standard" && format != "relative") {
    format_ = format;
  }
}

std::string Clockface::Text(Time time, const std::string& none) const {
  return time == kNoTime
             ? none
             : absl::FormatTime(format_, absl::FromUnixMillis(time.time_since_epoch().count()),
                                zone_);
}

std::string CpuDuration(Duration duration) {
  const std::int64_t milliseconds = std::max<std::int64_t>(duration.count(), 0);
  if (milliseconds == 0 || milliseconds >= 3'600'000) {
    return LongText(duration);
  }
  return absl::StrFormat("%02d:%02d.%03d", milliseconds / 60'000, milliseconds / 1000 % 60,
                         milliseconds % 1000);
}

std::string TresText(std::uint32_t cpus, Bytes memory, std::uint32_t nodes, std::uint32_t gpus) {
  std::string text = absl::StrCat("cpu=", cpus);
  if (memory.value() > 0) {
    absl::StrAppend(&text, ",mem=", SlurmSizeText(memory.value()));
  }
  absl::StrAppend(&text, ",node=", nodes, ",billing=", cpus);
  if (gpus > 0) {
    absl::StrAppend(&text, ",gres/gpu=", gpus);
  }
  return text;
}

}  // namespace muster::cli::slurm
