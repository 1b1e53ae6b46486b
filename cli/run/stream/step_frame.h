#pragma once

// The frames of a step's i/o connection: the length of a StepFrame as a 4-byte little-endian
// number, then the StepFrame.
//
// Thread promise: a FrameReader has one owner. Invariants: a frame larger than kFrameBytesMax or
// one that does not parse ends the connection; it is never guessed at.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "proto/supervisor.pb.h"

namespace muster::cli {

inline constexpr std::size_t kFrameBytesMax = std::size_t{4} << 20;

// The frame's bytes with their length in front.
std::string EncodeFrame(const wire::StepFrame& frame);

// Cuts a byte stream into frames.
class FrameReader {
 public:
  void Append(std::string_view bytes) { buffer_.append(bytes); }
  // The next whole frame, or nothing while it is incomplete. InvalidArgument: the peer does not
  // speak this protocol; the reader is of no use afterwards.
  absl::StatusOr<std::optional<wire::StepFrame>> Next();
  std::size_t buffered() const { return buffer_.size() - start_; }

 private:
  std::string buffer_;
  std::size_t start_ = 0;  // of the first byte that no frame has taken
};

}  // namespace muster::cli
