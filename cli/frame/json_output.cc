#include "cli/frame/json_output.h"

#include "absl/time/time.h"

namespace muster::cli {

std::string FormatIsoTime(Time time) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ",
                          absl::FromUnixMillis(time.time_since_epoch().count()),
                          absl::UTCTimeZone());
}

std::string PrintJson(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::cli
