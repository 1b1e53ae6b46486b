#include "agent/supervisor/rank_pipes.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "scheduler/base/status.h"

namespace muster {
namespace {

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

absl::StatusOr<Pipe> MakePipe() {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  Pipe made;
  made.read.reset(ends[0]);
  made.write.reset(ends[1]);
  return made;
}

}  // namespace

absl::StatusOr<UniqueFd> OutputPipe::Open(std::function<void()> on_closed) {
  ASSIGN_OR_RETURN(Pipe made, MakePipe());
  if (fcntl(made.read.get(), F_SETFL, O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  RETURN_IF_ERROR(loop_.Watch(made.read.get(), EPOLLIN, [this](std::uint32_t) { Read(); }));
  fd_ = std::move(made.read);
  on_closed_ = std::move(on_closed);
  return std::move(made.write);
}

void OutputPipe::Read() {
  if (connection_.Full(rank_)) {
    // A hung-up pipe is reported whatever is asked for, so it is not watched at all.
    stopped_ = true;
    loop_.Unwatch(fd_.get());
    return;
  }
  std::array<char, 65536> buffer = {};
  const ssize_t got = read(fd_.get(), buffer.data(), buffer.size());
  if (got > 0) {
    connection_.SendOutput(rank_, error_,
                           std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    return;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  Close();
  const std::function<void()> closed = std::exchange(on_closed_, nullptr);
  if (closed) {
    closed();
  }
}

void OutputPipe::Resume() {
  if (!stopped_ || !fd_.valid()) {
    return;
  }
  stopped_ = false;
  if (!loop_.Watch(fd_.get(), EPOLLIN, [this](std::uint32_t) { Read(); }).ok()) {
    Close();
  }
}

void OutputPipe::Close() {
  if (fd_.valid()) {
    loop_.Unwatch(fd_.get());
    fd_.reset();
  }
}

absl::StatusOr<UniqueFd> InputPipe::Open() {
  ASSIGN_OR_RETURN(Pipe made, MakePipe());
  if (fcntl(made.write.get(), F_SETFL, O_NONBLOCK) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a pipe");
  }
  RETURN_IF_ERROR(loop_.Watch(made.write.get(), 0, [this](std::uint32_t events) {
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
      Close();  // nobody reads it any more
    } else {
      Write();
    }
  }));
  fd_ = std::move(made.write);
  return std::move(made.read);
}

void InputPipe::Give(const std::string& data) {
  if (!fd_.valid()) {
    return;
  }
  ended_ = ended_ || data.empty();
  queued_ += data;
  Write();
}

void InputPipe::Write() {
  while (!queued_.empty()) {
    const ssize_t written = write(fd_.get(), queued_.data(), queued_.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0 && errno == EAGAIN) {
      break;
    }
    if (written < 0) {
      Close();
      return;
    }
    queued_.erase(0, static_cast<std::size_t>(written));
  }
  if (queued_.empty() && ended_) {
    Close();
    return;
  }
  loop_.SetEvents(fd_.get(), queued_.empty() ? 0U : static_cast<std::uint32_t>(EPOLLOUT))
      .IgnoreError();
  SetFull(queued_.size() >= kQueuedBytesMax);
}

void InputPipe::SetFull(bool full) {
  if (std::exchange(full_, full) != full) {
    connection_.PauseInput(full);
  }
}

void InputPipe::Close() {
  if (fd_.valid()) {
    loop_.Unwatch(fd_.get());
    fd_.reset();
    queued_.clear();
    SetFull(false);
  }
}

}  // namespace muster
