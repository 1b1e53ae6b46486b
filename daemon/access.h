#pragma once

// Who speaks, and what they may call: identity from the transport, one table of every method.
//
// Thread promise: safe from any thread. Invariants: (1) no message field says who speaks; (2) a
// method without a row is refused, and the program does not start with one missing; (3) a caller
// that cannot be identified is refused.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "scheduler/model/job_spec.h"

namespace muster {

enum class Role {
  kOwner,      // who owns the controller's process, by the socket's permissions or the connection's
               // owner
  kKeyHolder,  // who showed a certificate that our authority signed
};

struct Caller {
  Role role = Role::kOwner;
  User user;
};

// The account of a numeric user id; the number as a name when there is none.
User UserOf(uid_t uid);

// Who is at the other end, from gRPC's peer string ("unix:…", "ipv4:127.0.0.1:PORT",
// "ipv6:[::1]:PORT") and whether the transport authenticated it by certificate. A loopback TCP
// connection is its socket's owner's, as the kernel says; anybody but the controller's own user (or
// root) is PermissionDenied.
absl::StatusOr<Caller> Identify(const std::string& peer, bool authenticated);

// PermissionDenied when the table does not let the role call the method
// ("/muster.wire.Controller/Submit").
absl::Status MayCall(const Caller& caller, std::string_view method);

// NotFound names the first method of our services that has no row.
absl::Status CheckEveryMethodHasARow();

// The user who owns the connected TCP socket whose own address is 127.0.0.1:`port` (or
// [::1]:`port`) and which is not ours; NotFound when the kernel lists none.
absl::StatusOr<uid_t> OwnerOfLoopbackPort(std::uint16_t port);

}  // namespace muster
