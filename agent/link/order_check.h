#pragma once

// Which orders count: those that the controller signed for this node, this stream and this moment.
//
// A challenge of ours names the stream and a number the order's place in it, so that an order is
// taken once, however often and wherever it is shown. Thread promise: the owner of the loop.
// Invariants: (1) what Open() returns was parsed from the very bytes that the signature covers;
// (2) after one that was refused no later one of the stream is taken.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/agent.pb.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/identity/signing_key.h"

namespace muster::agent {

class OrderCheck {
 public:
  // `keyed`: only a key for which a controller's certificate vouches is trusted. Otherwise the link
  // itself says that the other end is our own user's (own_controller.h).
  OrderCheck(std::string node, bool keyed) : node_(std::move(node)), keyed_(keyed) {}

  // A new stream begins: the challenge for its registration. Nothing counts before Trust().
  absl::StatusOr<std::string> Begin();

  // Takes the key that the Welcome names; of a keyed agent only when `certificate` (PEM), which TLS
  // has verified, is a controller's and vouches for it.
  absl::Status Trust(const wire::Welcome& welcome, const std::string& certificate);

  // What was ordered: `order`, and then `more`. FailedPrecondition or PermissionDenied say in one
  // line why not.
  absl::StatusOr<wire::OrderBody> Open(const wire::SignedOrder& order, Time now);

 private:
  [[nodiscard]] absl::Status Judge(const wire::OrderBody& body, Time now) const;

  const std::string node_;
  const bool keyed_;
  std::string challenge_;
  VerifyingKey key_;
  std::uint64_t sequence_ = 0;  // of the last one taken
};

// As whom an agent runs jobs: as `own`, which it is itself. On a cluster, where it has keys, root's
// agent becomes the jobs' users instead, never root and no user below `min_uid`.
struct JobUsers {
  uid_t own = 0;
  uid_t min_uid = 0;
  bool cluster = false;
};

// PermissionDenied, in one line, when a job of that user is not run here whatever was signed.
absl::Status MayRunJobsOf(uid_t uid, const JobUsers& users);

}  // namespace muster::agent
