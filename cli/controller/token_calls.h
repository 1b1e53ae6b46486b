#pragma once

// The calls about tokens: make one, see them, end one.
//
// Beside Connection, which first says whether a controller answers: its errors are the better ones.
// Thread promise: safe from any thread; each call blocks its own. Invariant: errors are one line,
// and never InvalidArgument, which stands for bad usage.

#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cli/controller/address.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

struct TokenInfo {
  std::string id;  // names it, and opens nothing
  std::string user;
  Time issued = kNoTime;
  Time expires = kNoTime;
  bool read_only = false;
};

struct NewToken {
  std::string token;
  TokenInfo info;
};

// `lifetime` zero: the controller's default.
absl::StatusOr<NewToken> CreateToken(const Address& address, Duration lifetime, bool read_only);
// Our own, or everybody's, by their ends.
absl::StatusOr<std::vector<TokenInfo>> ListTokens(const Address& address, bool all_users);
absl::Status RevokeToken(const Address& address, const std::string& id);

}  // namespace muster::cli
