#include "agent/supervisor/sessions/session_desk.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/cgroup/own_cgroup.h"
#include "scheduler/runtime/passed_descriptors.h"

namespace muster::agent {
namespace {

constexpr Duration kLookEvery{50};
// What describes the batch script's process, or what a login sets for itself.
constexpr std::array<std::string_view, 13> kScriptsOwn = {
    "ENVIRONMENT",   "PATH",          "PWD",           "TMPDIR",          "MUSTER_GTIDS",
    "SLURM_GTIDS",   "SLURM_NODEID",  "SLURM_PROCID",  "MUSTER_TASK_PID", "SLURM_TASK_PID",
    "MUSTER_PROCID", "SLURM_LOCALID", "MUSTER_LOCALID"};

// Who does not take it is refused.
void Send(int socket, const std::string& packet, std::initializer_list<int> descriptors) {
  SendWithDescriptors(socket, packet, {descriptors.begin(), descriptors.size()}, MSG_DONTWAIT);
}

std::string NameOf(const LaunchOrder& launch) {
  return launch.array_index.has_value()
             ? absl::StrCat(launch.submission.value(), "_", *launch.array_index)
             : absl::StrCat(launch.job.value());
}

// The time behind `key` in the group's cpu.stat, which is there without any controller.
Duration CpuTime(const std::string& group, std::string_view key) {
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(ReadCgroupFile(group, "cpu.stat"), '\n'))) {
    std::int64_t microseconds = 0;
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ' &&
        absl::SimpleAtoi(line.substr(key.size() + 1), &microseconds)) {
      return std::chrono::duration_cast<Duration>(std::chrono::microseconds(microseconds));
    }
  }
  return Duration(0);
}

}  // namespace

SessionDesk::SessionDesk(Host host, std::string path, UniqueFd listener)
    : host_(std::move(host)),
      path_(std::move(path)),
      group_(host_.group + "/sessions"),
      listener_(std::move(listener)),
      timers_(host_.loop) {}

SessionDesk::~SessionDesk() {
  Shut();
}

absl::StatusOr<std::unique_ptr<SessionDesk>> SessionDesk::Open(Host host) {
  std::string path = absl::StrCat(host.directory, "/", SessionSocketName(host.user));
  ASSIGN_OR_RETURN(UniqueFd listener, BindUnix(path, SOCK_SEQPACKET | SOCK_NONBLOCK));
  std::unique_ptr<SessionDesk> desk(
      new SessionDesk(std::move(host), std::move(path), std::move(listener)));
  SessionDesk* const self = desk.get();
  RETURN_IF_ERROR(self->host_.loop.Watch(self->listener_.get(), EPOLLIN,
                                         [self](std::uint32_t) { self->Accept(); }));
  return desk;
}

void SessionDesk::Shut() {
  if (!listener_.valid()) {
    return;
  }
  host_.loop.Unwatch(listener_.get());
  for (const auto& [fd, connection] : connections_) {
    host_.loop.Unwatch(fd);
  }
  connections_.clear();
  listener_.reset();
  unlink(path_.c_str());
}

void SessionDesk::Accept() {
  UniqueFd connection = AcceptConnection(listener_.get());
  const int fd = connection.get();
  if (!connection.valid() || connections_.size() >= kConnectionsMax || !IsPeerRootOrSelf(fd) ||
      !host_.loop.Watch(fd, EPOLLIN, [this, fd](std::uint32_t) { Serve(fd); }).ok()) {
    return;
  }
  const std::uint64_t number = ++accepted_;
  connections_[fd] = {std::move(connection), number};
  timers_.After(kAskWithin, [this, fd, number] {
    const auto found = connections_.find(fd);
    if (found != connections_.end() && found->second.number == number) {
      Drop(fd);
    }
  });
}

void SessionDesk::Drop(int fd) {
  host_.loop.Unwatch(fd);
  connections_.erase(fd);
}

void SessionDesk::Serve(int fd) {
  std::array<char, 64> bytes = {};  // a question is shorter
  const ssize_t got = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
  const std::optional<SessionQuestion> question =
      got > 0 ? ParseSessionQuestion({bytes.data(), static_cast<std::size_t>(got)}) : std::nullopt;
  if (question.has_value()) {
    SessionAnswer answer = Answer(*question);
    if (!answer.refusal.empty() || !question->enters) {
      Send(fd, ToPacket(answer), {});
    } else if (host_.mounts >= 0) {
      Send(fd, ToPacket(answer), {sessions_->procs(), host_.mounts});
    } else {
      Send(fd, ToPacket(answer), {sessions_->procs()});
    }
  }
  Drop(fd);
}

SessionAnswer SessionDesk::Answer(const SessionQuestion& question) {
  const LaunchOrder& launch = host_.order.launch;
  SessionAnswer answer;
  answer.job = NameOf(launch);
  answer.started_ms = launch.started.time_since_epoch().count();
  if (question.uid != host_.user) {
    answer.refusal = "it is another user's";
  } else if (host_.group.empty()) {
    answer.refusal = "this node has no control groups that could hold a session to it";
  } else {
    answer.refusal = host_.closed();
  }
  if (!question.enters || !answer.refusal.empty()) {
    return answer;
  }
  if (!MakeGroup()) {
    answer.refusal = "a control group for its sessions cannot be made";
    return answer;
  }
  host_.log.Info("supervisor", absl::StrCat("a session of user ", question.uid, " enters"));
  answer.environment = SessionVariables(host_.order, host_.node_index);
  return answer;
}

bool SessionDesk::MakeGroup() {
  if (!sessions_.has_value()) {
    sessions_ = AttemptCgroup::Make(group_);
  }
  return sessions_.has_value();
}

bool SessionDesk::Ended(Duration grace) {
  Shut();
  if (!sessions_.has_value()) {
    return true;
  }
  if (!sessions_->Populated()) {
    const Duration user = CpuTime(group_, "user_usec");
    const Duration system = CpuTime(group_, "system_usec");
    // With the directory goes the last way in: a descriptor of it leads nowhere then.
    if (rmdir(group_.c_str()) == 0) {
      user_cpu_ = user;
      system_cpu_ = system;
      sessions_.reset();
      return true;
    }
  }
  const SteadyTime now = host_.clock.SteadyNow();
  if (!kill_at_.has_value()) {
    kill_at_ = now + grace;
    for (const std::string& process : CgroupProcesses(group_)) {
      pid_t pid = 0;
      if (absl::SimpleAtoi(process, &pid) && pid > 0) {
        kill(pid, SIGTERM);
      }
    }
  } else if (now >= *kill_at_ && !sessions_->Kill()) {
    host_.log.Warning("supervisor", absl::StrCat(group_, ": sessions cannot be killed"));
  }
  if (!looking_) {
    looking_ = true;
    timers_.After(kLookEvery, [this] {
      looking_ = false;
      host_.on_empty();
    });
  }
  return false;
}

void SessionDesk::AddUsed(Usage* usage) const {
  usage->user_cpu += user_cpu_;
  usage->system_cpu += system_cpu_;
}

std::vector<std::string> SessionVariables(const SupervisorOrder& order, std::uint32_t node_index) {
  const std::vector<std::string> brought = WithoutStaleVariables(order.launch.program.environment);
  std::vector<std::string> variables;
  for (std::string& variable : BatchEnvironment(order, node_index)) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    if (std::find(kScriptsOwn.begin(), kScriptsOwn.end(), name) == kScriptsOwn.end() &&
        std::find(brought.begin(), brought.end(), variable) == brought.end()) {
      variables.push_back(std::move(variable));
    }
  }
  return variables;
}

}  // namespace muster::agent
