#include "daemon/checkpoint_views.h"

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/core/checkpoint_account.h"

namespace muster {
namespace {

constexpr std::string_view kInterval = "MUSTER_CHECKPOINT_INTERVAL=";

// To two digits or more: "4.2 s", "18 min", "37 h".
std::string Roughly(Duration duration) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr double kFewest = 2;  // of a unit, before the next smaller one is used
  constexpr double kTen = 10;
  constexpr auto kUnits = std::to_array<Unit>({{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}});
  const double seconds = std::chrono::duration<double>(duration).count();
  Unit unit = kUnits.back();
  for (const Unit& larger : kUnits) {
    if (seconds >= kFewest * larger.seconds) {
      unit = larger;
      break;
    }
  }
  const double amount = seconds / unit.seconds;
  return amount < kTen ? absl::StrFormat("%.2g %s", amount, unit.name)
                       : absl::StrFormat("%.0f %s", amount, unit.name);
}

}  // namespace

std::string IntervalText(const Attempt& attempt) {
  const CheckpointRecord record = CheckpointsOf(attempt);
  if (record.interval == Duration(0)) {
    return "";
  }
  const std::size_t nodes = attempt.allocation.nodes.size();
  const std::string failures = attempt.advice.mtbf == Duration(0)
                                   ? "nothing known of failures"
                                   : absl::StrCat("one failure in ", Roughly(attempt.advice.mtbf),
                                                  " on ", nodes, nodes == 1 ? " node" : " nodes");
  const std::string every = absl::StrCat("every ", Roughly(record.interval));
  return record.count == 0 ? absl::StrCat(every, " until one has shown its cost (", failures, ")")
                           : absl::StrCat(every, " (Daly: cost ", Roughly(record.cost),
                                          " measured, ", failures, ")");
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
               ? absl::StrCat("every ", Roughly(std::chrono::seconds(seconds)), ", as asked")
               : "";
  }
  return "";
}

}  // namespace muster
