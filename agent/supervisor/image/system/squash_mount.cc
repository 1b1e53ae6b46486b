#include "agent/supervisor/image/system/squash_mount.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/image/system/own_namespaces.h"
#include "agent/supervisor/image/system/squash_file.h"
#include "agent/supervisor/image/system/tool_run.h"
#include "scheduler/runtime/passed_descriptors.h"

namespace muster::agent {
namespace {

constexpr const char* kFuse = "/dev/fuse";
constexpr int kServed = STDERR_FILENO + 1;  // its descriptor of that
constexpr const char* kServedPath = "/dev/fd/3";

UniqueFd OpenFuse() {
  return UniqueFd(open(kFuse, O_RDWR | O_CLOEXEC));
}

bool MountFuse(const UniqueFd& fuse, const std::string& at) {
  const std::string options = absl::StrCat(
      "fd=", fuse.get(), ",rootmode=40000,user_id=0,group_id=0,allow_other,default_permissions");
  return fuse.valid() && mount("squashfuse", at.c_str(), "fuse", MS_NOSUID | MS_NODEV | MS_RDONLY,
                               options.c_str()) == 0;
}

// Whether this machine lets its users do that at all; nothing of it is left.
bool MayMountFuse() {
  if (access(kFuse, R_OK | W_OK) != 0) {
    return false;
  }
  const pid_t child = fork();
  if (child == 0) {
    _exit(EnterOwnNamespaces().ok() && MountFuse(OpenFuse(), "/proc") ? 0 : 1);
  }
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && status == 0;
}

// Waits for the descriptor, and becomes the program; nobody may want it any more.
[[noreturn]] void Serve(int socket, int said, const std::string& program, const std::string& file) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    std::signal(signal, SIG_IGN);  // libfuse leaves that as it is
  }
  setsid();
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  pollfd asked = {socket, POLLIN, 0};
  while (poll(&asked, 1, -1) < 0 && errno == EINTR) {
  }
  char byte = 0;
  const ReceivedMessage message = ReceiveWithDescriptors(socket, {&byte, 1});
  if (message.descriptors.empty()) {
    _exit(0);
  }
  const UniqueFd fuse(fcntl(message.descriptors[0].get(), F_DUPFD_CLOEXEC, kServed + 1));
  dup2(null.get(), STDIN_FILENO);
  dup2(null.get(), STDOUT_FILENO);
  dup2(said, STDERR_FILENO);
  close_range(kServed, ~0U, CLOSE_RANGE_CLOEXEC);
  dup2(fuse.get(), kServed);
  execl(program.c_str(), program.c_str(), "-f", file.c_str(), kServedPath, nullptr);
  _exit(1);
}

}  // namespace

std::optional<SquashMount> SquashMount::Prepare(const std::string& file) {
  absl::StatusOr<std::string> program = FindTool("squashfuse_ll");
  program = program.ok() ? program : FindTool("squashfuse");
  std::array<int, 2> ends{-1, -1};
  if (!program.ok() || !IsAllOfRoot(file) || !MayMountFuse() ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return std::nullopt;
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  UniqueFd said(memfd_create("squashfuse", MFD_CLOEXEC));
  const pid_t child = fork();
  if (child == 0) {
    ours.reset();
    Serve(theirs.get(), said.get(), *program, file);
  }
  return child < 0 ? std::nullopt
                   : std::optional<SquashMount>(SquashMount(std::move(ours), std::move(said)));
}

absl::Status SquashMount::MountAt(const std::string& directory) const {
  UniqueFd fuse = OpenFuse();
  if (!MountFuse(fuse, directory)) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot mount the image at ", directory));
  }
  const bool sent = SendWithDescriptors(server_.get(), "f", std::array<int, 1>{fuse.get()});
  fuse.reset();
  struct stat root = {};
  if (sent && stat(directory.c_str(), &root) == 0) {  // which waits for it
    return absl::OkStatus();
  }
  constexpr std::size_t kWordsMax = 4096;
  std::string text(kWordsMax, '\0');
  const ssize_t got = pread(said_.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  return absl::InternalError(
      absl::StrCat("squashfuse: ", lines.empty() ? "it failed" : lines.back()));
}

}  // namespace muster::agent
