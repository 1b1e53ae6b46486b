#include "cli/run/stream/step_frame.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

constexpr std::size_t kLengthBytes = 4;

std::size_t ReadLength(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return length;
}

}  // namespace

std::string EncodeFrame(const wire::StepFrame& frame) {
  const std::size_t length = frame.ByteSizeLong();
  std::string bytes;
  bytes.reserve(kLengthBytes + length);
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    bytes.push_back(static_cast<char>((length >> (8 * i)) & 0xff));
  }
  frame.AppendToString(&bytes);
  return bytes;
}

absl::StatusOr<std::optional<wire::StepFrame>> FrameReader::Next() {
  const std::string_view rest = std::string_view(buffer_).substr(start_);
  if (rest.size() < kLengthBytes) {
    return std::optional<wire::StepFrame>();
  }
  const std::size_t length = ReadLength(rest);
  if (length > kFrameBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a frame of ", length, " bytes is too large"));
  }
  if (rest.size() - kLengthBytes < length) {
    return std::optional<wire::StepFrame>();
  }
  wire::StepFrame frame;
  if (!frame.ParseFromArray(rest.data() + kLengthBytes, static_cast<int>(length))) {
    return absl::InvalidArgumentError("a frame does not parse");
  }
  start_ += kLengthBytes + length;
  // Moving the rest down only when it is the smaller half keeps the cost linear.
  if (start_ > buffer_.size() / 2) {
    buffer_.erase(0, start_);
    start_ = 0;
  }
  return std::optional<wire::StepFrame>(std::move(frame));
}

}  // namespace muster::cli
