#pragma once

// What the notifier must know after a restart: its place in the events, and what it has sent
// jobs that still run.
//
// Thread promise: plain values; files are replaced whole. Invariant: a file that cannot be read is
// an error, never a beginning from nothing.

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::cli {

struct NotifierState {
  std::uint64_t next = 0;  // the first event that is not done; 0: those to come
  // Jobs whose time limit is watched, and the shares (50, 80, 90) that were told.
  std::map<std::uint64_t, std::set<unsigned>> watched;
  std::set<std::string> arrays;  // "10 BEGIN": what was sent of an array as a whole
  // Jobs and arrays whose dependencies are watched while they wait.
  enum class Wait { kOpen = 0, kTold = 1, kToldAndGone = 2 };
  std::map<std::uint64_t, Wait> waits = {};
  friend bool operator==(const NotifierState&, const NotifierState&) = default;
};

// Empty when there is no file yet.
absl::StatusOr<NotifierState> ReadNotifierState(const std::string& path);
absl::Status WriteNotifierState(const std::string& path, const NotifierState& state);

}  // namespace muster::cli
