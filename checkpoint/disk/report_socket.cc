#include "checkpoint/disk/report_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace muster::checkpoint {
namespace {

constexpr std::size_t kReportBytesMax = 4096;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  int get() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace

Error SendReport(const std::string& path, const std::string& text) {
  if (text.empty() || text.size() > kReportBytesMax) {
    return MakeError(Fault::kUsage, "report: 1 to 4096 bytes of NAME=VALUE words");
  }
  // An address has room for 107 bytes; its directory may be any descriptor.
  const std::size_t slash = path.rfind('/');
  const Descriptor directory(slash == std::string::npos ? -1
                                                        : open(path.substr(0, slash + 1).c_str(),
                                                               O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string place =
      directory.get() < 0
          ? path
          : "/proc/self/fd/" + std::to_string(directory.get()) + "/" + path.substr(slash + 1);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (place.empty() || place.size() >= sizeof address.sun_path) {
    return MakeError(Fault::kNotFound, "report: " + path + ": no socket is there");
  }
  std::memcpy(address.sun_path, place.c_str(), place.size() + 1);
  const Descriptor fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) {
    return SystemError("report", errno);
  }
  if (sendto(fd.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&address), sizeof address) >= 0) {
    return {};
  }
  if (errno == EAGAIN) {
    return MakeError(Fault::kBusy, "report: too much at once; this one is lost");
  }
  if (errno == ENOENT || errno == ECONNREFUSED || errno == ENOTDIR) {
    return MakeError(Fault::kNotFound, "report: " + path + ": no supervisor listens there");
  }
  return SystemError("report: " + path, errno);
}

}  // namespace muster::checkpoint
