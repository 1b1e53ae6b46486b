#pragma once

// The caller of each method and what it may call: identity from the transport, and the table of
// every method, which is what the methods say of themselves (proto/access.proto).
//
// Invariants: (1) no message field identifies the caller; (2) a method that does not say who may
// call it is refused, and the program does not start; (3) a caller that cannot be identified is
// refused; (4) a connection with TLS is judged by TLS alone: nothing weaker is looked at; (5) a
// call that shows a token is judged by the token alone, and the gateway's socket takes no other:
// whoever passes calls on lends them nothing of its own.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/access/rights/access_rules.h"
#include "daemon/access/rights/local_accounts.h"
#include "daemon/access/token_store.h"
#include "scheduler/model/change/actor.h"
#include "scheduler/model/job/job_spec.h"

namespace muster::daemon {

enum class Role : std::uint8_t {
  kOwner = 0,       // the user of the controller's process, by the socket's permissions
  kUser = 1,        // a user of this cluster, as MUNGE says
  kClient = 2,      // a caller with a certificate of a client: its user
  kAgent = 3,       // a caller with a certificate of an agent: its node
  kController = 4,  // one with a certificate of a controller: it may call nothing
  kToken = 5,       // who shows a token: its user
  kReader = 6,      // who shows one that only reads
};
inline constexpr Role kRoles[] = {Role::kOwner,      Role::kUser,  Role::kClient, Role::kAgent,
                                  Role::kController, Role::kToken, Role::kReader};
const char* Name(Role role);

struct Caller {
  Role role = Role::kOwner;
  User user;              // of an agent and a controller: one that may own no job
  std::string node = {};  // kAgent: for which it speaks
  std::string proof =
      {};  // what says so: "certificate 4a0b…", "MUNGE", "token x7…"; empty: the kernel
  std::string peer = {};  // gRPC's words for the other end
  Powers powers = {};     // what the site lets the user do and see
};

// Who gives the caller's commands.
Actor ActorOf(const Caller& caller);

// "user ada (uid 1001) by MUNGE from ipv4:192.0.2.7:40000", for the log.
std::string ToText(const Caller& caller);

// What the transport says of the other end.
struct Transport {
  std::string peer;  // gRPC's words ("unix:…", "ipv4:127.0.0.1:PORT", "ipv6:[::1]:PORT")
  bool tls = false;
  std::string certificate;          // PEM, which TLS has verified; empty: none was shown
  std::optional<uid_t> munge = {};  // whose credential for this very call MUNGE has verified
  std::string munge_refusal = {};   // why it has not
  bool tokens_only = false;         // it came by a socket on which nothing but tokens counts
  bool shows_token = false;
  std::optional<TokenGrant> token = {};  // whose token it is
  std::string token_refusal = {};        // why it is nobody's
};

// The caller at the other end. With a token: its user. Else over TLS: the role of its certificate,
// which must not be in `revoked` (the list's text), or, without one, the user whom MUNGE names.
// Else a unix socket's caller is its owner, and any other caller is PermissionDenied: a TCP
// connection alone proves nothing.
absl::StatusOr<Caller> Identify(const Transport& transport, std::string_view revoked = {});

// PermissionDenied when the table does not let the caller call the method
// ("/muster.wire.Controller/Submit").
absl::Status MayCall(const Caller& caller, std::string_view method);

// Root, the user who runs the controller, and the operators of the site's settings.
bool IsOperator(const Caller& caller);

// Whether something of others of that kind is hidden from the caller.
bool Hides(const Caller& caller, Private what);

// Whether the caller is shown what is a job owner's business.
bool MaySee(const Caller& caller, const std::string& owner);

// Refuses a caller a job of another's, of whom it says nothing where jobs are private.
absl::Status NotTheirs(const Caller& caller, std::string_view job, const std::string& owner);

// Every method of our services, as gRPC calls it, in the order of their files.
std::vector<std::string> AllMethods();

// NotFound names the first method of our services that has no row.
absl::Status CheckEveryMethodHasARow();

}  // namespace muster::daemon
