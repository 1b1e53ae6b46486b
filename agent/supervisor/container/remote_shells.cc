#include "agent/supervisor/container/remote_shells.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/launch/launch.h"
#include "agent/supervisor/launch/pam_session.h"
#include "agent/supervisor/limits/process_tree.h"
#include "agent/supervisor/mpirun/host_file.h"
#include "agent/supervisor/mpirun/inner_rank_wire.h"
#include "agent/supervisor/mpirun/inner_ranks.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/passed_descriptors.h"

namespace muster::agent {
namespace {

constexpr std::size_t kAskingMax = 4096;  // as many nodes as an mpirun may have
constexpr std::size_t kStreams = 3;

// Options of `muster run` for the same container, one a line: no value holds a line's end.
std::string OptionsOf(const ContainerSpec& spec) {
  std::vector<std::string> mounts;
  for (const ContainerMount& mount : spec.mounts) {
    mounts.push_back(ToText(mount));
  }
  std::string options = absl::StrCat("--container-image=", spec.image);
  const auto add = [&options](const char* name, const std::string& value) {
    absl::StrAppend(&options,
                    value.empty() ? "" : absl::StrCat("\n--container-", name, "=", value));
  };
  add("mounts", absl::StrJoin(mounts, ","));
  add("workdir", spec.work_dir);
  add("name", spec.name);
  add("env", absl::StrJoin(spec.env, ","));
  const auto set = [&options](const char* name, bool given) {
    absl::StrAppend(&options, given ? absl::StrCat("\n--container-", name) : "");
  };
  set("writable", spec.writable || !spec.save.empty());
  set("entrypoint", spec.entrypoint);
  set("mount-home", spec.mount_home);
  set("remap-root", spec.remap_root);
  return options;
}

// In the place of one of the same name. Only what begins with MUSTER_: no library reads it.
void Put(const std::string& assignment, std::vector<std::string>* environment) {
  const std::string name = assignment.substr(0, assignment.find('=') + 1);
  if (absl::StartsWith(name, "MUSTER_")) {
    std::erase_if(*environment,
                  [&name](const std::string& each) { return absl::StartsWith(each, name); });
    environment->push_back(assignment);
  }
}

std::int32_t CodeOf(int wait_status) {
  constexpr int kOfSignals = 128;  // as shells say
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : kOfSignals + WTERMSIG(wait_status);
}

}  // namespace

RemoteShells::RemoteShells(const Host& host, UniqueFd listener)
    : host_(host), listener_(std::move(listener)) {}

RemoteShells::~RemoteShells() {
  host_.loop.Unwatch(listener_.get());
  for (const auto& [fd, asking] : asking_) {
    host_.loop.Unwatch(fd);
  }
}

absl::StatusOr<std::unique_ptr<RemoteShells>> RemoteShells::Open(const Host& host) {
  const std::string path = ShellSocket(RankSocket(host.order.hostfile));
  ASSIGN_OR_RETURN(UniqueFd listener, BindUnix(path, SOCK_SEQPACKET | SOCK_NONBLOCK));
  if (host.user != nullptr && lchown(path.c_str(), host.user->uid, host.user->gid) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot give ", path, " to its user"));
  }
  std::unique_ptr<RemoteShells> shells(new RemoteShells(host, std::move(listener)));
  RemoteShells* const self = shells.get();
  RETURN_IF_ERROR(
      host.loop.Watch(self->listener_.get(), EPOLLIN, [self](std::uint32_t) { self->Accept(); }));
  return shells;
}

void RemoteShells::Accept() {
  JobPeer peer = AcceptFromJob(listener_.get());
  const int number = peer.socket.get();
  if (!peer.socket.valid() || asking_.size() >= kAskingMax) {
    return;
  }
  if (host_.loop.Watch(number, EPOLLIN, [this, number](std::uint32_t) { Serve(number); }).ok()) {
    Asking& asking = asking_[number];
    asking.socket = std::move(peer.socket);
    asking.asker = peer.pid;
  }
}

// Its one request, or its end.
void RemoteShells::Serve(int fd) {
  Asking& asking = asking_.at(fd);
  std::vector<char> buffer(kInnerPacketBytesMax);
  const ReceivedMessage message = ReceiveWithDescriptors(fd, buffer);
  if (message.size < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  const std::string packet(buffer.data(),
                           message.size > 0 ? static_cast<std::size_t>(message.size) : 0);
  if (!packet.empty() && asking.child == 0 && !message.cut &&
      message.descriptors.size() == kStreams) {
    const absl::Status started = Start(&asking, UnpackFields(packet), message.descriptors);
    if (started.ok()) {
      return;
    }
    host_.log.Warning("mpirun", std::string(started.message()));
  }
  if (asking.child > 0) {
    kill(-asking.child, SIGTERM);  // it leads a group of its own, as soon as it has begun
    kill(asking.child, SIGTERM);
  }
  host_.loop.Unwatch(fd);
  asking_.erase(fd);
}

absl::Status RemoteShells::Start(Asking* asking, const std::vector<std::string>& asked,
                                 const std::vector<UniqueFd>& streams) const {
  const std::vector<std::string> words = ValuesOf(asked, "word");
  LaunchRequest request;
  request.programs = {host_.order.remote_shell};
  request.arguments = {host_.order.remote_shell};
  request.arguments.insert(request.arguments.end(), words.begin(), words.end());
  request.environment = BatchEnvironment(host_.order, host_.node_index);
  if (host_.user != nullptr) {
    AddSessionVariables(host_.user->session.environment, &request.environment);
  }
  for (const std::string& variable : ValuesOf(asked, "variable")) {
    Put(variable, &request.environment);
  }
  Put(absl::StrCat("MUSTER_LAUNCHER_PID=", ParentOf(asking->asker)), &request.environment);
  const ContainerSpec container = host_.container_of(asking->asker);
  if (container.given() && container != host_.order.launch.spec.container) {
    Put(absl::StrCat("MUSTER_LAUNCHER_OPTIONS=", OptionsOf(container)), &request.environment);
  }
  request.work_dir = "/";
  request.standard_input = streams[0].get();
  request.standard_output = streams[1].get();
  request.standard_error = streams[2].get();
  request.cgroup = host_.cgroup == nullptr ? -1 : host_.cgroup->procs();
  request.cgroup_directory = host_.cgroup == nullptr ? -1 : host_.cgroup->directory_fd();
  request.mounts = host_.mounts;
  request.user = host_.user;
  ASSIGN_OR_RETURN(LaunchedChild child, Launch(request));
  asking->child = child.pid;
  asking->said = std::move(child.said);
  return absl::OkStatus();
}

void RemoteShells::Reaped(pid_t pid, int wait_status) {
  const auto found = std::find_if(asking_.begin(), asking_.end(),
                                  [pid](const auto& each) { return each.second.child == pid; });
  if (found == asking_.end()) {
    return;
  }
  const std::int32_t code = CodeOf(wait_status);
  send(found->first, &code, sizeof(code), MSG_NOSIGNAL | MSG_DONTWAIT);
  host_.loop.Unwatch(found->first);
  asking_.erase(found);
}

}  // namespace muster::agent
