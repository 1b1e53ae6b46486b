#include "scheduler/runtime/journald.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr const char* kSocket = "/run/systemd/journal/socket";

}  // namespace

std::string JournaldEntry(const std::vector<JournaldField>& fields) {
  std::string entry;
  for (const auto& [name, value] : fields) {
    entry += name;
    if (value.find('\n') == std::string_view::npos) {
      entry += '=';
    } else {  // then behind its length, 64 bits, the lowest byte first
      entry += '\n';
      for (unsigned byte = 0; byte < 8; ++byte) {
        entry += static_cast<char>(static_cast<std::uint64_t>(value.size()) >> (8 * byte) & 0xff);
      }
    }
    entry += value;
    entry += '\n';
  }
  return entry;
}

std::optional<Journald> Journald::OfStandardError() {
  const char* stream = getenv("JOURNAL_STREAM");  // NOLINT(concurrency-mt-unsafe): before threads.
  struct stat ours {};
  if (stream == nullptr || fstat(STDERR_FILENO, &ours) != 0 ||
      absl::StrCat(ours.st_dev, ":", ours.st_ino) != stream) {
    return std::nullopt;
  }
  return At(kSocket);
}

std::optional<Journald> Journald::OfParent() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before threads.
  return getenv(kJournaldVariable) != nullptr ? At(kSocket) : std::nullopt;
}

std::optional<Journald> Journald::At(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    return std::nullopt;
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0 ||
      connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return std::nullopt;
  }
  return Journald(std::move(socket));
}

bool Journald::Send(const std::vector<JournaldField>& fields) const {
  const std::string entry = JournaldEntry(fields);
  return send(socket_.get(), entry.data(), entry.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(entry.size());
}

}  // namespace muster
