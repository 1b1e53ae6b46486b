#pragma once

// Who leads: one row of the database, with a lease by the database's own clock.
//
// A leader's transactions name its epoch, and the database refuses them when the row has another.
// So a leader that was stopped or cut off can promise nothing more, whatever its clock says: the
// lease only tells the others when they may try. Thread promise: safe from any thread; calls wait
// for one another. Invariant: an epoch of leadership is never given out twice.

#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::daemon {

struct LeaderRow {
  std::uint64_t epoch = 0;             // how many have led
  std::string holder;                  // the controller's name; empty: nobody has led yet
  std::string addresses;               // where it listens, by commas
  std::string successor;               // to whom it was handed over; empty: to nobody
  std::chrono::milliseconds lease{0};  // what is left of it; negative: since when it is over
};

class Leadership {
 public:
  Leadership() = default;
  Leadership(const Leadership&) = delete;
  Leadership& operator=(const Leadership&) = delete;
  virtual ~Leadership() = default;

  virtual absl::StatusOr<LeaderRow> Read() = 0;
  // Takes the lead if the lease is over and it is not somebody else's turn. From then on the
  // engine's writer writes with the new epoch. `force`: whatever the lease says.
  virtual absl::StatusOr<bool> TryTake(const std::string& holder, const std::string& addresses,
                                       std::chrono::milliseconds lease, bool force) = 0;
  // Makes the lease last so long from now; false when another has taken the lead.
  virtual absl::StatusOr<bool> Renew(std::chrono::milliseconds lease) = 0;
  // Ends our lease now; `successor` may take the lead first, "" any.
  virtual absl::Status Release(const std::string& successor) = 0;
  // Returns when something was added to the journal or the lead was released, or after `most`.
  virtual absl::Status AwaitNews(std::chrono::milliseconds most) = 0;
  // The secret that all controllers of the cluster share: the proposal of whoever was first. Text.
  virtual absl::StatusOr<std::string> AgreeOnKey(const std::string& proposal) = 0;
  // The policy of tokens that all controllers of the cluster share; "" before it was written. Text.
  virtual absl::StatusOr<std::string> ReadTokens() = 0;
  // kUnavailable to who does not lead.
  virtual absl::Status WriteTokens(const std::string& site) = 0;
};

}  // namespace muster::daemon
