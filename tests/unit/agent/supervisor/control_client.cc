#include "tests/unit/agent/supervisor/control_client.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/control_packet.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "proto/convert/order.h"
#include "proto/supervisor.pb.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/passed_descriptors.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

constexpr timeval kAnswerTimeout = {20, 0};

absl::Status Unreachable(const AttemptDirectory& directory, const char* what, int error) {
  return absl::UnavailableError(absl::StrCat("supervisor of attempt ", directory.Name(), ": ", what,
                                             ": ", std::strerror(error)));
}

// A packet that carries the descriptor of a memory file with `bytes` in it.
bool SendAsFile(int socket, const std::string& bytes) {
  const UniqueFd file(memfd_create("muster-command", MFD_CLOEXEC));
  if (!file.valid() ||
      write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    return false;
  }
  return SendWithDescriptors(socket, "F", std::array{file.get()});
}

absl::Status Send(const AttemptDirectory& directory, const wire::SupervisorCommand& command) {
  const std::string bytes = command.SerializeAsString();
  if (bytes.size() > kControlCommandBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a step's order of ", bytes.size(),
                                                   " bytes: at most ", kControlCommandBytesMax));
  }
  const absl::StatusOr<UniqueFd> socket = ConnectUnix(directory.Control(), SOCK_SEQPACKET);
  if (!socket.ok()) {
    return absl::UnavailableError(std::string(socket.status().message()));
  }
  setsockopt(socket->get(), SOL_SOCKET, SO_RCVTIMEO, &kAnswerTimeout, sizeof(kAnswerTimeout));
  setsockopt(socket->get(), SOL_SOCKET, SO_SNDTIMEO, &kAnswerTimeout, sizeof(kAnswerTimeout));
  const bool sent = bytes.size() > kControlPacketBytes
                        ? SendAsFile(socket->get(), bytes)
                        : send(socket->get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                              static_cast<ssize_t>(bytes.size());
  if (!sent) {
    return Unreachable(directory, "cannot send", errno);
  }
  std::array<char, 4096> answer = {};
  const ssize_t got = recv(socket->get(), answer.data(), answer.size(), 0);
  if (got <= 0) {
    return Unreachable(directory, "no answer", got == 0 ? ECONNRESET : errno);
  }
  const std::string text(answer.data(), static_cast<std::size_t>(got));
  return text == "ok" ? absl::OkStatus() : absl::FailedPreconditionError(text);
}

}  // namespace

absl::Status SendStep(const AttemptDirectory& directory, const StepOrder& order) {
  wire::SupervisorCommand command;
  ToWire(order, command.mutable_step());
  return Send(directory, command);
}

absl::Status SendTerminate(const AttemptDirectory& directory, const TerminateOrder& order) {
  wire::SupervisorCommand command;
  ToWire(order, command.mutable_terminate());
  return Send(directory, command);
}

absl::Status SendSuspend(const AttemptDirectory& directory, const SuspendOrder& order) {
  wire::SupervisorCommand command;
  ToWire(order, command.mutable_suspend());
  return Send(directory, command);
}

absl::Status SendSignal(const AttemptDirectory& directory, const SignalOrder& order) {
  wire::SupervisorCommand command;
  ToWire(order, command.mutable_signal());
  return Send(directory, command);
}

absl::Status SendAttach(const AttemptDirectory& directory, const AttachOrder& order) {
  wire::SupervisorCommand command;
  ToWire(order, command.mutable_attach());
  return Send(directory, command);
}

absl::Status SendAdvice(const AttemptDirectory& directory, const AdviceOrder& order) {
  wire::SupervisorCommand command;
  ToWire(order, command.mutable_advice());
  return Send(directory, command);
}

absl::Status SendLease(const AttemptDirectory& directory, SteadyTime until) {
  wire::SupervisorCommand command;
  command.mutable_lease()->set_until(
      std::chrono::floor<std::chrono::milliseconds>(until.time_since_epoch()).count());
  return Send(directory, command);
}

}  // namespace muster::agent
