#include "cli/controller/reach.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::cli {

const std::size_t kSocketPathBytesMax = sizeof(sockaddr_un::sun_path) - 1;

int ProbeSocket(const std::string& path) {
  sockaddr_un name = {};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size());
  const UniqueFd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) {
    return errno;
  }
  const int result = connect(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof(name));
  return result == 0 || errno == EAGAIN ? 0 : errno;
}

absl::Status Nobody(const Address& address) {
  const char* const mend = address.kind == Address::Kind::kUnix
                               ? ": start one with \"muster up\""
                               : ": check that musterd runs there, with the keys that ours are of";
  return absl::UnavailableError(absl::StrCat("muster: no controller at ", address.text, mend));
}

absl::Status HandshakeError(const Address& address, const std::string& message) {
  constexpr std::string_view kPlugin = "plugin failed with error: ";
  const std::size_t plugin = message.find(kPlugin);
  if (plugin != std::string::npos) {
    return absl::UnauthenticatedError(message.substr(plugin + kPlugin.size()));
  }
  if (message.find("handshake failed") != std::string::npos ||
      message.find("Peer name") != std::string::npos) {
    return absl::UnauthenticatedError(
        absl::StrCat(address.text, ": is not the controller that ", address.keys.authority,
                     " vouches for: bring the cluster's ca.pem there, or correct the address"));
  }
  return absl::OkStatus();
}

}  // namespace muster::cli
