#pragma once

// A byte stream between two processes that share a token, sealed by AES-256-GCM: nobody on the
// network reads it, changes it, leaves a part of it out or plays it again.
//
// The caller begins with kPrefaceBytes: a mark and a nonce. From then on, either way, records: the
// length as 4 little-endian bytes, the ciphertext and its tag (16 bytes); the number of the record
// in its direction is its nonce. Each direction has a key of its own: HMAC-SHA-256 under the token
// of a label and the caller's nonce. The cipher is libcrypto's, which is loaded when first needed.
// Thread promise: one owner. Invariants: (1) what Open() hands out is what the other end sealed, in
// its order and whole; (2) at most one record is kept; (3) after an error it is of no use. That a
// nonce comes twice the answerer has to notice: SealedAnswer does.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster {

class SealedStream {
 public:
  static constexpr std::size_t kPrefaceBytes = 40;
  static constexpr std::size_t kRecordBytesMax = std::size_t{64} << 10;  // of plain text

  // The caller's end; `preface` is what it sends first.
  static absl::StatusOr<SealedStream> Call(std::string_view token, std::string* preface);
  // The answerer's, which has read the preface. InvalidArgument when it is none.
  static absl::StatusOr<SealedStream> Answer(std::string_view token, std::string_view preface);
  SealedStream(SealedStream&&) noexcept;
  SealedStream& operator=(SealedStream&&) noexcept;
  ~SealedStream();

  // What to send so that the other end gets `plain`.
  absl::StatusOr<std::string> Seal(std::string_view plain);
  // Bytes that came; what they hold is appended to `plain`. PermissionDenied: they were not sealed
  // with this token, or were changed.
  absl::Status Open(std::string_view bytes, std::string* plain);

 private:
  class Direction;
  SealedStream();
  static absl::StatusOr<SealedStream> Make(std::string_view token, std::string_view preface,
                                           bool caller);

  std::unique_ptr<Direction> sending_;
  std::unique_ptr<Direction> receiving_;
  std::string kept_;
};

// The answerer's end while it does not know yet who calls: the caller has one of some tokens.
class SealedAnswer {
 public:
  // Bytes that came; the plain text is appended to `plain`. PermissionDenied: no token fits, or the
  // nonce is in `seen`, where each nonce goes.
  absl::Status Take(std::string_view bytes, const std::vector<std::string>& tokens,
                    std::set<std::string>* seen, std::string* plain);
  // Whether a token fitted.
  [[nodiscard]] bool known() const { return stream_ != nullptr; }
  // REQUIRES: known().
  absl::StatusOr<std::string> Seal(std::string_view plain) { return stream_->Seal(plain); }

 private:
  absl::Status Find(const std::vector<std::string>& tokens, std::string* plain);

  std::string kept_;
  std::unique_ptr<SealedStream> stream_;
};

}  // namespace muster
