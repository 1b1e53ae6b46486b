#pragma once

// One connection between two supervisors of a step, without its socket: the peer's identity, and
// frames.
//
// Both prove that they hold the attempt's secret, by a nonce of each side, before either believes
// the other a word; from then on every frame carries a code (proto/supervisor.proto has the bytes).
// Thread promise: one owner. Invariants: (1) no frame is handed out of a peer that has not proved
// itself, or out of its order, or twice; (2) an unproved peer makes us keep at most kUnprovedMax
// bytes; (3) after an error the session is of no use.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/supervisor.pb.h"

namespace muster::agent {

// Who we are to our peers.
struct PeerSelf {
  std::string secret;  // of the attempt
  std::string step;    // its name, the same on all nodes
  std::uint32_t position = 0;
};

class PeerSession {
 public:
  static constexpr std::size_t kUnprovedMax = 1024;
  static constexpr std::size_t kFrameBytesMax = std::size_t{64} << 20;

  // We have called the supervisor at position `to`.
  static absl::StatusOr<PeerSession> Call(PeerSelf self, std::uint32_t to);
  // A peer has called us.
  static absl::StatusOr<PeerSession> Answer(PeerSelf self);

  // Bytes that came; whole frames are appended to `frames`. PermissionDenied: it does not know the
  // secret; InvalidArgument: it does not speak this protocol.
  absl::Status Take(std::string_view bytes, std::vector<wire::PeerFrame>* frames);
  // REQUIRES: proved(), and no larger than kFrameBytesMax.
  void Send(const wire::PeerFrame& frame);
  // What is to be sent now.
  std::string TakeOutgoing();

  [[nodiscard]] bool proved() const { return state_ == State::kProved; }
  // Of the peer; a caller's is known once it is proved.
  [[nodiscard]] std::uint32_t peer() const { return peer_; }

 private:
  enum class State { kAwaitsHello, kAwaitsChallenge, kAwaitsProof, kProved };
  PeerSession(PeerSelf self, State state, std::string nonce)
      : self_(std::move(self)), state_(state), nonce_(std::move(nonce)) {}

  absl::Status TakeHello(const wire::PeerFrame& frame);
  absl::Status TakeChallenge(const wire::PeerFrame& frame);
  absl::Status TakeProof(const wire::PeerFrame& frame);
  absl::Status TakeUnproved(std::string_view body);
  absl::Status TakeSealed(std::string_view sealed, std::vector<wire::PeerFrame>* frames);
  void Say(const wire::PeerFrame& frame);
  [[nodiscard]] std::string CodeOf(std::string_view role) const;
  void Prove(bool caller);

  PeerSelf self_;
  State state_;
  std::uint32_t peer_ = 0;
  std::string nonce_;
  std::string transcript_;  // once both nonces are known
  std::string sending_key_;
  std::string receiving_key_;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  std::string incoming_;
  std::string outgoing_;
};

}  // namespace muster::agent
