#pragma once

// What the kernel says of a connection: the user at its other end, how much it has sent, whether it
// is still the same one; and whether its first bytes are a caller's.

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::daemon {

// "192.0.2.7:4711" or "[2001:db8::1]:4711" of a TCP address; an IPv4 address in IPv6's clothes as
// itself. "" for any other.
std::string PeerText(const sockaddr_storage& address);

// The same of gRPC's words ("ipv4:192.0.2.7:4711", "ipv6:%5B::1%5D:4711").
std::string PeerText(std::string_view grpc_peer);

// What the connections of one source have in common: the address, of IPv6 the first 64 bits. Where
// the other end is on this machine and the kernel says whose it is, also the user.
std::string SourceOf(int fd, const sockaddr_storage& peer);

// How much has been received on a TCP connection; 0 when the kernel does not say.
std::uint64_t BytesReceived(int fd);
// Of a TCP connection the kernel takes about that number of bytes, at most, before they are read.
inline constexpr int kAnyWindow = 1 << 30;
void LimitWindow(int fd, int bytes);
// Ends a TCP connection and throws away what has come and was not read, of which a buffer of the
// kernel's holds a megabyte and more. Whoever else has the socket reads no more of it.
void DropUnread(int fd);

// The kernel's name for a socket, which no other ever has; 0: no socket has that number.
std::uint64_t CookieOf(int fd);

// How many bytes it takes to see whether a caller speaks, given the first ones: not more than there
// are: it does; -1: it does not.
//
// Over TLS the first record, a handshake of at most 16 KiB; else HTTP/2's preface.
int FirstBytesNeeded(std::string_view first, bool tls);
inline constexpr int kFirstBytesMax = 5 + (16 << 10);

}  // namespace muster::daemon
