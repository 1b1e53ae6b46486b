#include "agent/supervisor/container/attempt_containers.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/attempt/journal.h"
#include "agent/supervisor/container/attempt_data.h"
#include "agent/supervisor/container/container_call.h"
#include "agent/supervisor/container/job_devices.h"
#include "agent/supervisor/mpirun/host_file.h"
#include "agent/supervisor/user_space/users_directory.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/fetch_variables.h"

namespace muster::agent {
namespace {

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

absl::StatusOr<ContainerMade> FactsIn(const ContainerAnswer& received) {
  if (received.bytes.empty()) {
    return absl::AbortedError("the process that makes the container was ended");
  }
  return DecodeContainerMade(received.bytes);
}

absl::StatusOr<std::unique_ptr<Container>> ContainerIn(const ContainerSpec& spec,
                                                       absl::StatusOr<ContainerMade> facts,
                                                       ContainerAnswer received) {
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
  if (!order_.staged.empty()) {
    wanted.shared.push_back(CacheOfStaged(order_.staged));
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

absl::StatusOr<UniqueFd> AttemptContainers::Ask(const ContainerOrder& order, UniqueFd* said) const {
  return CallContainerProgram({.program = program_,
                               .arguments = {},
                               .environment = FetchEnvironment(order_.launch.program.environment),
                               .order = EncodeContainerOrder(order),
                               .user = user_,
                               .cgroup = cgroup_,
                               .mounts = mounts_},
                              said);
}

absl::Status AttemptContainers::Begin(Making* making) {
  ASSIGN_OR_RETURN(const ContainerOrder wanted, OrderOf(making->spec));
  RETURN_IF_ERROR(MakeUsersDirectory(wanted.settings.cache, user_));
  ASSIGN_OR_RETURN(UniqueFd ours, Ask(wanted, &making->said));
  log_.Info("container", absl::StrCat("making one of ", making->spec.image));
  return making->Watch(std::move(ours), [this, making] {
    ContainerAnswer received = TakeAnswer(making->socket);
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
    const ContainerAnswer received = TakeAnswer(saving->socket);
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
