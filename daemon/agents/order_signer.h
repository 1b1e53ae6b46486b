#pragma once

// The controller's signature under orders.
//
// Orders are signed by a key of their own, which the state directory keeps. Over TLS the key of the
// controller's certificate signs that one, so that an agent trusts an order as far as the
// authority. Invariant: what is signed for one purpose is none for another
// (scheduler/runtime/identity/signing_key.h).

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/agent.pb.h"
#include "scheduler/runtime/identity/signing_key.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

class OrderSigner {
 public:
  // `path`: the key, made when there is none; `tls_key`: that of the controller's certificate, or
  // empty.
  static absl::StatusOr<std::unique_ptr<OrderSigner>> Open(const std::string& path,
                                                           const std::string& tls_key);

  // Fills in the key that verifies our orders, and the TLS key's signature of it.
  void Introduce(wire::Welcome* welcome);
  // The body with its signature.
  [[nodiscard]] absl::StatusOr<wire::SignedOrder> Sign(const wire::OrderBody& body) const;

 private:
  OrderSigner(SigningKey key, std::string public_pem, std::string tls_key)
      : key_(std::move(key)), public_pem_(std::move(public_pem)), tls_key_(std::move(tls_key)) {}
  static constexpr std::size_t kVouchersMax = 2;

  const SigningKey key_;
  const std::string public_pem_;
  const std::string tls_key_;
  Mutex mutex_;
  std::string tls_key_seen_ ABSL_GUARDED_BY(mutex_);
  // By the certificate's key, and by the one before: connections outlive a change of it.
  std::deque<std::string> vouchers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
