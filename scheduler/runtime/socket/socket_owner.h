#pragma once

// Whose a TCP socket of this machine is, as the kernel tells anyone who asks (sock_diag(7)).
//
// A connection by TCP does not say which user made it, as one by a unix socket does; where both its
// ends are on this machine, the kernel knows. Invariant: a socket that no process holds any more
// has no owner, though the kernel shows it as root's.

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>

namespace muster {

// A TCP address with IPv4 as itself, also where an IPv6 socket shows it as its own.
sockaddr_storage PlainAddress(const sockaddr_storage& address);

// The user who made the socket whose own end is `own` and whose other is `other`, plain addresses;
// of a listening one `other` is any. Nothing: there is none, or the kernel does not tell.
std::optional<uid_t> SocketOwner(const sockaddr_storage& own, const sockaddr_storage& other);

// The same of the other end of a connection.
std::optional<uid_t> PeerOwner(int fd);

// Whether the kernel tells owners at all, given a listening TCP socket of this process: one without
// inet_diag does not.
bool TellsOwners(int listener);

}  // namespace muster
