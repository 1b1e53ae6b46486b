#include "agent/supervisor/step/rank_launcher.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/container/container_environment.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/launch/pam_session.h"
#include "agent/supervisor/user_space/process_limits.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr int kPortTries = 64;

bool PortIsFree(std::uint16_t port) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  return fd.valid() &&
         bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

// On one node a port in use is stepped over; several nodes must all derive the same one.
std::uint16_t ChoosePortOf(JobId job, StepId step, bool one_node) {
  const std::uint16_t derived = DerivedPort(job, step);
  for (int i = 0; one_node && i < kPortTries; ++i) {
    const int port = 20000 + (derived - 20000 + i) % 10000;
    if (PortIsFree(static_cast<std::uint16_t>(port))) {
      return static_cast<std::uint16_t>(port);
    }
  }
  return derived;
}

// What the whole job has of this node.
const NodeAllocation& WholePart(const SupervisorOrder& order) {
  const std::vector<NodeAllocation>& parts = order.launch.allocation.nodes;
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const NodeAllocation& part) {
    return part.name == order.node_name;
  });
  return found == parts.end() ? parts.front() : *found;
}

}  // namespace

RankLauncher::RankLauncher(const StepHost& host, const StepPlan& plan, const StepRanks& ranks,
                           OnSettled on_settled, std::function<void()> on_heard)
    : host_(host),
      plan_(plan),
      ranks_(ranks),
      on_settled_(std::move(on_settled)),
      on_heard_(std::move(on_heard)) {}

RankLauncher::~RankLauncher() {
  for (const std::unique_ptr<StepRank>& rank : ranks_.all()) {
    host_.loop.Unwatch(rank->said.get());
  }
}

void RankLauncher::MakeGroup() {
  // Where nothing is held, a group in the attempt's would serve nobody.
  if (host_.cgroup != nullptr && !host_.order.limits.held.empty()) {
    const std::string name =
        plan_.step.valid() ? absl::StrCat("step.", plan_.step.value()) : "batch";
    group_ = host_.cgroup->MakeStep(name,
                                    host_.order.machine.enforced
                                        ? StepLimits(plan_.node(), WholePart(host_.order))
                                        : GroupLimits(),
                                    host_.order.limits);
  }
}

void RankLauncher::EnterContainer(absl::Status opened, std::function<void(absl::Status)> done) {
  if (!opened.ok() || !plan_.container.given()) {
    done(std::move(opened));
    return;
  }
  host_.containers->Enter(plan_.container,
                          [this, done = std::move(done), alive = std::weak_ptr<const bool>(alive_)](
                              const absl::StatusOr<const Container*>& made) {
                            if (!alive.expired()) {
                              container_ = made.ok() && !DoesNothing() ? *made : nullptr;
                              image_may_come_ = absl::IsUnavailable(made.status());
                              done(made.status());
                            }
                          });
}

// The command `:` needs no program of any image.
bool RankLauncher::DoesNothing() const {
  return plan_.container.given() && plan_.script.empty() &&
         plan_.program.argv == std::vector<std::string>{":"};
}

void RankLauncher::PrepareRanks() {
  StepContext context;
  if (plan_.beside != nullptr) {
    context.step = plan_.beside->step;
    context.program = &plan_.beside->program;
    context.placement = &plan_.beside->placement;
    context.node_index = plan_.beside->node_index;
    context.master_port = DerivedPort(host_.order.launch.job, context.step);
    environment_ = std::make_unique<StepEnvironment>(host_.order, context);
    return;
  }
  context.step = plan_.step;
  context.program = &plan_.program;
  context.placement = &plan_.placement;
  context.node_index = plan_.node_index;
  context.master_port =
      ChoosePortOf(host_.order.launch.job, plan_.step, plan_.placement.nodes.size() == 1);
  environment_ = std::make_unique<StepEnvironment>(host_.order, context);
}

void RankLauncher::TakeProgram(const StepRank& rank, LaunchRequest* request) const {
  const Program& program = plan_.program;
  if (!plan_.script.empty()) {
    request->environment = BatchEnvironment(host_.order, plan_.node_index);
    request->programs = {plan_.starter.empty() ? plan_.script : plan_.starter.front()};
    request->arguments.insert(request->arguments.begin(), plan_.script);
    request->arguments.insert(request->arguments.begin(), plan_.starter.begin(),
                              plan_.starter.end());
  } else {
    request->environment = environment_->Of(plan_.beside != nullptr ? plan_.beside->local_rank
                                                                    : ranks_.LocalNumberOf(rank));
    request->programs =
        ProgramPaths(DoesNothing() ? "true" : program.argv.front(), request->environment);
  }
  if (plan_.restore.has_value()) {
    request->programs = {plan_.restore->command.front()};
    request->arguments = plan_.restore->command;
    // What it says is in its log; the job's output is the job's.
    request->standard_output = rank.input_fd;
    request->standard_error = rank.input_fd;
    request->may_restore = true;
    // The user's words have no say in a program with a right that he does not have; what it
    // restores has its own.
    request->environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
  }
}

// After its environment and arguments are those that it has outside.
void RankLauncher::PutInContainer(LaunchRequest* request) const {
  const ContainerMade& facts = container_->facts;
  request->container_users = container_->users.get();
  request->container_mounts = container_->mounts.get();
  request->work_dir = container_->WorkDir();
  request->environment =
      InContainer(request->environment, {.image = facts.environment,
                                         .submitter = plan_.program.environment,
                                         .kept = container_->spec.env,
                                         .work_dir = request->work_dir,
                                         .rank_program = container_->rank_program,
                                         .remote_shell = container_->remote_shell});
  std::vector<std::string>& arguments = request->arguments;
  if (container_->spec.entrypoint) {
    arguments.insert(arguments.begin(), facts.entrypoint.begin(), facts.entrypoint.end());
  }
  request->programs = ProgramPaths(arguments.front(), request->environment);
}

LaunchRequest RankLauncher::RequestOf(const StepRank& rank) const {
  LaunchRequest request;
  request.work_dir = plan_.program.work_dir;
  request.umask = static_cast<mode_t>(plan_.program.umask);
  request.limits = ProcessLimits(plan_.program.limits);
  request.standard_input = rank.input_fd;
  request.standard_output = rank.output_fd;
  request.standard_error = rank.error_fd;
  request.arguments = plan_.program.argv;
  TakeProgram(rank, &request);
  if (host_.user != nullptr && !request.may_restore) {
    AddSessionVariables(host_.user->session.environment, &request.environment);
  }
  if (container_ != nullptr) {
    PutInContainer(&request);
  }
  if (host_.order.machine.enforced) {
    request.binding.emplace(rank.placement.cpus, rank.placement.mem_nodes);
  }
  const AttemptCgroup* const group = group_.has_value() ? &*group_ : host_.cgroup;
  request.cgroup = group == nullptr ? -1 : group->procs();
  request.cgroup_directory = group == nullptr ? -1 : group->directory_fd();
  request.mounts = host_.mounts;
  request.user = host_.user;
  return request;
}

absl::Status RankLauncher::Start(StepRank* rank, StepPmix* pmix, bool terminal) {
  if (plan_.script.empty() && plan_.program.argv.empty()) {
    return absl::InvalidArgumentError("no command to run");
  }
  LaunchRequest request = RequestOf(*rank);
  request.terminal = terminal;
  UniqueFd channel;
  if (pmix != nullptr) {
    channel = pmix->TakeChannel(rank->placement.rank);
    request.channel = channel.get();
    ASSIGN_OR_RETURN(const std::vector<std::string> variables, pmix->RankEnv(rank->placement.rank));
    request.environment.insert(request.environment.end(), variables.begin(), variables.end());
  }
  ASSIGN_OR_RETURN(LaunchedChild child, Launch(request));
  rank->pid = child.pid;
  rank->awaited = plan_.restore.has_value() ? plan_.restore->leader : 0;
  rank->started_pid = static_cast<std::uint32_t>(child.pid);
  rank->said = std::move(child.said);
  return host_.loop.Watch(rank->said.get(), EPOLLIN, [this, rank](std::uint32_t) {
    Hear(rank);
    on_heard_();
  });
}

void RankLauncher::Hear(StepRank* rank) {
  std::array<char, 4096> buffer = {};
  while (rank->said.valid()) {
    const ssize_t got = read(rank->said.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0 && errno == EAGAIN) {
      return;
    }
    if (got > 0) {
      rank->said_bytes.append(buffer.data(), static_cast<std::size_t>(got));
      continue;
    }
    host_.loop.Unwatch(rank->said.get());
    rank->said.reset();
    const LaunchOutcome outcome = ParseOutcome(std::exchange(rank->said_bytes, ""));
    rank->self = outcome.binding;
    on_settled_(rank, outcome);
  }
}

std::string RankLauncher::FailureText(const LaunchOutcome& outcome) const {
  const char* why = strerror(outcome.error);  // NOLINT(concurrency-mt-unsafe): glibc's is safe
  switch (outcome.failed_at) {
    case LaunchStage::kWorkDir:
      return container_ == nullptr
                 ? absl::StrCat("cannot enter the working directory ", plan_.program.work_dir, ": ",
                                why)
                 : absl::StrCat("--container-workdir: cannot enter ", container_->WorkDir(),
                                " in the container: ", why);
    case LaunchStage::kUser:
      return absl::StrCat("cannot become user ", host_.order.launch.spec.user.name, ": ", why);
    case LaunchStage::kMounts:
      return absl::StrCat("cannot enter its private /tmp: ", why);
    case LaunchStage::kContainer:
      return absl::StrCat("cannot enter its container: ", why);
    case LaunchStage::kCgroup:
      return absl::StrCat("cannot enter the cgroup ", host_.order.cgroup, ": ", why);
    case LaunchStage::kDescriptors:
      return absl::StrCat("cannot take the standard streams: ", why);
    case LaunchStage::kBound:
    case LaunchStage::kExec:
      break;
  }
  return ExecText(outcome);
}

std::string RankLauncher::ExecText(const LaunchOutcome& outcome) const {
  const char* why = strerror(outcome.error);  // NOLINT(concurrency-mt-unsafe): glibc's is safe
  const Program& program = plan_.program;
  if (!plan_.starter.empty()) {
    return absl::StrCat("cannot run ", plan_.starter.front(),
                        ", which copies its checkpoints (--checkpoint-object): ", why);
  }
  if (!plan_.script.empty()) {
    const std::optional<std::string> interpreter = InterpreterOf(program.script);
    if (!interpreter.has_value()) {
      return absl::StrCat("cannot run the batch script: ", why,
                          ": begin it with a line like #!/bin/sh");
    }
    return absl::StrCat("cannot run the batch script: its interpreter ", *interpreter, ": ", why);
  }
  const std::string& command = program.argv.front();
  const bool searched = command.find('/') == std::string::npos;
  if (outcome.error == ENOENT && searched) {
    return absl::StrCat("cannot run ", command, ": not found along PATH",
                        container_ == nullptr ? "" : " in the container");
  }
  const char* hint = outcome.error == ENOEXEC ? ": it is built for another kind of machine, or a "
                                                "script without a first line like #!/bin/sh"
                     : outcome.error == ENOENT
                         ? ": it is not there, or not the interpreter that its first line names"
                         : "";
  return absl::StrCat("cannot run ", command, ": ", why, hint);
}

std::string RankLauncher::OutOfMemory() const {
  return group_.has_value() ? group_->OutOfOwnMemory().value_or("") : "";
}

void RankLauncher::RemoveGroup() const {
  if (group_.has_value()) {
    group_->Remove();
  }
}

}  // namespace muster::agent
