// muster-rank PROGRAM [ARGUMENT...]: runs the program as the rank of an MPI job that its
// environment says it is, at the place that the job's plan has for it on this node.
//
// An `mpirun` in a job's script starts its ranks through it (OMPI_MCA_orte_fork_agent). The
// supervisor of the job's part on this node says where and with what environment; whatever goes
// wrong there, the program runs as its launcher meant it to.
//
// .muster-rsh HOST COMMAND...: the same program by its other name. In a container, whatever is in
// its image, it has the supervisor run muster-rsh outside, whose streams and exit status it has.

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/supervisor/mpirun/inner_rank_wire.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/runtime/passed_descriptors.h"
#include "topology/bind/bind.h"

namespace muster::agent {
namespace {

constexpr int kCannotRun = 126;  // as shells say
constexpr int kNotFound = 127;
constexpr timeval kPatience{5, 0};

// Set by Open MPI in a rank that it has bound by itself.
constexpr const char* kBoundAtLaunch = "OMPI_MCA_orte_bound_at_launch";
constexpr const char* kPolicy = "OMPI_MCA_hwloc_base_binding_policy";

std::string Variable(const char* name) {
  const char* value = getenv(name);  // NOLINT(concurrency-mt-unsafe): there is one thread
  return value == nullptr ? "" : value;
}

// Somebody has said how ranks are to be bound: not we, whose word is always the same.
bool IsBoundByOthers() {
  return !Variable(kBoundAtLaunch).empty() || Variable(kPolicy) != kNoBindingOfItsOwn;
}

std::vector<std::string> Request() {
  std::vector<std::string> fields = {"rank=" + Variable("OMPI_COMM_WORLD_RANK"),
                                     "size=" + Variable("OMPI_COMM_WORLD_SIZE"),
                                     "local_rank=" + Variable("OMPI_COMM_WORLD_LOCAL_RANK"),
                                     "local_size=" + Variable("OMPI_COMM_WORLD_LOCAL_SIZE")};
  if (IsBoundByOthers()) {
    fields.emplace_back("bound=yes");
  }
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view assignment = *each;
    for (const std::string_view prefix : kInnerOwnPrefixes) {
      if (assignment.starts_with(prefix)) {
        fields.emplace_back(assignment);
      }
    }
  }
  return fields;
}

// The supervisor's answer; nothing: it has none.
std::vector<std::string> Ask(int fd) {
  const std::string request = PackFields(Request());
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  std::string answer(kInnerPacketBytesMax, '\0');
  if (send(fd, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
    return {};
  }
  const ssize_t got = recv(fd, answer.data(), answer.size(), 0);
  return got <= 0 ? std::vector<std::string>()
                  : UnpackFields(std::string_view(answer).substr(0, static_cast<std::size_t>(got)));
}

void TakePlace(int fd) {
  const std::vector<std::string> answer = Ask(fd);
  const absl::StatusOr<CpuSet> cpus = CpuSet::Parse(std::string(ValueOf(answer, "cpus")));
  const absl::StatusOr<NumaSet> nodes = NumaSet::Parse(std::string(ValueOf(answer, "mem_nodes")));
  const topology::KernelBinding found =
      topology::Binding(cpus.ok() ? *cpus : CpuSet(), nodes.ok() ? *nodes : NumaSet()).Apply();
  for (const std::string& field : answer) {
    const std::size_t equals = field.find('=');
    if (IsVariable(field) && equals == std::string::npos) {
      unsetenv(field.c_str());  // NOLINT(concurrency-mt-unsafe)
    } else if (IsVariable(field)) {
      // NOLINTNEXTLINE(concurrency-mt-unsafe)
      setenv(field.substr(0, equals).c_str(), field.c_str() + equals + 1, 1);
    }
  }
  send(fd, &found, sizeof(found), MSG_NOSIGNAL);
}

int NoShell(const char* why) {
  std::fprintf(stderr, "muster-rsh: cannot run a command on another node: %s\n", why);
  return kCannotRun;
}

int RunShell(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    words.push_back(std::string("word=") + argv[i]);
  }
  // Which controller, and who says who asks: as muster-rsh outside would have it from its caller.
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::string_view(*each).starts_with("MUSTER_")) {
      words.push_back(std::string("variable=") + *each);
    }
  }
  const std::string request = PackFields(words);
  if (request.empty() || request.size() > kInnerPacketBytesMax) {
    return NoShell("give a HOST and a COMMAND of at most 128 KiB");
  }
  const absl::StatusOr<UniqueFd> fd =
      ConnectUnix(ShellSocket(Variable("MUSTER_RANK_SOCKET")), SOCK_SEQPACKET);
  constexpr int kStreams[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  if (!fd.ok() || !SendWithDescriptors(fd->get(), request, kStreams)) {
    return NoShell("this is no process of the script of a job, or its job has ended");
  }
  std::int32_t status = 0;
  ssize_t got = 0;
  do {
    got = recv(fd->get(), &status, sizeof(status), 0);
  } while (got < 0 && errno == EINTR);
  return got == sizeof(status) ? status : NoShell("it was refused, or the job has ended");
}

int Main(int argc, char** argv) {
  if (argc > 0 && std::string_view(argv[0]).ends_with("muster-rsh")) {
    return RunShell(argc, argv);
  }
  if (argc < 2) {
    std::fputs("muster-rank: give a PROGRAM that an mpirun in a job is to run\n", stderr);
    return 2;
  }
  absl::StatusOr<UniqueFd> fd = ConnectUnix(Variable("MUSTER_RANK_SOCKET"), SOCK_SEQPACKET);
  if (fd.ok()) {
    TakePlace(fd->get());
  }
  execvp(argv[1], argv + 1);
  const int error = errno;
  std::fprintf(stderr, "muster-rank: cannot run %s: %s\n", argv[1],
               std::strerror(error));  // NOLINT(concurrency-mt-unsafe): one thread
  return error == ENOENT ? kNotFound : kCannotRun;
}

}  // namespace
}  // namespace muster::agent

int main(int argc, char** argv) {
  return muster::agent::Main(argc, argv);
}
