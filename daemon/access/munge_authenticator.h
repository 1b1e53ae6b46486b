#pragma once

// Identifies the callers over TLS: a certificate, which TLS has verified, or a MUNGE credential in
// each call's metadata.
//
// gRPC asks it on threads of its own when a call's headers are there, before its message is read,
// so that no other thread waits for munged; the method then takes what was found. Invariants: (1)
// what is found is for one call, never for the connection: another call on it shows its own; (2) a
// credential counts only when it was made for our certificate and for that method, and once; (3)
// what is kept for calls that never begin is bounded, and so is the number of threads; (4) of a
// call that shows nothing good no message is read.

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/auth_metadata_processor.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "daemon/access/handshake_log.h"
#include "daemon/access/token_store.h"
#include "scheduler/runtime/identity/munge.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {

// What daemon/serve/door_probe calls over TLS: there is no such method, and its refusal is not
// logged.
inline constexpr const char* kDoorProbe = "/muster.wire.Controller/Door";

class MungeAuthenticator final : public grpc::AuthMetadataProcessor {
 public:
  // With the libmunge of this machine; without, which is logged, it takes no credential.
  // `certificate` is the PEM file of the server's own; null when there is none, and then no call
  // comes over TLS. `refusals` and `tokens`, which judges calls that show a token, may be null and
  // outlive it.
  static std::shared_ptr<MungeAuthenticator> Open(const std::string& socket,
                                                  const std::string& certificate, const Logger& log,
                                                  HandshakeLog* refusals,
                                                  const TokenStore* tokens = nullptr);
  // `munge` null: no credential is taken.
  MungeAuthenticator(std::shared_ptr<const Munge> munge, std::string certificate,
                     HandshakeLog* refusals, const TokenStore* tokens = nullptr)
      : munge_(std::move(munge)),
        certificate_(std::move(certificate)),
        refusals_(refusals),
        tokens_(tokens) {}

  // Whether the call that is processed next has a thread of its own; without one it does not wait.
  [[nodiscard]] bool IsBlocking() const override;
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* context,
                       OutputMetadata* consumed, OutputMetadata* response) override;

  // The user of a credential, or why it has none.
  struct Judged {
    absl::Status status;
    uid_t uid = 0;
  };

  // Whose the call with this credential is, once.
  Judged Take(const std::string& credential);

 private:
  static constexpr std::size_t kKeptMax = 4096;
  static constexpr std::size_t kOwnMax = 4;
  static constexpr int kThreadsMax =
      128;  // a munged that hangs, a flood of calls: no more than these

  grpc::Status Decide(const InputMetadata& metadata, const grpc::AuthContext& context,
                      bool may_wait);
  grpc::Status Refuse(const std::string& method, const std::string& why) const;
  Judged Judge(const std::string& credential, const std::string& method);
  // Our certificate's fingerprint, and those that it had lately: connections outlive a change of
  // it.
  std::vector<std::string> OwnFingerprints();

  const std::shared_ptr<const Munge> munge_;
  const std::string certificate_;
  HandshakeLog* const refusals_;
  const TokenStore* const tokens_;
  mutable std::atomic<int> threads_ = 0;
  Mutex mutex_;
  std::deque<std::string> own_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Judged> found_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> order_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster::daemon
