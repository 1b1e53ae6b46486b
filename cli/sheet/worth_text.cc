#include "cli/sheet/worth_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/page/text.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli {

std::string PredictedTime(double seconds) {
  constexpr double kMilli = 1e-3;
  constexpr double kMicro = 1e-6;
  if (seconds >= 1) {
    return absl::StrFormat("%.3g s", seconds);
  }
  return seconds >= kMilli ? absl::StrFormat("%.3g ms", seconds / kMilli)
                           : absl::StrFormat("%.3g us", seconds / kMicro);
}

std::string LocalityText(const PlacementQuality& worth) {
  if (worth.ranks == 0) {
    return "";
  }
  return absl::StrCat(worth.local_ranks, "/", worth.ranks, " ranks local",
                      worth.span.empty() ? "" : ", ", Printable(worth.span));
}

std::string CollectiveText(const PlacementQuality& worth, const JobView& job) {
  constexpr double kNanosecond = 1e-9;
  if (job.nodes.size() < 2 && job.gpus < 2) {
    return "";
  }
  for (const PredictedCollective& predicted : worth.predicted) {
    if (predicted.name != "allreduce" || predicted.nanoseconds == 0) {
      continue;
    }
    std::string text =
        absl::StrCat("all-reduce of ", BytesText(predicted.bytes.value()), " in ",
                     PredictedTime(static_cast<double>(predicted.nanoseconds) * kNanosecond), " (",
                     Printable(predicted.algorithm), ")");
    if (predicted.default_nanoseconds > 0) {
      absl::StrAppend(
          &text, "; in blocks ",
          PredictedTime(static_cast<double>(predicted.default_nanoseconds) * kNanosecond), " (",
          Printable(predicted.default_algorithm), ")");
    }
    return text;
  }
  return "";
}

}  // namespace muster::cli
