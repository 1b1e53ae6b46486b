#include "cli/connect/port_channel.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace muster::cli {
namespace {

// A frame: four bytes of the connection's number, one of its kind, two of its length, and its data.
constexpr std::size_t kHeadBytes = 7;
constexpr std::size_t kDataBytesMax = std::size_t{32} << 10;
constexpr std::size_t kQueuedMax = std::size_t{1} << 20;
constexpr std::size_t kTellTaken = PortChannel::kWindowBytes / 4;
constexpr std::size_t kCountBytes = 4;

void SetNonBlocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void AppendNumber(std::size_t number, std::size_t bytes, std::string* text) {
  for (std::size_t i = bytes; i > 0; --i) {
    text->push_back(static_cast<char>((number >> (8 * (i - 1))) & 0xff));
  }
}

std::size_t ReadNumber(std::string_view text) {
  std::size_t number = 0;
  for (const char byte : text) {
    number = number << 8 | static_cast<unsigned char>(byte);
  }
  return number;
}

bool Later() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

absl::Status Broken() {
  return absl::InternalError("the other end of the channel does not keep to the protocol");
}

}  // namespace

PortChannel::PortChannel(UniqueFd in, UniqueFd out) : in_(std::move(in)), out_(std::move(out)) {
  SetNonBlocking(in_.get());
  SetNonBlocking(out_.get());
}

void PortChannel::Say(Id id, Kind kind, std::string_view data) {
  AppendNumber(id, 4, &queued_);
  AppendNumber(static_cast<std::size_t>(kind), 1, &queued_);
  AppendNumber(data.size(), 2, &queued_);
  queued_ += data;
}

void PortChannel::SayReady() {
  Say(0, Kind::kReady);
}

// In, out, the listener, `stop`, then the sockets of `ids`.
std::vector<pollfd> PortChannel::Watched(int stop, std::vector<Id>* ids) const {
  const bool room = links_.size() < kConnectionsMax;
  const auto wanted = [](bool want, short events) { return static_cast<short>(want ? events : 0); };
  std::vector<pollfd> watched = {{in_.get(), POLLIN, 0},
                                 {queued_.empty() ? -1 : out_.get(), POLLOUT, 0},
                                 {room && listener_.valid() ? listener_.get() : -1, POLLIN, 0},
                                 {stop, POLLIN, 0}};
  for (const auto& [id, link] : links_) {
    const bool reads =
        !link.connecting && !link.read_ended && link.window > 0 && queued_.size() < kQueuedMax;
    const bool writes = link.connecting || !link.to_write.empty();
    const auto events = static_cast<short>(wanted(reads, POLLIN) | wanted(writes, POLLOUT));
    // Without any of them poll() would still tell of an error again and again.
    watched.push_back({events == 0 ? -1 : link.fd.get(), events, 0});
    ids->push_back(id);
  }
  return watched;
}

absl::Status PortChannel::Run(int stop) {
  while (!gone_) {
    std::vector<Id> ids;
    std::vector<pollfd> watched = Watched(stop, &ids);
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, "poll");
    }
    if (watched[3].revents != 0) {
      return absl::OkStatus();
    }
    if (watched[2].revents != 0) {
      Accept();
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (watched[4 + i].revents != 0) {
        Serve(ids[i], watched[4 + i].revents);
      }
    }
    if (watched[0].revents != 0) {
      RETURN_IF_ERROR(ReadFrames());
    }
    Flush();
  }
  return absl::OkStatus();
}

void PortChannel::Accept() {
  UniqueFd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (fd.valid()) {
    const Id id = next_++;
    links_[id].fd = std::move(fd);
    Say(id, Kind::kOpen);
  }
}

absl::Status PortChannel::ReadFrames() {
  std::array<char, kDataBytesMax> buffer;  // NOLINT: read() fills what is used.
  const ssize_t got = read(in_.get(), buffer.data(), buffer.size());
  if (got < 0 && Later()) {
    return absl::OkStatus();
  }
  gone_ = got <= 0;
  received_.append(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return TakeFrames();
}

absl::Status PortChannel::TakeFrames() {
  std::string_view rest = received_;
  while (rest.size() >= kHeadBytes) {
    const std::size_t size = ReadNumber(rest.substr(5, 2));
    if (size > kDataBytesMax) {
      return Broken();
    }
    if (rest.size() < kHeadBytes + size) {
      break;
    }
    RETURN_IF_ERROR(Take(static_cast<Id>(ReadNumber(rest.substr(0, 4))), static_cast<Kind>(rest[4]),
                         rest.substr(kHeadBytes, size)));
    rest.remove_prefix(kHeadBytes + size);
  }
  received_.erase(0, received_.size() - rest.size());
  return absl::OkStatus();
}

absl::Status PortChannel::Take(Id id, Kind kind, std::string_view data) {
  if (kind == Kind::kReady) {
    if (ready_) {
      ready_();
    }
    return absl::OkStatus();
  }
  if (kind == Kind::kOpen) {
    if (!opener_ || links_.count(id) != 0 || links_.size() >= kConnectionsMax) {
      return Broken();
    }
    Open(id);
    return absl::OkStatus();
  }
  const auto found = links_.find(id);
  if (found == links_.end()) {
    return absl::OkStatus();  // it ended while this was on its way
  }
  Link& link = found->second;
  if (kind == Kind::kData) {
    link.to_write += data;
    return link.to_write.size() > kWindowBytes || link.write_ends ? Broken() : absl::OkStatus();
  }
  if (kind == Kind::kTaken) {
    link.window += ReadNumber(data.substr(0, kCountBytes));
    return link.window > kWindowBytes ? Broken() : absl::OkStatus();
  }
  if (kind == Kind::kEnd) {
    link.write_ends = true;
    Write(id, link);
    return absl::OkStatus();
  }
  if (kind == Kind::kReset) {
    links_.erase(found);
    return absl::OkStatus();
  }
  return Broken();
}

void PortChannel::Open(Id id) {
  absl::StatusOr<UniqueFd> fd = opener_();
  if (!fd.ok()) {
    Say(id, Kind::kReset);
    return;
  }
  Link& link = links_[id];
  link.fd = *std::move(fd);
  link.connecting = true;
}

void PortChannel::Flush() {
  while (!queued_.empty()) {
    const ssize_t put = write(out_.get(), queued_.data(), queued_.size());
    if (put < 0) {
      gone_ = gone_ || !Later();
      return;
    }
    queued_.erase(0, static_cast<std::size_t>(put));
  }
}

void PortChannel::Serve(Id id, short events) {
  Link& link = links_[id];
  if (link.connecting) {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(link.fd.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
      Reset(id);
      return;
    }
    link.connecting = false;
  }
  const bool reads = !link.read_ended && link.window > 0;
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 && reads && !Read(id, link)) {
    Reset(id);
    return;
  }
  Write(id, link);
}

// False: the socket is broken.
bool PortChannel::Read(Id id, Link& link) {
  std::array<char, kDataBytesMax> buffer;  // NOLINT: read() fills what is used.
  const ssize_t got = read(link.fd.get(), buffer.data(), std::min(buffer.size(), link.window));
  if (got < 0) {
    return Later();
  }
  if (got == 0) {
    link.read_ended = true;
    Say(id, Kind::kEnd);
    return true;
  }
  link.window -= static_cast<std::size_t>(got);
  Say(id, Kind::kData, {buffer.data(), static_cast<std::size_t>(got)});
  return true;
}

// What waits for the socket, then its end; a link that has ended both ways is forgotten.
void PortChannel::Write(Id id, Link& link) {
  if (link.connecting) {
    return;
  }
  while (!link.to_write.empty()) {
    const ssize_t put =
        send(link.fd.get(), link.to_write.data(), link.to_write.size(), MSG_NOSIGNAL);
    if (put < 0 && Later()) {
      break;
    }
    if (put < 0) {
      Reset(id);
      return;
    }
    link.to_write.erase(0, static_cast<std::size_t>(put));
    link.taken += static_cast<std::size_t>(put);
  }
  if (link.taken >= kTellTaken) {
    std::string count;
    AppendNumber(std::exchange(link.taken, 0), kCountBytes, &count);
    Say(id, Kind::kTaken, count);
  }
  if (link.to_write.empty() && link.write_ends && !std::exchange(link.write_ended, true)) {
    shutdown(link.fd.get(), SHUT_WR);
  }
  if (link.write_ended && link.read_ended) {
    links_.erase(id);
  }
}

void PortChannel::Reset(Id id) {
  links_.erase(id);
  Say(id, Kind::kReset);
}

}  // namespace muster::cli
