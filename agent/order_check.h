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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/agent.pb.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/signing_key.h"

namespace muster {

class OrderCheck {
 public:
  explicit OrderCheck(std::string node) : node_(std::move(node)) {}

  // A new stream begins: the challenge for its registration. Nothing counts before Trust().
  absl::StatusOr<std::string> Begin();

  // Takes the key that the Welcome names; over TLS, where `certificate` (PEM) is the controller's,
  // only when that vouches for it.
  absl::Status Trust(const wire::Welcome& welcome, const std::string& certificate);

  // What was ordered. FailedPrecondition or PermissionDenied say in one line why not.
  absl::StatusOr<wire::ControllerMessage> Open(const wire::SignedOrder& order, Time now);

 private:
  [[nodiscard]] absl::Status Judge(const wire::OrderBody& body, Time now) const;

  const std::string node_;
  std::string challenge_;
  VerifyingKey key_;
  std::uint64_t sequence_ = 0;  // of the last one taken
};

// As whom an agent runs jobs: it is `own`; on a cluster (its link has keys) neither root's nor
// those of users below `min_uid`.
struct JobUsers {
  uid_t own = 0;
  uid_t min_uid = 0;
  bool cluster = false;
};

// PermissionDenied, in one line, when a job of that user is not run here whatever was signed.
absl::Status MayRunJobsOf(uid_t uid, const JobUsers& users);

}  // namespace muster
