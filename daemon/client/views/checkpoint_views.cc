#include "daemon/client/views/checkpoint_views.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/core/state/tables/checkpoint_account.h"

namespace muster::daemon {
namespace {

constexpr std::string_view kInterval = "MUSTER_CHECKPOINT_INTERVAL=";

// "4th".
std::string Ordinal(std::uint32_t number) {
  constexpr std::uint32_t kTen = 10;
  constexpr auto kEndings = std::to_array<const char*>({"th", "st", "nd", "rd"});
  const bool teen = number / kTen % kTen == 1;
  const std::uint32_t last = number % kTen;
  return absl::StrCat(number, kEndings[teen || last >= kEndings.size() ? 0 : last]);
}

// Why not all of what is on the node is copied, or all.
std::string CopyText(const CheckpointRecord& record, Duration loss_mtbf) {
  const std::string losses = loss_mtbf == Duration(0)
                                 ? "nothing known of lost nodes"
                                 : absl::StrCat("one loss of a node in ", RoughText(loss_mtbf));
  return absl::StrCat(record.copy_every == 1 ? "each" : "every ",
                      record.copy_every == 1 ? "" : Ordinal(record.copy_every),
                      " to the shared directory (copied in ", RoughText(record.flush), ", ", losses,
                      ")");
}

}  // namespace

std::string IntervalText(const Attempt& attempt) {
  const CheckpointRecord record = core::CheckpointsOf(attempt);
  if (record.interval == Duration(0)) {
    return "";
  }
  const std::size_t nodes = attempt.allocation.nodes.size();
  const std::string failures = attempt.advice.mtbf == Duration(0)
                                   ? "nothing known of failures"
                                   : absl::StrCat("one failure in ", RoughText(attempt.advice.mtbf),
                                                  " on ", nodes, nodes == 1 ? " node" : " nodes");
  // Both levels are advised as soon as a copy was measured, by this attempt or one before.
  const bool two_levels = record.copy_every > 0;
  const CheckpointAdvice& advice = attempt.advice;
  const Duration cost = record.count > 0 ? record.cost : advice.cost;
  const std::string every =
      absl::StrCat("every ", RoughText(record.interval), two_levels ? " on the node" : "");
  std::string first = record.count == 0 && cost == Duration(0)
                          ? absl::StrCat(every, " until one has shown its cost (", failures, ")")
                          : absl::StrCat(every, " (Daly: cost ", RoughText(cost), " measured",
                                         record.count > 0 ? ", " : " before, ", failures, ")");
  if (!two_levels) {
    return first;
  }
  CheckpointRecord copied = record;
  copied.flush = record.flush > Duration(0) ? record.flush : advice.flush;
  return absl::StrCat(first, ", ", CopyText(copied, advice.loss_mtbf));
}

std::string IntervalText(const std::vector<std::string>& environment,
                         const std::string& automatic) {
  for (const std::string& assignment : environment) {
    const std::string_view text = assignment;
    if (text.substr(0, kInterval.size()) != kInterval) {
      continue;
    }
    const std::string value(text.substr(kInterval.size()));
    std::int64_t seconds = 0;
    if (value == "auto") {
      return automatic;
    }
    return absl::SimpleAtoi(value, &seconds) && seconds > 0
               ? absl::StrCat("every ", RoughText(std::chrono::seconds(seconds)), ", as asked")
               : "";
  }
  return "";
}

}  // namespace muster::daemon
