#include "agent/supervisor/user_space/step_opening.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/output_path.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr std::string_view kUnixScheme = "unix:";
constexpr std::string_view kInTmp = "/tmp/";
constexpr timeval kConnectTimeout = {5, 0};

// Sets the process's umask while it lives.
class ScopedUmask {
 public:
  explicit ScopedUmask(mode_t mask) : old_(umask(mask)) {}
  ScopedUmask(const ScopedUmask&) = delete;
  ScopedUmask& operator=(const ScopedUmask&) = delete;
  ~ScopedUmask() { umask(old_); }

 private:
  mode_t old_;
};

absl::Status CheckDirectory(const std::string& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot enter the working directory ", path));
  }
  if (!S_ISDIR(found.st_mode)) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot enter the working directory ", path, ": it is not a directory"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<UniqueFd>> OpenFiles(const StepOpening& opening) {
  RETURN_IF_ERROR(CheckDirectory(opening.work_dir));
  const ScopedUmask mask(opening.umask);
  std::vector<UniqueFd> opened;
  for (const StepOpening::File& file : opening.files) {
    absl::StatusOr<UniqueFd> fd = file.output ? OpenOutput(opening.work_dir, file.path, file.append)
                                              : OpenInput(opening.work_dir, file.path);
    RETURN_IF_ERROR(fd.status());
    opened.push_back(*std::move(fd));
  }
  return opened;
}

struct FreeAddresses {
  void operator()(addrinfo* found) const { freeaddrinfo(found); }
};

// Numeric addresses are resolved without asking anybody.
absl::StatusOr<UniqueFd> ConnectTcp(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("bad address ", address, ": expected unix:PATH or HOST:PORT"));
  }
  std::string host = address.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), address.c_str() + colon + 1, &hints, &list);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot resolve ", address, ": ", gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, FreeAddresses> found(list);
  for (const addrinfo* each = found.get(); each != nullptr; each = each->ai_next) {
    UniqueFd fd(socket(each->ai_family, each->ai_socktype | SOCK_CLOEXEC, each->ai_protocol));
    setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kConnectTimeout, sizeof(kConnectTimeout));
    if (fd.valid() && connect(fd.get(), each->ai_addr, each->ai_addrlen) == 0) {
      const int one = 1;
      setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
      return fd;
    }
  }
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot connect to ", address));
}

}  // namespace

absl::StatusOr<Brought> OpenStep(const StepOpening& opening) {
  Brought brought;
  if (!opening.address.empty()) {
    ASSIGN_OR_RETURN(UniqueFd connection, ConnectToRun(opening.address, opening.private_tmp));
    brought.descriptors.push_back(std::move(connection));
  }
  if (opening.refused) {
    return brought;
  }
  absl::StatusOr<std::vector<UniqueFd>> files = OpenFiles(opening);
  brought.text = std::string(files.status().message());
  for (std::size_t i = 0; files.ok() && i < files->size(); ++i) {
    brought.descriptors.push_back(std::move((*files)[i]));
  }
  return brought;
}

absl::StatusOr<UniqueFd> ConnectToRun(const std::string& address, int private_tmp) {
  if (!address.starts_with(kUnixScheme)) {
    return ConnectTcp(address);
  }
  const std::string path = address.substr(kUnixScheme.size());
  absl::StatusOr<UniqueFd> outside = ConnectUnix(path, SOCK_STREAM);
  if (outside.ok() || private_tmp < 0 || !path.starts_with(kInTmp)) {
    return outside;
  }
  absl::StatusOr<UniqueFd> inside = ConnectUnix(
      absl::StrCat("/proc/self/fd/", private_tmp, "/", path.substr(kInTmp.size())), SOCK_STREAM);
  return inside.ok() ? std::move(inside) : std::move(outside);
}

}  // namespace muster::agent
