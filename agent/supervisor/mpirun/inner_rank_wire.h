#pragma once

// What an inner rank and its supervisor tell one another on the socket MUSTER_RANK_SOCKET.
//
// One packet each way of fields NAME=VALUE, each ended by a zero byte; then the rank sends its
// KernelBinding and keeps the socket, close-on-exec, until its exec. Names in capitals are
// variables of its environment, others are of the protocol: `rank`, `size`, `local_rank`,
// `local_size` and `bound` (by its launcher) of the request, `cpus` and `mem_nodes` of the answer.
//
// A launcher in a container asks on the socket beside it for a remote shell outside: one packet of
// a field `word` for each word of HOST COMMAND... and a field `variable` for each of its
// MUSTER_..., with its three streams; the answer is the exit status, when that has ended. Who goes
// before ends it. Invariant: whatever the bytes are, parsing them is safe.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster::agent {

inline constexpr std::size_t kInnerPacketBytesMax = std::size_t{128} << 10;

// Of OMPI_MCA_hwloc_base_binding_policy: what we say, so that any other word is a user's own. To
// Open MPI it means the same as "none".
inline constexpr std::string_view kNoBindingOfItsOwn = "none:if-supported";

// The variables of its environment that a request has to hold, by the beginnings of their names.
inline constexpr std::string_view kInnerOwnPrefixes[] = {"OMP_", "MUSTER_CPUS=", "UCX_NET_DEVICES",
                                                         "NCCL_IB_HCA"};

// The socket for remote shells beside that for ranks.
inline std::string ShellSocket(std::string_view rank_socket) {
  return std::string(rank_socket.substr(0, rank_socket.rfind('/') + 1)) + "shells";
}

inline std::string PackFields(const std::vector<std::string>& fields) {
  std::string packet;
  for (const std::string& field : fields) {
    packet.append(field).push_back('\0');
  }
  return packet;
}

inline std::vector<std::string> UnpackFields(std::string_view packet) {
  std::vector<std::string> fields;
  while (!packet.empty()) {
    const std::size_t end = packet.find('\0');
    fields.emplace_back(packet.substr(0, end));
    packet.remove_prefix(end == std::string_view::npos ? packet.size() : end + 1);
  }
  return fields;
}

// The value of the first field of that name; empty: there is none.
inline std::string_view ValueOf(const std::vector<std::string>& fields, std::string_view name) {
  for (const std::string& field : fields) {
    if (field.size() > name.size() && field[name.size()] == '=' && field.starts_with(name)) {
      return std::string_view(field).substr(name.size() + 1);
    }
  }
  return {};
}

// The values of all the fields of that name, in order.
inline std::vector<std::string> ValuesOf(const std::vector<std::string>& fields,
                                         std::string_view name) {
  std::vector<std::string> values;
  for (const std::string& field : fields) {
    if (field.size() > name.size() && field[name.size()] == '=' && field.starts_with(name)) {
      values.push_back(field.substr(name.size() + 1));
    }
  }
  return values;
}

// The same as a number; 0: it is none.
inline std::uint32_t NumberOf(const std::vector<std::string>& fields, std::string_view name) {
  const std::string_view text = ValueOf(fields, name);
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

inline bool IsVariable(std::string_view field) {
  return !field.empty() && field.front() >= 'A' && field.front() <= 'Z';
}

}  // namespace muster::agent
