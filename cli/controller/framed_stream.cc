#include "cli/controller/framed_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "scheduler/base/little_endian.h"

namespace muster::cli {
namespace {

// The code of an answer after which others come (daemon/door/framed_door.h).
constexpr std::size_t kMoreComes = 1000;

}  // namespace

FramedStream::State FramedStream::Read(const std::function<void(std::string_view)>& take) {
  std::array<char, 16384> buffer;  // NOLINT: recv() fills what is used.
  const ssize_t got = recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return State::kMore;
  }
  if (got <= 0) {
    return State::kBroken;
  }
  bytes_.append(buffer.data(), static_cast<std::size_t>(got));
  if (!greeted_) {
    const std::size_t compared = std::min(kFramesMagic.size(), bytes_.size());
    if (std::string_view(bytes_).substr(0, compared) != kFramesMagic.substr(0, compared)) {
      return State::kForeign;
    }
    if (compared < kFramesMagic.size()) {
      return State::kMore;
    }
    greeted_ = true;
    bytes_.erase(0, compared);
  }
  return TakeFrames(take);
}

FramedStream::State FramedStream::TakeFrames(const std::function<void(std::string_view)>& take) {
  std::size_t at = 0;
  State state = State::kMore;
  while (state == State::kMore && bytes_.size() - at >= kNumberBytes) {
    const std::size_t length = NumberAt(bytes_, at);
    if (length < 2 * kNumberBytes || length > kFramedAnswerBytesMax) {
      return State::kBroken;
    }
    if (bytes_.size() - at - kNumberBytes < length) {
      break;
    }
    const std::string_view frame = std::string_view(bytes_).substr(at + kNumberBytes, length);
    const std::size_t code = NumberAt(frame, 0);
    const std::size_t text = NumberAt(frame, kNumberBytes);
    if (text > length - 2 * kNumberBytes) {
      return State::kBroken;
    }
    if (code == kMoreComes) {
      take(frame.substr(2 * kNumberBytes + text));
    } else {
      code_ = static_cast<std::uint32_t>(code);
      text_ = frame.substr(2 * kNumberBytes, text);
      state = State::kEnded;
    }
    at += kNumberBytes + length;
  }
  bytes_.erase(0, at);
  return state;
}

}  // namespace muster::cli
