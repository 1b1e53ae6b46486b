#pragma once

// Where calls over TLS show who their user is: a MUNGE credential in each call's metadata.
//
// gRPC asks it on threads of its own before the method begins, so that no other thread waits for
// munged; the method then takes what was found. Thread promise: safe from any thread. Invariants:
// (1) what is found is for one call, never for the connection: another call on it shows its own;
// (2) a credential counts only when it was made for our certificate and for that method, and once;
// (3) what is kept for calls that never begin is bounded.

#include <grpcpp/grpcpp.h>
#include <grpcpp/security/auth_metadata_processor.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/munge.h"
#include "scheduler/runtime/mutex.h"

namespace muster {

class MungeDoor final : public grpc::AuthMetadataProcessor {
 public:
  // With the libmunge of this machine; without, which the log tells, it takes no credential.
  // `certificate` is the PEM file of the server's own; with none nobody calls over TLS: null.
  static std::shared_ptr<MungeDoor> Open(const std::string& socket, const std::string& certificate,
                                         const Logger& log);
  // `munge` null: no credential is taken.
  MungeDoor(std::shared_ptr<const Munge> munge, std::string certificate)
      : munge_(std::move(munge)), certificate_(std::move(certificate)) {}

  [[nodiscard]] bool IsBlocking() const override { return true; }
  grpc::Status Process(const InputMetadata& metadata, grpc::AuthContext* context,
                       OutputMetadata* consumed, OutputMetadata* response) override;

  // Whose a credential is, or why it is nobody's.
  struct Judged {
    absl::Status status;
    uid_t uid = 0;
  };

  // Whose the call with this credential is, once.
  Judged Take(const std::string& credential);

 private:
  static constexpr std::size_t kKeptMax = 4096;
  static constexpr std::size_t kOwnMax = 4;
  static constexpr int kAskingMax = 256;  // a munged that hangs must not take every thread

  Judged Judge(const std::string& credential, const std::string& method);
  // Our certificate's fingerprint, and those that it had lately: connections outlive a change of
  // it.
  std::vector<std::string> OwnFingerprints();

  const std::shared_ptr<const Munge> munge_;
  const std::string certificate_;
  std::atomic<int> asking_ = 0;
  Mutex mutex_;
  std::deque<std::string> own_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, Judged> found_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::string> order_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace muster
