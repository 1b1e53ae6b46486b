#pragma once

// MUNGE credentials: a machine vouches for the user of a process, for any machine that has the same
// key.
//
// libmunge is opened when it is wanted: nothing here needs it to be installed. Thread promise:
// immutable; safe from any thread, and each call waits for the local munged (milliseconds).
// Invariant: a credential is taken once; munged remembers those that were.

#include <sys/types.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace muster {

class Munge {
 public:
  struct Proof {
    uid_t uid = 0;
    gid_t gid = 0;
    std::string payload;
  };

  // `socket` is munged's; empty: where the library looks. Unavailable when there is no libmunge.
  static absl::StatusOr<std::shared_ptr<const Munge>> Load(const std::string& socket);
  Munge(const Munge&) = delete;
  Munge& operator=(const Munge&) = delete;
  ~Munge();

  // A credential of this process's user, good for kLifeSeconds, over the payload.
  [[nodiscard]] absl::StatusOr<std::string> Encode(const std::string& payload) const;
  // Whose a credential is. Unauthenticated: forged, expired, or taken before; Unavailable: no
  // munged answers.
  [[nodiscard]] absl::StatusOr<Proof> Decode(const std::string& credential) const;

  static constexpr int kLifeSeconds = 120;

 private:
  struct Library;
  Munge(std::unique_ptr<const Library> library, std::string socket);
  const std::unique_ptr<const Library> library_;
  const std::string socket_;
};

// What a credential for one call of ours is over: it is good for the server with that certificate
// and for that method ("/muster.wire.Controller/Submit"), and useless to others that see it on the
// way.
std::string MungePayload(const std::string& server_fingerprint, const std::string& method,
                         const std::string& nonce);

// Whether `payload` is MungePayload of these, with any nonce.
bool IsMungePayload(const std::string& payload, const std::string& server_fingerprint,
                    const std::string& method);

// The metadata in which a call carries its credential.
inline constexpr const char* kMungeMetadata = "muster-munge";

}  // namespace muster
