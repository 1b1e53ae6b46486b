#pragma once

// What a login service asks the supervisor of an attempt, and its answer: one packet each on a
// socket in the attempt's directory.
//
// The question is "may 1000" or "enter 1000". The answer to a session that enters brings
// descriptors: of the cgroup.procs file that it is to write "0" to, and, where the attempt has
// mounts of its own, of their namespace. The service's module is loaded into programs of others, so
// this needs nothing but the standard library. Pure. Invariant: a packet has at most
// kSessionPacketBytes, and one that was not written by ToPacket() is not read.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

inline constexpr std::size_t kSessionPacketBytes = std::size_t{64} * 1024;

// The socket's name in the attempt's directory: the user's number is part of it, so that nobody
// asks the supervisors of all the others.
std::string SessionSocketName(std::uint32_t uid);

struct SessionQuestion {
  bool enters = false;  // else it asks whether it might
  std::uint32_t uid = 0;
};
std::string ToPacket(const SessionQuestion& question);
std::optional<SessionQuestion> ParseSessionQuestion(std::string_view packet);

struct SessionAnswer {
  std::string refusal;                   // why not; empty: welcome
  std::string job;                       // as people name it
  std::int64_t started_ms = 0;           // when the attempt began, since the epoch
  std::vector<std::string> environment;  // "NAME=value", to one that enters
};
// One that would be too long goes without its environment.
std::string ToPacket(const SessionAnswer& answer);
std::optional<SessionAnswer> ParseSessionAnswer(std::string_view packet);

}  // namespace muster::agent
