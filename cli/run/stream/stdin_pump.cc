#include "cli/run/stream/stdin_pump.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace muster::cli {
namespace {

constexpr std::chrono::milliseconds kBehindPause{5};
constexpr std::chrono::milliseconds kBackgroundPause{200};
// What was not used of a rate is made up for within this time.
constexpr std::chrono::milliseconds kPaceMemory{100};

}  // namespace

void StdinPump::Start() {
  if (!started_) {
    started_ = true;
    Wait();
  }
}

// Arranges the next Pump(): when there is input, or, for files, at once.
void StdinPump::Wait() {
  if (pollable_) {
    const absl::Status watched = loop_.Watch(fd_, EPOLLIN, [this](std::uint32_t) { Pump(); });
    pollable_ = watched.ok();
  }
  if (!pollable_) {
    loop_.RunAfter(std::chrono::nanoseconds(0), [this] { Pump(); });
  }
}

void StdinPump::Pump() {
  loop_.Unwatch(fd_);
  // Who may leave by a key reads on for it.
  if (!leave_ && !listener_.TakesInput()) {
    return;
  }
  if (listener_.WritesPending()) {
    loop_.RunAfter(kBehindPause, [this] { Pump(); });
    return;
  }
  if (const auto now = std::chrono::steady_clock::now(); rate_ > 0 && now < due_) {
    loop_.RunAfter(due_ - now, [this] { Pump(); });
    return;
  }
  if (isatty(fd_) != 0 && tcgetpgrp(fd_) != getpgrp()) {
    loop_.RunAfter(kBackgroundPause, [this] { Wait(); });
    return;
  }
  std::array<char, StepSession::kInputChunkBytes> buffer;  // NOLINT: read() fills what is used.
  const ssize_t got = read(fd_, buffer.data(), buffer.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
    Wait();
    return;
  }
  if (leave_ && got > 0 &&
      std::find(buffer.begin(), buffer.begin() + got, leave_key_) != buffer.begin() + got) {
    leave_();
    return;
  }
  if (rate_ > 0 && got > 0) {
    const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(static_cast<double>(got) / static_cast<double>(rate_)));
    due_ = std::max(due_, std::chrono::steady_clock::now() - kPaceMemory) + took;
  }
  // An input that cannot be read has ended.
  Send(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  if (got > 0) {
    Wait();
  }
}

void StdinPump::Send(const char* data, std::size_t size) {
  wire::StepFrame frame;
  frame.mutable_input()->set_data(data, size);
  frame.mutable_input()->set_stops(!leave_);
  frame.mutable_input()->set_within_room(true);
  listener_.SendToAll(frame);
}

}  // namespace muster::cli
