// Step, first half: everything up to the ranks' exec.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/environment.h"
#include "agent/supervisor/pam_session.h"
#include "agent/supervisor/step.h"
#include "agent/supervisor/step_pmix.h"
#include "agent/supervisor/step_rank.h"
#include "agent/supervisor/tree_input.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr int kCannotRun = 126;  // as shells say
constexpr int kNotFound = 127;
constexpr int kPortTries = 64;

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

// Of a watched step `choice` says which ranks have the client's input: "" the first, "all" or
// kTreeInput, or a number; others ("none") have none.
bool TakesInput(const std::string& choice, std::uint32_t rank) {
  return choice == "all" || choice == kTreeInput ||
         (choice.empty() ? "0" : choice) == absl::StrCat(rank);
}

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
std::uint16_t ChoosePort(JobId job, StepId step, bool one_node) {
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

// Without one the ranks are in the attempt's itself.
void Step::MakeCgroup() {
  if (host_.cgroup != nullptr) {
    const std::string name =
        plan_.step.valid() ? absl::StrCat("step.", plan_.step.value()) : "batch";
    cgroup_ = host_.cgroup->MakeStep(
        name,
        host_.order.machine.enforced ? StepLimits(Node(), WholePart(host_.order)) : GroupLimits(),
        host_.order.limits.set);
  }
}

void Step::Start(PmixGrant pmix) {
  MakeCgroup();
  pmix_ = std::move(pmix.pmix);
  pmix_note_ = std::move(pmix.note);
  // First of all, so that `muster run` hears why nothing else came to be.
  absl::Status status = plan_.program.io.address.empty() ? absl::OkStatus() : Connect();
  if (status.ok()) {
    status = std::move(pmix.refusal);
  }
  if (status.ok()) {
    status = CheckWorkDir();
  }
  if (status.ok() && plan_.step.valid()) {
    master_port_ =
        ChoosePort(host_.order.launch.job, plan_.step, plan_.placement.nodes.size() == 1);
  }
  for (std::size_t i = 0; i < ranks_.size() && status.ok(); ++i) {
    status = OpenStreams(ranks_[i].get());
  }
  for (const std::unique_ptr<Rank>& rank : ranks_) {
    absl::Status launched = status.ok() ? LaunchRank(rank.get()) : status;
    rank->input_end.reset();
    rank->output_end.reset();
    rank->error_end.reset();
    if (!launched.ok()) {
      FailRank(rank.get(), kCannotRun, std::string(launched.message()));
    }
  }
  files_.clear();
  forked_ = true;
  if (pmix_ != nullptr && pmix_->TakesInput() && connection_ != nullptr) {
    pmix_->BeginInput({.give = [this](const std::string& data) { TypeIn(data); },
                       .full =
                           [this] {
                             return std::any_of(inputs_.begin(), inputs_.end(),
                                                [](const std::unique_ptr<InputPipe>& input) {
                                                  return input->full();
                                                });
                           },
                       .pause = [this](bool paused) { connection_->PauseInput(paused); }});
  }
  CheckStarted();
}

absl::Status Step::CheckWorkDir() const {
  const AsUser as_user(host_.user);
  RETURN_IF_ERROR(as_user.status());
  return CheckDirectory(plan_.program.work_dir);
}

absl::Status Step::Connect() {
  StepConnectionHandlers handlers;
  handlers.on_input = [this](const std::string& data) {
    if (pmix_ != nullptr && pmix_->TakesInput()) {
      pmix_->Input(data);
    } else {
      TypeIn(data);
    }
  };
  handlers.on_resize = [this](const TerminalSize& size) {
    if (terminal_.has_value()) {
      terminal_->Resize(size);
    }
  };
  handlers.on_signal = [this](int signal) { Signal(signal); };
  handlers.on_room = [this](std::uint32_t number) {
    for (const std::unique_ptr<Rank>& rank : ranks_) {
      if (rank->placement.rank == number && rank->output != nullptr) {
        rank->output->Resume();
        rank->error->Resume();
      }
    }
  };
  handlers.on_peers = [this](const std::vector<StepPeerAddress>& peers) {
    if (pmix_ != nullptr) {
      pmix_->Meet(peers);
    }
  };
  handlers.on_broken = [this](const StepBreak& why) { BrokenElsewhere(why); };
  handlers.on_lost = [this] { OnConnectionLost(); };
  absl::StatusOr<std::unique_ptr<StepConnection>> connection =
      StepConnection::Open(host_.loop, plan_.program.io, Greeting(), std::move(handlers));
  if (!connection.ok()) {
    return absl::UnavailableError(absl::StrCat("cannot reach the `muster run` that waits for it: ",
                                               std::string(connection.status().message())));
  }
  connection_ = *std::move(connection);
  return absl::OkStatus();
}

absl::Status Step::OpenStreams(Rank* rank) {
  if (connection_ == nullptr) {
    return OpenFiles(rank);
  }
  const std::uint32_t number = rank->placement.rank;
  const auto closed = [this] { CheckEnded(); };
  if (HasTerminal()) {
    return OpenTerminal(rank);
  }
  rank->output = std::make_unique<OutputPipe>(host_.loop, *connection_, number, false);
  rank->error = std::make_unique<OutputPipe>(host_.loop, *connection_, number, true);
  ASSIGN_OR_RETURN(rank->output_end, rank->output->Open(closed));
  ASSIGN_OR_RETURN(rank->error_end, rank->error->Open(closed));
  if (TakesInput(plan_.program.stdin_path, number)) {
    inputs_.push_back(std::make_unique<InputPipe>(host_.loop, *connection_));
    ASSIGN_OR_RETURN(rank->input_end, inputs_.back()->Open());
  } else {
    ASSIGN_OR_RETURN(rank->input_end, OpenInput("", ""));
  }
  rank->input_fd = rank->input_end.get();
  rank->output_fd = rank->output_end.get();
  rank->error_fd = rank->error_end.get();
  return absl::OkStatus();
}

bool Step::HasTerminal() const {
  return plan_.program.terminal.rows > 0 && plan_.script.empty();
}

// Rank 0 has the terminal; what others print would only be in its way.
absl::Status Step::OpenTerminal(Rank* rank) {
  rank->output =
      std::make_unique<OutputPipe>(host_.loop, *connection_, rank->placement.rank, false);
  rank->error = std::make_unique<OutputPipe>(host_.loop, *connection_, rank->placement.rank, true);
  if (rank->placement.rank != 0) {
    rank->input_end.reset(open("/dev/null", O_RDWR | O_CLOEXEC));
  } else {
    ASSIGN_OR_RETURN(terminal_, Terminal::Open(plan_.program.terminal, host_.user));
    const auto copy = [this] { return UniqueFd(fcntl(terminal_->ours.get(), F_DUPFD_CLOEXEC, 0)); };
    RETURN_IF_ERROR(rank->output->Take(copy(), [this] { CheckEnded(); }));
    inputs_.push_back(std::make_unique<InputPipe>(host_.loop, *connection_));
    RETURN_IF_ERROR(inputs_.back()->Take(copy()));
    rank->input_end = std::move(terminal_->theirs);
  }
  rank->input_fd = rank->input_end.get();
  rank->output_fd = rank->input_fd;
  rank->error_fd = rank->input_fd;
  return absl::OkStatus();
}

void Step::TypeIn(const std::string& data) {
  for (const std::unique_ptr<InputPipe>& input : inputs_) {
    input->Give(data);
  }
}

StepGreeting Step::Greeting() const {
  StepGreeting greeting;
  greeting.node_index = plan_.node_index;
  greeting.node = host_.order.node_name;
  greeting.ranks = static_cast<std::uint32_t>(ranks_.size());
  greeting.exchange = pmix_ == nullptr ? std::vector<std::string>() : pmix_->Addresses();
  for (const NodeAllocation& node : plan_.placement.nodes) {
    greeting.nodes += node.ranks.empty() ? 0 : 1;
  }
  greeting.terminal = HasTerminal() && !Node().ranks.empty() && Node().ranks.front().rank == 0;
  return greeting;
}

absl::Status Step::Show(const StepIo& io, bool input) {
  if (connection_ == nullptr || connection_->lost() || ended_) {
    return absl::FailedPreconditionError("nobody watches the step: its ranks write to files");
  }
  if (input && !HasTerminal()) {
    return absl::FailedPreconditionError("its input is taken: only a step with --pty shares it");
  }
  if (onlookers_ == nullptr) {
    onlookers_ = std::make_unique<Onlookers>(host_.loop);
  }
  const AsUser as_user(host_.user);
  RETURN_IF_ERROR(as_user.status());
  return onlookers_->Add(*connection_, io, Greeting(), [this, input](const std::string& data) {
    if (input && !data.empty()) {
      TypeIn(data);
    }
  });
}

absl::Status Step::OpenFiles(Rank* rank) {
  const AsUser as_user(host_.user);  // the paths are his
  RETURN_IF_ERROR(as_user.status());
  const Program& program = plan_.program;
  const PatternValues values = ValuesOf(*rank);
  const std::string output =
      program.stdout_path.empty() ? DefaultOutputPattern(values) : program.stdout_path;
  ASSIGN_OR_RETURN(
      rank->input_end,
      OpenInput(program.work_dir,
                program.stdin_path.empty() ? "" : ExpandPattern(program.stdin_path, values)));
  rank->input_fd = rank->input_end.get();
  ASSIGN_OR_RETURN(rank->output_fd, OpenShared(output, *rank));
  ASSIGN_OR_RETURN(rank->error_fd,
                   OpenShared(program.stderr_path.empty() ? output : program.stderr_path, *rank));
  return absl::OkStatus();
}

std::string Step::FullOutput(const Rank& rank) const {
  const Program& program = plan_.program;
  if (!program.io.address.empty()) {
    return "";  // `muster run` writes it
  }
  const AsUser as_user(host_.user);
  const PatternValues values = ValuesOf(rank);
  for (const std::string& pattern :
       {program.stdout_path.empty() ? DefaultOutputPattern(values) : program.stdout_path,
        program.stderr_path}) {
    const std::string path = ExpandPattern(pattern, values);
    if (as_user.status().ok() && !pattern.empty() && IsOnFullDisk(program.work_dir, path)) {
      return absl::StrCat("the file system of its output ", path, " is full");
    }
  }
  return "";
}

std::string Step::Where(const Rank& rank) const {
  const std::string node = host_.order.node_name + ": ";
  return plan_.step.valid() ? absl::StrCat("rank ", rank.placement.rank, " on ", node) : node;
}

absl::StatusOr<int> Step::OpenShared(const std::string& pattern, const Rank& rank) {
  const Program& program = plan_.program;
  const std::string path = ExpandPattern(pattern, ValuesOf(rank));
  UniqueFd& file = files_[path];
  if (!file.valid()) {
    // Only the first node cuts a file to nothing, and no step of a batch job cuts the script's.
    const bool inside = plan_.step.valid() && host_.order.launch.spec.kind == JobKind::kBatch;
    const ScopedUmask mask(program.umask);
    ASSIGN_OR_RETURN(file, OpenOutput(program.work_dir, path,
                                      program.append_output || inside || plan_.node_index > 0));
  }
  return file.get();
}

LaunchRequest Step::RequestOf(const Rank& rank) const {
  const Program& program = plan_.program;
  LaunchRequest request;
  request.work_dir = program.work_dir;
  request.umask = static_cast<mode_t>(program.umask);
  request.standard_input = rank.input_fd;
  request.standard_output = rank.output_fd;
  request.standard_error = rank.error_fd;
  request.arguments = program.argv;
  if (plan_.script.empty()) {
    StepSurroundings surroundings;
    surroundings.step = plan_.step;
    surroundings.program = &program;
    surroundings.placement = &plan_.placement;
    surroundings.node_index = plan_.node_index;
    surroundings.master_port = master_port_;
    request.environment = RankEnvironment(host_.order, surroundings, LocalRankOf(rank));
    request.programs = ProgramPaths(program.argv.front(), request.environment);
  } else {
    request.environment = BatchEnvironment(host_.order, plan_.node_index);
    request.programs = {plan_.script};
    request.arguments.insert(request.arguments.begin(), plan_.script);
  }
  if (plan_.restore.has_value()) {
    request.programs = {plan_.restore->command.front()};
    request.arguments = plan_.restore->command;
    // What it says is in its log; the job's output is the job's.
    request.standard_output = rank.input_fd;
    request.standard_error = rank.input_fd;
    request.may_restore = true;
  }
  if (host_.user != nullptr) {
    AddSessionVariables(host_.user->session.environment, &request.environment);
  }
  if (host_.order.machine.enforced) {
    request.binding.emplace(rank.placement.cpus, rank.placement.mem_nodes);
  }
  const AttemptCgroup* const cgroup = cgroup_.has_value() ? &*cgroup_ : host_.cgroup;
  request.cgroup = cgroup == nullptr ? -1 : cgroup->procs();
  request.mounts = host_.mounts;
  request.user = host_.user;
  request.terminal = terminal_.has_value() && rank.placement.rank == 0;
  request.cgroup_directory = cgroup == nullptr ? -1 : cgroup->directory_fd();
  return request;
}

std::uint32_t Step::LocalRankOf(const Rank& rank) const {
  std::uint32_t local = 0;
  while (ranks_[local].get() != &rank) {
    ++local;
  }
  return local;
}

absl::Status Step::LaunchRank(Rank* rank) {
  if (plan_.script.empty() && plan_.program.argv.empty()) {
    return absl::InvalidArgumentError("no command to run");
  }
  LaunchRequest request = RequestOf(*rank);
  UniqueFd channel;
  if (pmix_ != nullptr) {
    channel = pmix_->TakeChannel(rank->placement.rank);
    request.channel = channel.get();
    ASSIGN_OR_RETURN(const std::vector<std::string> variables,
                     pmix_->RankEnv(rank->placement.rank));
    request.environment.insert(request.environment.end(), variables.begin(), variables.end());
  }
  ASSIGN_OR_RETURN(LaunchedChild child, Launch(request));
  rank->pid = child.pid;
  rank->awaited = plan_.restore.has_value() ? plan_.restore->leader : 0;
  rank->started_pid = static_cast<std::uint32_t>(child.pid);
  rank->said = std::move(child.said);
  return host_.loop.Watch(rank->said.get(), EPOLLIN, [this, rank](std::uint32_t) {
    ReadSaid(rank);
    CheckStarted();
  });
}

void Step::ReadSaid(Rank* rank) {
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
    Settle(rank, ParseOutcome(rank->said_bytes));
  }
}

void Step::Settle(Rank* rank, const LaunchOutcome& outcome) {
  rank->self = outcome.binding;
  rank->said_bytes.clear();
  if (outcome.error == 0) {
    if (rank->awaited == 0) {
      TryReadBack(rank, kReadBackTries);
    }
    return;
  }
  rank->awaited = 0;
  const bool not_found = outcome.failed_at == LaunchStage::kExec && outcome.error == ENOENT;
  FailRank(rank, not_found ? kNotFound : kCannotRun, FailureText(outcome));
}

std::string Step::FailureText(const LaunchOutcome& outcome) const {
  const char* why = strerror(outcome.error);  // NOLINT(concurrency-mt-unsafe): glibc's is safe
  const Program& program = plan_.program;
  if (outcome.failed_at == LaunchStage::kWorkDir) {
    return absl::StrCat("cannot enter the working directory ", program.work_dir, ": ", why);
  }
  if (outcome.failed_at == LaunchStage::kUser) {
    return absl::StrCat("cannot become user ", host_.order.launch.spec.user.name, ": ", why);
  }
  if (outcome.failed_at == LaunchStage::kMounts) {
    return absl::StrCat("cannot enter its private /tmp: ", why);
  }
  if (outcome.failed_at == LaunchStage::kCgroup) {
    return absl::StrCat("cannot enter the cgroup ", host_.order.cgroup, ": ", why);
  }
  if (outcome.failed_at == LaunchStage::kDescriptors) {
    return absl::StrCat("cannot take the standard streams: ", why);
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
    return absl::StrCat("cannot run ", command, ": not found along PATH");
  }
  const char* hint = outcome.error == ENOEXEC ? ": it is built for another kind of machine, or a "
                                                "script without a first line like #!/bin/sh"
                     : outcome.error == ENOENT
                         ? ": it is not there, or not the interpreter that its first line names"
                         : "";
  return absl::StrCat("cannot run ", command, ": ", why, hint);
}

}  // namespace muster
