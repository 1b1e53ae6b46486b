#include "cli/controller/framed_channel.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "scheduler/base/little_endian.h"

namespace muster::cli {
namespace {

// What daemon/door/framed_door takes, less room for its numbers.
constexpr std::size_t kRequestBytesMax = (std::size_t{16} << 20U) - 64;

void LimitWaits(int fd, std::chrono::milliseconds timeout) {
  constexpr std::int64_t kMillis = 1000;
  timeval time{};
  time.tv_sec = timeout.count() / kMillis;
  time.tv_usec = timeout.count() % kMillis * kMillis;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

// The errno of a failure; 0 when the other end is gone.
int SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
  }
  return 0;
}

// Reads until `bytes` has `size`; false, with an errno or 0 for the end.
bool ReadTo(int fd, std::size_t size, std::string& bytes, int* error) {
  while (bytes.size() < size) {
    const std::size_t have = bytes.size();
    bytes.resize(size);
    const ssize_t got = recv(fd, bytes.data() + have, size - have, 0);
    *error = got < 0 ? errno : 0;
    bytes.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got == 0 || (got < 0 && *error != EINTR)) {
      return false;
    }
  }
  return true;
}

std::string FrameOf(std::string_view method, std::string_view request, bool greeted) {
  std::string frame(greeted ? "" : kFramesMagic);
  PutNumber(kNumberBytes + method.size() + request.size(), frame);
  PutNumber(method.size(), frame);
  frame.append(method);
  frame.append(request);
  return frame;
}

}  // namespace

FramedChannel::Line FramedChannel::TakeIdle() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (idle_.empty()) {
    return {};
  }
  Line line = std::move(idle_.back());
  idle_.pop_back();
  return line;
}

std::unique_ptr<FramedStream> FramedChannel::Open(std::string_view method,
                                                  std::string_view request) {
  Line line = Connect() == 0 ? TakeIdle() : Line();
  const std::string frame = FrameOf(method, request, line.greeted);
  if (!line.fd.valid() || SendAll(line.fd.get(), frame) != 0) {
    return nullptr;
  }
  return std::make_unique<FramedStream>(std::move(line.fd), line.greeted);
}

int FramedChannel::Connect() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      return 0;
    }
  }
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path_.c_str(), std::min(path_.size(), sizeof(name.sun_path) - 1));
  Line line;
  line.fd.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!line.fd.valid() ||
      connect(line.fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name)) != 0) {
    return errno;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(line));
  return 0;
}

FramedChannel::Answer FramedChannel::Call(std::string_view method, std::string_view request,
                                          std::chrono::milliseconds timeout) {
  if (method.size() + request.size() > kRequestBytesMax) {
    return {.outcome = Outcome::kForeign, .code = 0, .text = "", .reply = ""};  // gRPC refuses it
  }
  Line line = TakeIdle();
  if (!line.fd.valid()) {
    return {};
  }
  LimitWaits(line.fd.get(), timeout);
  const std::string frame = FrameOf(method, request, line.greeted);
  Answer answer;
  const auto failed = [&answer](int error) {
    answer.outcome = error == EAGAIN || error == EWOULDBLOCK ? Outcome::kLate : Outcome::kBroken;
    return answer;
  };
  if (const int error = SendAll(line.fd.get(), frame); error != 0) {
    return failed(error);
  }
  const std::size_t greeting = line.greeted ? 0 : kFramesMagic.size();
  std::string bytes;
  int error = 0;
  const bool begun = ReadTo(line.fd.get(), greeting + kNumberBytes, bytes, &error);
  const std::size_t compared = std::min(greeting, bytes.size());
  if (std::string_view(bytes).substr(0, compared) != kFramesMagic.substr(0, compared)) {
    answer.outcome = Outcome::kForeign;
    return answer;
  }
  if (!begun) {
    return failed(error);
  }
  const std::size_t length = NumberAt(bytes, greeting);
  bytes.clear();
  if (length < 2 * kNumberBytes || length > kFramedAnswerBytesMax ||
      !ReadTo(line.fd.get(), length, bytes, &error)) {
    return failed(error);
  }
  const std::size_t text = NumberAt(bytes, kNumberBytes);
  if (text > length - 2 * kNumberBytes) {
    return answer;
  }
  answer.outcome = Outcome::kAnswered;
  answer.code = static_cast<std::uint32_t>(NumberAt(bytes, 0));
  answer.text = bytes.substr(2 * kNumberBytes, text);
  bytes.erase(0, 2 * kNumberBytes + text);
  answer.reply = std::move(bytes);
  line.greeted = true;
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(line));
  return answer;
}

}  // namespace muster::cli
