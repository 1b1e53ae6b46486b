#include "agent/supervisor/control.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/control_packet.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "proto/convert/order.h"
#include "proto/supervisor.pb.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/passed_descriptors.h"

namespace muster::agent {
namespace {

// The bytes of a command and what the end of a connection looks like.
struct Packet {
  bool closed = false;
  std::string bytes;
};

absl::StatusOr<std::string> ReadMemoryFile(int fd) {
  std::string bytes(kControlCommandBytesMax + 1, '\0');
  const ssize_t got = pread(fd, bytes.data(), bytes.size(), 0);
  if (got < 0 || static_cast<std::size_t>(got) > kControlCommandBytesMax) {
    return absl::InvalidArgumentError("a command that cannot be read or exceeds 4 MiB");
  }
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

absl::StatusOr<Packet> Receive(int fd) {
  Packet packet;
  std::vector<char> buffer(kControlPacketBytes + 1);
  const ReceivedMessage received = ReceiveWithDescriptors(fd, buffer);
  if (received.size <= 0) {
    packet.closed = received.size == 0 || errno != EAGAIN;
    return packet;
  }
  if (!received.descriptors.empty()) {
    ASSIGN_OR_RETURN(packet.bytes, ReadMemoryFile(received.descriptors.front().get()));
    return packet;
  }
  if (received.cut) {
    return absl::InvalidArgumentError("a command that exceeds one packet");
  }
  packet.bytes.assign(buffer.data(), static_cast<std::size_t>(received.size));
  return packet;
}

template <class Order, class Message>
absl::StatusOr<ControlSocket::Command> Read(const Message& message) {
  Order order;
  RETURN_IF_ERROR(FromWire(message, &order));
  return ControlSocket::Command(std::move(order));
}

absl::StatusOr<ControlSocket::Command> Parse(const std::string& bytes) {
  wire::SupervisorCommand message;
  if (!message.ParseFromString(bytes)) {
    return absl::InvalidArgumentError("not a supervisor's command");
  }
  switch (message.body_case()) {
    case wire::SupervisorCommand::kStep:
      return Read<StepOrder>(message.step());
    case wire::SupervisorCommand::kTerminate:
      return Read<TerminateOrder>(message.terminate());
    case wire::SupervisorCommand::kSuspend:
      return Read<SuspendOrder>(message.suspend());
    case wire::SupervisorCommand::kSignal:
      return Read<SignalOrder>(message.signal());
    case wire::SupervisorCommand::kAttach:
      return Read<AttachOrder>(message.attach());
    case wire::SupervisorCommand::kAdvice:
      return Read<AdviceOrder>(message.advice());
    case wire::SupervisorCommand::kLease:
      return ControlSocket::Command(
          LeaseRenewal{SteadyTime(std::chrono::milliseconds(message.lease().until()))});
    default:
      return absl::UnimplementedError("a command that this supervisor does not know");
  }
}

}  // namespace

ControlSocket::ControlSocket(EventLoop& loop, std::string path, UniqueFd listener, Handler handler)
    : loop_(loop),
      path_(std::move(path)),
      listener_(std::move(listener)),
      handler_(std::move(handler)) {}

ControlSocket::~ControlSocket() {
  loop_.Unwatch(listener_.get());
  for (const auto& [fd, connection] : connections_) {
    loop_.Unwatch(fd);
  }
  unlink(path_.c_str());
}

absl::StatusOr<std::unique_ptr<ControlSocket>> ControlSocket::Open(EventLoop& loop,
                                                                   const std::string& path,
                                                                   Handler handler) {
  ASSIGN_OR_RETURN(UniqueFd listener, BindUnix(path, SOCK_SEQPACKET | SOCK_NONBLOCK));
  std::unique_ptr<ControlSocket> control(
      new ControlSocket(loop, path, std::move(listener), std::move(handler)));
  ControlSocket* self = control.get();
  RETURN_IF_ERROR(
      loop.Watch(self->listener_.get(), EPOLLIN, [self](std::uint32_t) { self->Accept(); }));
  return control;
}

void ControlSocket::Accept() {
  UniqueFd fd = AcceptConnection(listener_.get());
  if (!fd.valid() || connections_.size() >= kConnectionsMax || !IsPeerRootOrSelf(fd.get())) {
    return;
  }
  const int number = fd.get();
  if (loop_.Watch(number, EPOLLIN, [this, number](std::uint32_t) { Serve(number); }).ok()) {
    connections_[number] = std::move(fd);
  }
}

void ControlSocket::Serve(int fd) {
  const absl::StatusOr<Packet> packet = Receive(fd);
  if (packet.ok() && packet->closed) {
    loop_.Unwatch(fd);
    connections_.erase(fd);
    return;
  }
  if (packet.ok() && packet->bytes.empty()) {
    return;
  }
  absl::Status status = packet.status();
  if (status.ok()) {
    const absl::StatusOr<Command> command = Parse(packet->bytes);
    status = command.ok() ? handler_(*command) : command.status();
  }
  const std::string answer = status.ok() ? "ok" : std::string(status.message());
  send(fd, answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace muster::agent
