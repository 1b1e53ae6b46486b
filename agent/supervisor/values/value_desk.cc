#include "agent/supervisor/values/value_desk.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/reported_values.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/named_values.h"

namespace muster::agent {
namespace {

constexpr std::chrono::milliseconds kRefillEvery{200};

// 0: the kernel does not say.
pid_t SenderOf(msghdr& message) {
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  ucred sender{};
  if (header == nullptr || header->cmsg_level != SOL_SOCKET ||
      header->cmsg_type != SCM_CREDENTIALS) {
    return 0;
  }
  std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
  return sender.pid;
}

}  // namespace

ValueDesk::ValueDesk(Host host, UniqueFd socket)
    : host_(std::move(host)), socket_(std::move(socket)), timers_(host_.loop) {}

ValueDesk::~ValueDesk() {
  host_.loop.Unwatch(socket_.get());
  if (writing_) {
    Write();
  }
  unlink(host_.socket.c_str());
}

absl::StatusOr<std::unique_ptr<ValueDesk>> ValueDesk::Open(Host host) {
  ASSIGN_OR_RETURN(UniqueFd socket, BindUnix(host.socket, SOCK_DGRAM | SOCK_NONBLOCK));
  if (host.user != nullptr && lchown(host.socket.c_str(), host.user->uid, host.user->gid) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot give ", host.socket, " to its user"));
  }
  std::unique_ptr<ValueDesk> desk(new ValueDesk(std::move(host), std::move(socket)));
  RETURN_IF_ERROR(desk->Listen());
  return desk;
}

absl::Status ValueDesk::Listen() {
  // With each datagram the kernel says whose it is.
  const int on = 1;
  if (setsockopt(socket_.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return absl::ErrnoToStatus(errno, "cannot ask who reports");
  }
  return host_.loop.Watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { Read(); });
}

void ValueDesk::Read() {
  while (room_ > 0 && ReadOne()) {
    --room_;
  }
  if (room_ <= 0) {
    host_.loop.SetEvents(socket_.get(), 0).IgnoreError();  // until there is room again
  }
  if (room_ < kBurst && !std::exchange(refilling_, true)) {
    timers_.After(kRefillEvery, [this] { Rest(); });
  }
}

void ValueDesk::Rest() {
  refilling_ = false;
  const bool was_full = room_ <= 0;
  room_ = std::min(kBurst, room_ + kEachSecond * static_cast<int>(kRefillEvery.count()) / 1000);
  if (was_full) {
    host_.loop.SetEvents(socket_.get(), EPOLLIN).IgnoreError();
  }
  if (room_ < kBurst) {
    refilling_ = true;
    timers_.After(kRefillEvery, [this] { Rest(); });
  }
}

// False: there is none now.
bool ValueDesk::ReadOne() {
  std::array<char, kNamedValuesBytesMax + 1> buffer{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  iovec data{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) {
    return errno == EINTR;
  }
  const absl::StatusOr<std::vector<NamedValue>> values =
      ParseNamedValues(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  if (values.ok()) {
    watch_.Take(*values, host_.clock.Now(), SenderOf(message));
    WriteLater();
  }
  return true;
}

void ValueDesk::Note(std::optional<ReportedFinding> finding) {
  const bool news = finding.has_value() != noted_.has_value();
  noted_ = std::move(finding);
  if (news) {
    WriteLater();
  }
}

void ValueDesk::WriteLater() {
  if (!std::exchange(writing_, true)) {
    timers_.After(kWriteEvery, [this] {
      writing_ = false;
      Write();
    });
  }
}

// What cannot be written now is written with what comes next.
void ValueDesk::Write() {
  ReportedValues reported = watch_.Now(host_.clock.Now());
  if (noted_.has_value()) {
    reported.findings.insert(reported.findings.begin(), *noted_);
  }
  WriteReported(host_.file, reported).IgnoreError();
}

}  // namespace muster::agent
