#pragma once

// What of others a caller is shown: [access] private, with the accounts that the caller
// coordinates.
//
// Made for one call out of the caller and the state, and valid afterwards without them. Invariant:
// what is the caller's own is never hidden.

#include <cstdint>
#include <initializer_list>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "daemon/access/access.h"
#include "daemon/access/rights/access_rules.h"
#include "scheduler/core/state/cluster_state.h"

namespace muster::daemon {

class Sight {
 public:
  // Of who sees everything.
  Sight() = default;
  Sight(const Caller& caller, const core::ClusterState& state);

  // Whether something of others may be hidden.
  [[nodiscard]] bool Hides(Private what) const;
  [[nodiscard]] bool Shows(Private what, const std::string& user, const std::string& account) const;
  // Whether one of the caller's jobs, or of those that are shown, is on the node.
  [[nodiscard]] bool ShowsNode(const core::ClusterState& state, NodeId node) const;

  [[nodiscard]] const std::string& user() const { return user_; }
  // Those that the caller coordinates, with all below them.
  [[nodiscard]] const std::set<std::string>& accounts() const { return accounts_; }

 private:
  std::uint8_t hidden_ = 0;  // of Private
  std::string user_;
  std::set<std::string> accounts_;
};

// PermissionDenied where one of these is hidden from the caller: what `thing` says is not told
// apart by user.
absl::Status CheckShown(const Caller& caller, std::initializer_list<Private> needed,
                        const std::string& thing);

}  // namespace muster::daemon
