#include "agent/supervisor/container/container_call.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/launch/launch.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/passed_descriptors.h"

namespace muster::agent {
namespace {

absl::StatusOr<UniqueFd> InMemory(const std::string& bytes) {
  UniqueFd fd(memfd_create("container", MFD_CLOEXEC));
  if (!fd.valid() ||
      write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      lseek(fd.get(), 0, SEEK_SET) != 0) {
    return absl::ErrnoToStatus(errno, "cannot write a memory file");
  }
  return fd;
}

}  // namespace

absl::StatusOr<UniqueFd> CallContainerProgram(const ContainerCall& call, UniqueFd* said) {
  ASSIGN_OR_RETURN(const UniqueFd input, InMemory(call.order));
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  std::array<int, 2> ends{-1, -1};
  if (!null.valid() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a socket");
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  LaunchRequest request;
  request.programs = {call.program};
  request.arguments = {call.program};
  request.arguments.insert(request.arguments.end(), call.arguments.begin(), call.arguments.end());
  request.environment = call.environment;
  request.work_dir = "/";
  request.standard_input = input.get();
  request.standard_output = null.get();
  request.standard_error = null.get();
  request.channel = theirs.get();
  request.cgroup = call.cgroup == nullptr ? -1 : call.cgroup->procs();
  request.cgroup_directory = call.cgroup == nullptr ? -1 : call.cgroup->directory_fd();
  request.mounts = call.mounts;
  request.user = call.user;
  // Whether it runs, its answer says: an exec that fails closes the channel.
  ASSIGN_OR_RETURN(LaunchedChild child, Launch(request));
  *said = std::move(child.said);
  return ours;
}

ContainerAnswer TakeAnswer(const UniqueFd& socket) {
  ContainerAnswer answer;
  answer.bytes.resize(kContainerAnswerBytesMax);
  ReceivedMessage message = ReceiveWithDescriptors(socket.get(), answer.bytes);
  answer.bytes.resize(message.size > 0 ? static_cast<std::size_t>(message.size) : 0);
  answer.descriptors = std::move(message.descriptors);
  return answer;
}

}  // namespace muster::agent
