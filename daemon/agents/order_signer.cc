#include "daemon/agents/order_signer.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "proto/convert/order_purpose.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/identity/private_file.h"

namespace muster::daemon {

absl::StatusOr<std::unique_ptr<OrderSigner>> OrderSigner::Open(const std::string& path,
                                                               const std::string& tls_key) {
  ASSIGN_OR_RETURN(SigningKey key, SigningKey::Open(path, /*make=*/true));
  ASSIGN_OR_RETURN(std::string pem, key.PublicPem());
  return std::unique_ptr<OrderSigner>(new OrderSigner(std::move(key), std::move(pem), tls_key));
}

void OrderSigner::Introduce(wire::Welcome* welcome) {
  welcome->set_order_key(public_pem_);
  if (tls_key_.empty()) {
    return;
  }
  const absl::StatusOr<std::string> text = ReadPrivateFile(tls_key_);
  const MutexLock lock(&mutex_);
  if (text.ok() && *text != tls_key_seen_) {
    const absl::StatusOr<SigningKey> key = SigningKey::FromPem(*text);
    const absl::StatusOr<std::string> voucher =
        key.ok() ? key->Sign(kOrderKeyPurpose, public_pem_) : key.status();
    if (voucher.ok()) {
      tls_key_seen_ = *text;
      vouchers_.push_front(*voucher);
      vouchers_.resize(std::min(vouchers_.size(), kVouchersMax));
    }
  }
  welcome->mutable_order_key_vouchers()->Assign(vouchers_.begin(), vouchers_.end());
}

absl::StatusOr<wire::SignedOrder> OrderSigner::Sign(const wire::OrderBody& body) const {
  wire::SignedOrder order;
  order.set_body(body.SerializeAsString());
  ASSIGN_OR_RETURN(*order.mutable_signature(), key_.Sign(kOrderPurpose, order.body()));
  return order;
}

}  // namespace muster::daemon
