#include "agent/supervisor/container/attempt_containers.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/container/job_devices.h"
#include "agent/supervisor/mpirun/host_file.h"
#include "agent/supervisor/user_space/users_directory.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/fetch_variables.h"
#include "scheduler/runtime/passed_descriptors.h"

namespace muster::agent {
namespace {

absl::StatusOr<UniqueFd> InMemory(const std::string& bytes) {
  UniqueFd fd(memfd_create("container", MFD_CLOEXEC));
  if (!fd.valid() ||
      write(fd.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
      lseek(fd.get(), 0, SEEK_SET) != 0) {
    return absl::ErrnoToStatus(errno, "cannot write a memory file");
  }
  return fd;
}

// What the job has of this node.
const NodeAllocation& OwnPart(const SupervisorOrder& order) {
  const std::vector<NodeAllocation>& parts = order.launch.allocation.nodes;
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const NodeAllocation& part) {
    return part.name == order.node_name;
  });
  return found == parts.end() ? parts.front() : *found;
}

std::string OwnPath() {
  std::error_code unknown;
  return std::filesystem::read_symlink("/proc/self/exe", unknown).string();
}

struct Received {
  std::string bytes;
  std::vector<UniqueFd> descriptors;
};

// The program's one packet; without bytes: it has ended without a word.
Received Receive(int socket) {
  Received received;
  received.bytes.resize(kContainerAnswerBytesMax);
  ReceivedMessage message = ReceiveWithDescriptors(socket, received.bytes);
  received.bytes.resize(message.size > 0 ? static_cast<std::size_t>(message.size) : 0);
  received.descriptors = std::move(message.descriptors);
  return received;
}

absl::StatusOr<ContainerMade> FactsIn(const Received& received) {
  if (received.bytes.empty()) {
    return absl::AbortedError("the process that makes the container was ended");
  }
  return DecodeContainerMade(received.bytes);
}

absl::StatusOr<std::unique_ptr<Container>> ContainerIn(const ContainerSpec& spec,
                                                       absl::StatusOr<ContainerMade> facts,
                                                       Received received) {
  RETURN_IF_ERROR(facts.status());
  auto made = std::make_unique<Container>();
  made->facts = *std::move(facts);
  if (!made->facts.error.empty()) {
    return made->facts.again ? absl::UnavailableError(made->facts.error)
                             : absl::FailedPreconditionError(made->facts.error);
  }
  if (received.descriptors.size() < 2) {
    return absl::InternalError("no namespaces of the container were brought");
  }
  made->spec = spec;
  made->users = std::move(received.descriptors[0]);
  made->mounts = std::move(received.descriptors[1]);
  for (std::size_t i = 2; i < received.descriptors.size(); ++i) {
    made->locks.push_back(std::move(received.descriptors[i]));
  }
  return made;
}

}  // namespace

// The program at work.
class AttemptContainers::Running {
 public:
  explicit Running(EventLoop& loop) : loop_(loop) {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { Stop(); }

  absl::Status Watch(UniqueFd channel, const std::function<void()>& on_answer) {
    socket = std::move(channel);
    return loop_.Watch(socket.get(), EPOLLIN, [on_answer](std::uint32_t) { on_answer(); });
  }
  void Stop() {
    if (socket.valid()) {
      loop_.Unwatch(socket.get());
      socket.reset();
    }
  }

  UniqueFd socket;
  UniqueFd said;  // how its start went; open, so that it can say so

 private:
  EventLoop& loop_;
};

// One that is being made, and who waits for it.
class AttemptContainers::Making : public Running {
 public:
  Making(EventLoop& loop, ContainerSpec wanted) : Running(loop), spec(std::move(wanted)) {}

  const ContainerSpec spec;
  std::vector<Done> waiting;
};

// One that is being saved.
class AttemptContainers::Saving : public Running {
 public:
  Saving(EventLoop& loop, std::function<void(absl::Status)> told)
      : Running(loop), done(std::move(told)) {}

  const std::function<void(absl::Status)> done;
};

std::string Container::WorkDir() const {
  const std::string& chosen = spec.work_dir.empty() ? facts.work_dir : spec.work_dir;
  return absl::StartsWith(chosen, "/") ? chosen : absl::StrCat("/", chosen);
}

AttemptContainers::AttemptContainers(EventLoop& loop, const Logger& log,
                                     const AttemptDirectory& directory,
                                     const SupervisorOrder& order)
    : loop_(loop),
      log_(log),
      directory_(directory),
      order_(order),
      program_(FindContainerProgram(OwnPath())) {}

AttemptContainers::~AttemptContainers() = default;

void AttemptContainers::RunIn(const JobUser* user, const AttemptCgroup* cgroup, int mounts) {
  user_ = user;
  cgroup_ = cgroup;
  mounts_ = mounts;
}

void AttemptContainers::Enter(const ContainerSpec& spec, Done done) {
  const auto made = std::find_if(made_.begin(), made_.end(),
                                 [&spec](const auto& each) { return each->spec == spec; });
  if (made != made_.end()) {
    loop_.Post([done = std::move(done), container = made->get()] { done(container); });
    return;
  }
  auto making = std::find_if(making_.begin(), making_.end(),
                             [&spec](const auto& each) { return each->spec == spec; });
  if (making != making_.end()) {
    (*making)->waiting.push_back(std::move(done));
    return;
  }
  making_.push_back(std::make_unique<Making>(loop_, spec));
  Making* const begun = making_.back().get();
  begun->waiting.push_back(std::move(done));
  if (const absl::Status status = Begin(begun); !status.ok()) {
    loop_.Post([this, begun, status] { Finish(begun, status); });
  }
}

absl::StatusOr<ContainerOrder> AttemptContainers::OrderOf(const ContainerSpec& spec) const {
  if (order_.containers.runtime.empty() || program_.empty()) {
    return absl::FailedPreconditionError(
        "this node cannot run containers: install crun (and muster-container), or see [containers] "
        "of the agent");
  }
  ContainerOrder wanted;
  const NodeAllocation& part = OwnPart(order_);
  wanted.spec = spec;
  wanted.settings = order_.containers;
  wanted.attempt = directory_.Name();
  wanted.shared = {directory_.path()};
  if (const std::string mps = order_.SharedThrough(); !mps.empty()) {
    wanted.shared.push_back(mps);
  }
  wanted.gpus = GpusOf(order_.machine, part);
  std::vector<std::uint32_t> positions;
  for (const GpuGrant& grant : part.gpus) {
    positions.push_back(grant.gpu);
  }
  wanted.device_files = FilesOfJob(FindDeviceFiles(), order_.limits.devices, positions);
  wanted.rank_program = RankProgram(order_.remote_shell);
  return wanted;
}

// Starts the program with that order; its answer comes by the socket.
absl::StatusOr<UniqueFd> AttemptContainers::Ask(const ContainerOrder& order, UniqueFd* said) const {
  ASSIGN_OR_RETURN(const UniqueFd input, InMemory(EncodeContainerOrder(order)));
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  std::array<int, 2> ends{-1, -1};
  if (!null.valid() || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a socket");
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  LaunchRequest request;
  request.programs = {program_};
  request.arguments = {program_};
  request.environment = FetchEnvironment(order_.launch.program.environment);
  request.work_dir = "/";
  request.standard_input = input.get();
  request.standard_output = null.get();
  request.standard_error = null.get();
  request.channel = theirs.get();
  request.cgroup = cgroup_ == nullptr ? -1 : cgroup_->procs();
  request.cgroup_directory = cgroup_ == nullptr ? -1 : cgroup_->directory_fd();
  request.mounts = mounts_;
  request.user = user_;
  // Whether it runs, its answer says: an exec that fails closes the channel.
  ASSIGN_OR_RETURN(LaunchedChild child, Launch(request));
  *said = std::move(child.said);
  return ours;
}

absl::Status AttemptContainers::Begin(Making* making) {
  ASSIGN_OR_RETURN(const ContainerOrder wanted, OrderOf(making->spec));
  RETURN_IF_ERROR(MakeUsersDirectory(wanted.settings.cache, user_));
  ASSIGN_OR_RETURN(UniqueFd ours, Ask(wanted, &making->said));
  log_.Info("container", absl::StrCat("making one of ", making->spec.image));
  return making->Watch(std::move(ours), [this, making] {
    Received received = Receive(making->socket.get());
    absl::StatusOr<ContainerMade> facts = FactsIn(received);
    if (facts.ok() && !facts->wanted.digest.empty()) {
      // Where nobody hears it, the program fetches the image after a while.
      NotifyAgent(order_.agent_socket,
                  absl::StrCat(directory_.Name(), "\n", EncodeImageWanted(facts->wanted)));
      return;
    }
    Finish(making, ContainerIn(making->spec, std::move(facts), std::move(received)));
  });
}

void AttemptContainers::Finish(Making* making, absl::StatusOr<std::unique_ptr<Container>> made) {
  const auto found = std::find_if(making_.begin(), making_.end(),
                                  [making](const auto& each) { return each.get() == making; });
  const std::unique_ptr<Making> finished = std::move(*found);
  making_.erase(found);
  finished->Stop();
  if (!made.ok()) {
    log_.Warning("container", std::string(made.status().message()));
    for (const Done& done : finished->waiting) {
      done(made.status());
    }
    return;
  }
  made_.push_back(*std::move(made));
  Container* const container = made_.back().get();
  container->rank_program = RankProgram(order_.remote_shell);
  container->remote_shell = container->rank_program.empty() ? "" : order_.remote_shell;
  log_.Info("container", absl::StrCat("made of ", container->facts.image));
  for (const Done& done : finished->waiting) {
    done(container);
  }
}

void AttemptContainers::Save(const ContainerSpec& spec, std::function<void(absl::Status)> done) {
  const auto made = std::find_if(made_.begin(), made_.end(),
                                 [&spec](const auto& each) { return each->spec == spec; });
  if (made == made_.end()) {
    done(absl::OkStatus());
    return;
  }
  saving_.push_back(std::make_unique<Saving>(loop_, std::move(done)));
  Saving* const begun = saving_.back().get();
  if (const absl::Status status = BeginSave(**made, begun); !status.ok()) {
    loop_.Post([this, begun, status] { Saved(begun, status); });
  }
}

absl::Status AttemptContainers::BeginSave(const Container& container, Saving* saving) {
  ASSIGN_OR_RETURN(ContainerOrder wanted, OrderOf(container.spec));
  wanted.saved = container.facts;
  ASSIGN_OR_RETURN(UniqueFd ours, Ask(wanted, &saving->said));
  log_.Info("container", absl::StrCat("saving it to ", container.spec.save));
  return saving->Watch(std::move(ours), [this, saving] {
    const Received received = Receive(saving->socket.get());
    const absl::StatusOr<ContainerMade> answer = DecodeContainerMade(received.bytes);
    Saved(saving, received.bytes.empty()
                      ? absl::AbortedError("--container-save: the process that saves was ended")
                  : !answer.ok()          ? answer.status()
                  : answer->error.empty() ? absl::OkStatus()
                                          : absl::FailedPreconditionError(answer->error));
  });
}

void AttemptContainers::Saved(Saving* saving, const absl::Status& status) {
  const auto found = std::find_if(saving_.begin(), saving_.end(),
                                  [saving](const auto& each) { return each.get() == saving; });
  const std::unique_ptr<Saving> finished = std::move(*found);
  saving_.erase(found);
  finished->Stop();
  if (!status.ok()) {
    log_.Warning("container", std::string(status.message()));
  }
  finished->done(status);
}

void AttemptContainers::LetGo() {
  for (const std::unique_ptr<Container>& made : made_) {
    made->users.reset();
    made->mounts.reset();
  }
}

std::string AttemptContainers::ImageOf(const ContainerSpec& spec) const {
  const auto made = std::find_if(made_.begin(), made_.end(),
                                 [&spec](const auto& each) { return each->spec == spec; });
  return made == made_.end() ? "" : (*made)->facts.image;
}

}  // namespace muster::agent
