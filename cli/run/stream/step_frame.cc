#include "cli/run/stream/step_frame.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/little_endian.h"

namespace muster::cli {

std::string EncodeFrame(const wire::StepFrame& frame) {
  const std::size_t length = frame.ByteSizeLong();
  std::string bytes;
  bytes.reserve(kNumberBytes + length);
  PutNumber(length, bytes);
  frame.AppendToString(&bytes);
  return bytes;
}

absl::StatusOr<std::optional<wire::StepFrame>> FrameReader::Next() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  if (rest.size() < kNumberBytes) {
    return std::optional<wire::StepFrame>();
  }
  const std::size_t length = NumberAt(rest, 0);
  if (length > kFrameBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a frame of ", length, " bytes is too large"));
  }
  if (rest.size() - kNumberBytes < length) {
    return std::optional<wire::StepFrame>();
  }
  wire::StepFrame frame;
  if (!frame.ParseFromArray(rest.data() + kNumberBytes, static_cast<int>(length))) {
    return absl::InvalidArgumentError("a frame does not parse");
  }
  start_ += kNumberBytes + length;
  // Moving the rest down only when it is the smaller half keeps the cost linear.
  if (start_ > buffer_.size() / 2) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  return std::optional<wire::StepFrame>(std::move(frame));
}

}  // namespace muster::cli
