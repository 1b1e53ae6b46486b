#pragma once

// Reads the controller's events, through its restarts.
//
// Thread promise: blocks its thread. Invariant: no event is told twice or left out, whatever
// happens to the controller or the connection in between.

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "cli/controller/address.h"
#include "scheduler/model/value/ids.h"

namespace muster::cli {

struct EventQuery {
  std::uint64_t from = 0;  // 0: those to come, or the last thousand when it does not follow
  JobId job;               // or its array; none: any
  std::string user;        // empty: whomever the caller may see
  bool follow = false;
};

struct EventLine {
  std::uint64_t number = 0;
  std::string type;  // "muster.job.ended"
  std::string json;  // CloudEvents 1.0
};

// What is told: events, and with each how far the reading is, also without one.
struct EventReader {
  std::function<bool(const EventLine& event)> tell;      // false: enough
  std::function<void(std::uint64_t next)> reached = {};  // all before it were told
};

// Until all is told, `tell` has enough, or the controller refuses.
absl::Status ReadEvents(const Address& address, const EventQuery& query, const EventReader& reader);

}  // namespace muster::cli
