#include "agent/supervisor/exchange/peer_session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/little_endian.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/mac.h"

namespace muster::agent {
namespace {

constexpr std::size_t kCodeBytes = 16;
constexpr std::size_t kNonceBytes = 32;
constexpr std::string_view kCallRole = "muster exchange call\n";
constexpr std::string_view kAnswerRole = "muster exchange answer\n";
constexpr std::string_view kToCallerRole = "muster exchange to caller\n";
constexpr std::string_view kToAnswererRole = "muster exchange to answerer\n";

std::string LittleEndian(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) {
    text.push_back(static_cast<char>((number >> (8 * i)) & 0xffU));
  }
  return text;
}

std::string SealOf(const std::string& key, std::uint64_t number, std::string_view body) {
  return MacOf(key, {LittleEndian(number, sizeof(number)), body}).substr(0, kCodeBytes);
}

std::string TranscriptOf(const std::string& step, std::uint32_t from, std::uint32_t to,
                         const std::string& caller_nonce, const std::string& answerer_nonce) {
  return absl::StrCat(step, "\n", from, "\n", to, "\n", caller_nonce, answerer_nonce);
}

absl::Status NotOurs(const char* what) {
  return absl::InvalidArgumentError(what);
}

}  // namespace

absl::StatusOr<PeerSession> PeerSession::Call(PeerSelf self, std::uint32_t to) {
  ASSIGN_OR_RETURN(std::string nonce, RandomBytes(kNonceBytes));
  PeerSession session(std::move(self), State::kAwaitsChallenge, std::move(nonce));
  session.peer_ = to;
  wire::PeerFrame frame;
  frame.set_from(session.self_.position);
  frame.set_to(to);
  frame.mutable_hello()->set_step(session.self_.step);
  frame.mutable_hello()->set_nonce(session.nonce_);
  session.Say(frame);
  return session;
}

absl::StatusOr<PeerSession> PeerSession::Answer(PeerSelf self) {
  ASSIGN_OR_RETURN(std::string nonce, RandomBytes(kNonceBytes));
  return PeerSession(std::move(self), State::kAwaitsHello, std::move(nonce));
}

absl::Status PeerSession::Take(std::string_view bytes, std::vector<wire::PeerFrame>* frames) {
  incoming_.append(bytes);
  std::size_t at = 0;
  while (incoming_.size() - at >= kNumberBytes) {
    const std::string_view rest = std::string_view(incoming_).substr(at);
    const std::size_t length = NumberAt(rest, 0);
    if (length > (proved() ? kFrameBytesMax + kCodeBytes : kUnprovedMax)) {
      return NotOurs("a frame that is too long");
    }
    if (rest.size() < kNumberBytes + length) {
      break;
    }
    const std::string_view body = rest.substr(kNumberBytes, length);
    RETURN_IF_ERROR(proved() ? TakeSealed(body, frames) : TakeUnproved(body));
    at += kNumberBytes + length;
  }
  incoming_.erase(0, at);
  return absl::OkStatus();
}

absl::Status PeerSession::TakeUnproved(std::string_view body) {
  wire::PeerFrame frame;
  if (!frame.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return NotOurs("bytes that are no frame");
  }
  if (state_ == State::kAwaitsHello && frame.has_hello()) {
    return TakeHello(frame);
  }
  if (state_ == State::kAwaitsChallenge && frame.has_challenge()) {
    return TakeChallenge(frame);
  }
  if (state_ == State::kAwaitsProof && frame.has_proof()) {
    return TakeProof(frame);
  }
  return NotOurs("a frame before its time");
}

absl::Status PeerSession::TakeHello(const wire::PeerFrame& frame) {
  if (frame.hello().step() != self_.step || frame.to() != self_.position ||
      frame.from() == self_.position || frame.hello().nonce().size() != kNonceBytes) {
    return NotOurs("a call for another supervisor");
  }
  peer_ = frame.from();
  transcript_ = TranscriptOf(self_.step, peer_, self_.position, frame.hello().nonce(), nonce_);
  wire::PeerFrame answer;
  answer.set_from(self_.position);
  answer.set_to(peer_);
  answer.mutable_challenge()->set_nonce(nonce_);
  answer.mutable_challenge()->set_proof(CodeOf(kAnswerRole));
  Say(answer);
  state_ = State::kAwaitsProof;
  return absl::OkStatus();
}

absl::Status PeerSession::TakeChallenge(const wire::PeerFrame& frame) {
  if (frame.challenge().nonce().size() != kNonceBytes) {
    return NotOurs("a challenge of the wrong length");
  }
  transcript_ = TranscriptOf(self_.step, self_.position, peer_, nonce_, frame.challenge().nonce());
  if (!SameBytes(frame.challenge().proof(), CodeOf(kAnswerRole))) {
    return absl::PermissionDeniedError(
        "the process that answers does not know the attempt's secret");
  }
  wire::PeerFrame answer;
  answer.set_from(self_.position);
  answer.set_to(peer_);
  answer.mutable_proof()->set_proof(CodeOf(kCallRole));
  Say(answer);
  Prove(/*caller=*/true);
  return absl::OkStatus();
}

absl::Status PeerSession::TakeProof(const wire::PeerFrame& frame) {
  if (!SameBytes(frame.proof().proof(), CodeOf(kCallRole))) {
    return absl::PermissionDeniedError("the process that calls does not know the attempt's secret");
  }
  Prove(/*caller=*/false);
  return absl::OkStatus();
}

std::string PeerSession::CodeOf(std::string_view role) const {
  return MacOf(self_.secret, {role, transcript_});
}

void PeerSession::Prove(bool caller) {
  sending_key_ = CodeOf(caller ? kToAnswererRole : kToCallerRole);
  receiving_key_ = CodeOf(caller ? kToCallerRole : kToAnswererRole);
  state_ = State::kProved;
}

absl::Status PeerSession::TakeSealed(std::string_view sealed,
                                     std::vector<wire::PeerFrame>* frames) {
  if (sealed.size() < kCodeBytes) {
    return NotOurs("a frame without its code");
  }
  const std::string_view body = sealed.substr(kCodeBytes);
  if (!SameBytes(sealed.substr(0, kCodeBytes), SealOf(receiving_key_, received_, body))) {
    return absl::PermissionDeniedError("a frame that was forged, changed or sent again");
  }
  ++received_;
  wire::PeerFrame frame;
  if (!frame.ParseFromArray(body.data(), static_cast<int>(body.size()))) {
    return NotOurs("bytes that are no frame");
  }
  frames->push_back(std::move(frame));
  return absl::OkStatus();
}

void PeerSession::Say(const wire::PeerFrame& frame) {
  const std::string body = frame.SerializeAsString();
  outgoing_ += LittleEndian(body.size(), kNumberBytes) + body;
}

void PeerSession::Send(const wire::PeerFrame& frame) {
  MUSTER_CHECK(proved());
  const std::string body = frame.SerializeAsString();
  MUSTER_CHECK(body.size() <= kFrameBytesMax);
  outgoing_ += LittleEndian(body.size() + kCodeBytes, kNumberBytes);
  outgoing_ += SealOf(sending_key_, sent_++, body);
  outgoing_ += body;
}

std::string PeerSession::TakeOutgoing() {
  return std::exchange(outgoing_, std::string());
}

}  // namespace muster::agent
