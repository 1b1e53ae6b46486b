#pragma once

// Descriptors that go along with the bytes of a message over a unix socket (SCM_RIGHTS, unix(7)),
// and who is at the socket's other end. This needs the standard library alone: the PAM module uses
// it in sshd.
//
// Invariant: a descriptor that was received has its owner at once and is closed by exec. Thread
// promise: as the socket.

#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "scheduler/runtime/unique_fd.h"

namespace muster {

// In one message.
inline constexpr std::size_t kPassedDescriptorsMax = 64;

union PassedDescriptorsBuffer {
  cmsghdr align;
  std::array<char, CMSG_SPACE(kPassedDescriptorsMax * sizeof(int))> bytes;
};

// Sends the bytes, at least one, and with them the descriptors, at most kPassedDescriptorsMax,
// which stay the caller's. False: not all went, and errno says why. `flags` as sendmsg's.
inline bool SendWithDescriptors(int socket, std::string_view bytes,
                                std::span<const int> descriptors, int flags = 0) {
  if (descriptors.size() > kPassedDescriptorsMax) {
    errno = EINVAL;
    return false;
  }
  PassedDescriptorsBuffer control = {};
  iovec part = {const_cast<char*>(bytes.data()), bytes.size()};  // sendmsg does not write
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  ssize_t sent = 0;
  do {
    sent = sendmsg(socket, &message, flags | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

struct ReceivedMessage {
  ssize_t size = -1;  // as recvmsg's: 0 at the end, -1 with errno
  bool cut = false;   // bytes did not fit
  bool lost = false;  // descriptors did not fit, or we may have no more open
  std::vector<UniqueFd> descriptors;
};

// One message that is there already, its bytes in `place`.
inline ReceivedMessage ReceiveWithDescriptors(int socket, std::span<char> place) {
  ReceivedMessage received;
  PassedDescriptorsBuffer control = {};
  iovec part = {place.data(), place.size()};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  do {
    received.size = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (received.size < 0 && errno == EINTR);
  if (received.size < 0) {
    return received;
  }
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      received.descriptors.emplace_back(fd);
    }
  }
  received.cut = (message.msg_flags & MSG_TRUNC) != 0;
  received.lost = (message.msg_flags & MSG_CTRUNC) != 0;
  return received;
}

// Whether root or our own user is at the other end of a connected unix socket.
inline bool IsPeerRootOrSelf(int socket) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == 0 || peer.uid == geteuid());
}

}  // namespace muster
