#include "agent/attempts/control_call.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/control_packet.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/passed_descriptors.h"

namespace muster::agent {
namespace {

// How often a supervisor that is not listening yet is tried.
constexpr std::chrono::milliseconds kRetryEvery{10};

// Sends one packet; one too large for the socket as a memory file whose descriptor it carries (see
// control_packet.h). False with errno when it was not taken.
bool SendPacket(int socket, const std::string& packet) {
  if (packet.size() <= kControlPacketBytes) {
    return send(socket, packet.data(), packet.size(), MSG_NOSIGNAL) >= 0;
  }
  const UniqueFd file(memfd_create("order", MFD_CLOEXEC));
  if (!file.valid() ||
      write(file.get(), packet.data(), packet.size()) != static_cast<ssize_t>(packet.size())) {
    return false;
  }
  return SendWithDescriptors(socket, "f", std::array{file.get()});
}

}  // namespace

ControlCall::~ControlCall() {
  CancelTimer();
  Disconnect();
}

void ControlCall::Send(std::string packet, Done done) {
  orders_.push_back({.packet = std::move(packet), .done = std::move(done)});
  if (orders_.size() == 1) {
    Begin();
  }
}

void ControlCall::Begin() {
  deadline_ = clock_.SteadyNow() + answer_within_;
  // In a round of the loop of its own: `done` never runs inside Send().
  timer_ = loop_.RunAfter(std::chrono::nanoseconds(0), [this] { Try(); });
}

absl::Status ControlCall::Connect() {
  ASSIGN_OR_RETURN(UniqueFd fd, ConnectUnix(path_, SOCK_SEQPACKET | SOCK_NONBLOCK));
  RETURN_IF_ERROR(loop_.Watch(fd.get(), EPOLLIN, [this](std::uint32_t) { TakeAnswer(); }));
  socket_ = std::move(fd);
  return absl::OkStatus();
}

void ControlCall::Try() {
  timer_.reset();
  if (clock_.SteadyNow() >= deadline_) {
    Finish(absl::DeadlineExceededError(absl::StrCat(path_, ": the supervisor did not answer")));
    return;
  }
  if (!socket_.valid() && !Connect().ok()) {
    TryAgain();
    return;
  }
  const std::string& packet = orders_.front().packet;
  if (SendPacket(socket_.get(), packet)) {
    timer_ = loop_.RunAfter(deadline_ - clock_.SteadyNow(), [this] { Try(); });
  } else {
    Disconnect();
    TryAgain();
  }
}

void ControlCall::TakeAnswer() {
  std::array<char, 4096> buffer = {};
  const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  if (orders_.empty()) {
    Disconnect();  // it has ended, or says what was not asked for
    return;
  }
  CancelTimer();
  if (got <= 0) {
    Disconnect();
    TryAgain();
    return;
  }
  const std::string answer(buffer.data(), static_cast<std::size_t>(got));
  Finish(answer == "ok" ? absl::OkStatus() : absl::FailedPreconditionError(answer));
}

void ControlCall::TryAgain() {
  timer_ = loop_.RunAfter(kRetryEvery, [this] { Try(); });
}

void ControlCall::Disconnect() {
  if (socket_.valid()) {
    loop_.Unwatch(socket_.get());
    socket_.reset();
  }
}

void ControlCall::CancelTimer() {
  if (timer_.has_value()) {
    loop_.Cancel(*timer_);
    timer_.reset();
  }
}

void ControlCall::Finish(const absl::Status& status) {
  const Order order = std::move(orders_.front());
  orders_.pop_front();
  // An answer that comes after its time must not be taken for the next order's.
  if (absl::IsDeadlineExceeded(status)) {
    Disconnect();
  }
  if (!orders_.empty()) {
    Begin();
  }
  order.done(status);  // last: it may end this object
}

}  // namespace muster::agent
