#pragma once

// How the clocks of this machine's place are set, as text that goes with a request.
//
// Reads the time zone database. Invariant: ZoneRule::Parse of base/text reads the result.

#include <string>

#include "absl/time/time.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// The rule that RFC 8536, section 3.3, puts behind a zone's table: "CET-1CEST,M3.5.0,M10.5.0/3".
// Of a zone without one (no file, or an old one), what it is at `now`, for ever: "<+0100>-1".
std::string ZoneText(absl::TimeZone zone, Time now);

}  // namespace muster::cli
