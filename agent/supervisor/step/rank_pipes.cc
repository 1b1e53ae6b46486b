#include "agent/supervisor/step/rank_pipes.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "scheduler/base/status.h"

namespace muster::agent {
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

absl::Status MakeNonBlocking(int fd) {
  return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, "cannot make a pipe");
}

}  // namespace

absl::StatusOr<UniqueFd> OutputPipe::Open(std::function<void()> on_closed) {
  ASSIGN_OR_RETURN(Pipe made, MakePipe());
  RETURN_IF_ERROR(Take(std::move(made.read), std::move(on_closed)));
  return std::move(made.write);
}

absl::Status OutputPipe::Take(UniqueFd fd, std::function<void()> on_closed) {
  RETURN_IF_ERROR(MakeNonBlocking(fd.get()));
  RETURN_IF_ERROR(loop_.Watch(fd.get(), EPOLLIN, [this](std::uint32_t) { Read(); }));
  fd_ = std::move(fd);
  on_closed_ = std::move(on_closed);
  return absl::OkStatus();
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
  RETURN_IF_ERROR(Take(std::move(made.write)));
  return std::move(made.read);
}

absl::Status InputPipe::Take(UniqueFd fd) {
  RETURN_IF_ERROR(MakeNonBlocking(fd.get()));
  RETURN_IF_ERROR(loop_.Watch(fd.get(), 0, [this](std::uint32_t events) {
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
      End();  // nobody reads it any more
    } else {
      Write();
    }
  }));
  fd_ = std::move(fd);
  return absl::OkStatus();
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
      End();
      return;
    }
    queued_.erase(0, static_cast<std::size_t>(written));
  }
  if (queued_.empty() && ended_) {
    End();
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

void InputPipe::End() {
  Close();
  if (const std::function<void()> closed = std::exchange(on_closed_, nullptr); closed) {
    closed();
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

}  // namespace muster::agent
