#pragma once

// The gate of every call: who calls, whether he may, and a line in the log when not.
//
// Invariant: what is refused leaves one line that names who really called, what, and why.

#include <grpcpp/grpcpp.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/access/access.h"
#include "daemon/access/munge_authenticator.h"
#include "daemon/access/revocation_list.h"
#include "daemon/access/rights/access_rules.h"
#include "daemon/access/token_store.h"
#include "daemon/access/user_budget.h"
#include "daemon/door/acceptor.h"
#include "scheduler/runtime/identity/certificate_book.h"
#include "scheduler/runtime/log.h"

namespace muster::daemon {

// What gRPC says of a connection by the socket on which nothing but tokens counts: of such alone we
// make its "local" kind (daemon/serve).
inline constexpr const char* kTokensOnlyTransport = "local";

class Gate {
 public:
  // `revoked` is the file of revoked certificates; empty: there is none. `munge` may be null, and
  // outlives the gate. Jobs of users below `min_uid` are not taken; 0: any user's. `acceptor` hears
  // of each caller that was identified, `budget` of each call, `tokens` judges tokens, `rules`
  // say what of others' a caller may do and see; they may be null, and outlive the gate.
  Gate(const Logger& log, std::string revoked, MungeAuthenticator* munge, uid_t min_uid,
       Acceptor* acceptor = nullptr, UserBudget* budget = nullptr,
       const TokenStore* tokens = nullptr, const AccessRules* rules = nullptr)
      : log_(log),
        revoked_(std::move(revoked)),
        munge_(munge),
        min_uid_(min_uid),
        acceptor_(acceptor),
        budget_(budget),
        tokens_(tokens),
        rules_(rules) {}

  // Who calls, when the table lets them call `method` ("/muster.wire.Controller/Submit") and their
  // budget has a call left.
  [[nodiscard]] absl::StatusOr<Caller> Admit(const grpc::CallbackServerContext& context,
                                             std::string_view method) const;

  // PermissionDenied when no job is taken of this caller.
  [[nodiscard]] absl::Status MaySubmit(const Caller& caller) const;

  // Takes a submission of that many bytes from the caller's budget; Unavailable when it is spent.
  [[nodiscard]] absl::Status Spend(const Caller& caller, std::size_t bytes) const;

  // Not OK once the certificate or the token of an admitted caller has been revoked, or what the
  // site lets the caller do and see has changed.
  [[nodiscard]] absl::Status StillGood(const Caller& caller) const;

  // The certificates of callers that were admitted or refused by the table.
  [[nodiscard]] CertificateBook& certificates() const { return certificates_; }

  // Says in the log that the method itself refused the caller; does nothing for other statuses.
  void Note(const Caller& caller, std::string_view method, const absl::Status& status) const;

 private:
  void JudgeToken(const grpc::CallbackServerContext& context, Transport& transport) const;
  [[nodiscard]] Powers PowersOf(const Caller& caller) const;
  void Remember(const Transport& transport, const Caller& caller) const;
  [[nodiscard]] Transport TransportOf(const grpc::CallbackServerContext& context) const;
  const Logger& log_;
  const RevocationList revoked_;  // one that cannot be read admits no caller
  MungeAuthenticator* const munge_;
  const uid_t min_uid_;
  Acceptor* const acceptor_;
  UserBudget* const budget_;
  const TokenStore* const tokens_;
  const AccessRules* const rules_;
  mutable CertificateBook certificates_;
};

}  // namespace muster::daemon
