// Step, first half: everything up to the ranks' exec.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/launch/environment.h"
#include "agent/supervisor/launch/pam_session.h"
#include "agent/supervisor/mpi/step_pmix.h"
#include "agent/supervisor/mpi/tree_input.h"
#include "agent/supervisor/step/step.h"
#include "agent/supervisor/step/step_rank.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/step_io.h"

namespace muster {
namespace {

constexpr int kCannotRun = 126;  // as shells say
constexpr int kNotFound = 127;
constexpr int kPortTries = 64;
// How long name servers and file systems may take until the step has what it needs of them.
constexpr Duration kOpeningLimit{60000};
constexpr Duration kShowingLimit{10000};
// What a rank's end is kept waiting for at most.
constexpr Duration kDiskLimit{2000};

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
    cgroup_ = host_.cgroup->MakeStep(name,
                                     host_.order.machine.enforced
                                         ? StepLimits(plan_.node(), WholePart(host_.order))
                                         : GroupLimits(),
                                     host_.order.limits.set);
  }
}

void Step::Start(PmixGrant pmix) {
  pmix_ = std::move(pmix.pmix);
  pmix_note_ = std::move(pmix.note);
  refusal_ = std::move(pmix.refusal);
  opening_ = OpeningOf();
  // The controller has looked; but what it passes on is the user's.
  if (const absl::Status io =
          opening_.address.empty() ? absl::OkStatus() : CheckStepIo(plan_.program.io);
      !io.ok()) {
    refusal_ = io;
    opening_ = StepOpening{.refused = true};
  }
  task_ = std::make_unique<UserTask>(
      host_.loop, host_.user, kOpeningLimit, [opening = opening_] { return OpenStep(opening); },
      [this](absl::StatusOr<Brought> brought) { Opened(std::move(brought)); });
  MakeCgroup();  // meanwhile
}

StepOpening Step::OpeningOf() const {
  const Program& program = plan_.program;
  StepOpening opening;
  opening.address = program.io.address;
  opening.refused = !refusal_.ok();
  opening.work_dir = program.work_dir;
  opening.umask = static_cast<mode_t>(program.umask);
  if (!opening.address.empty()) {
    return opening;
  }
  // Only the first node cuts a file to nothing, and no step of a batch job cuts the script's.
  const bool inside = plan_.step.valid() && host_.order.launch.spec.kind == JobKind::kBatch;
  const bool append = program.append_output || inside || plan_.node_index > 0;
  std::set<std::string> outputs;
  for (const std::unique_ptr<Rank>& rank : ranks_.all()) {
    if (!program.stdin_path.empty()) {
      opening.files.push_back({.path = ExpandPattern(program.stdin_path, ValuesOf(*rank))});
    }
    for (const std::string& path : {OutputOf(*rank), ErrorOf(*rank)}) {
      if (outputs.insert(path).second) {
        opening.files.push_back({.path = path, .output = true, .append = append});
      }
    }
  }
  return opening;
}

std::string Step::OutputOf(const Rank& rank) const {
  const PatternValues values = ValuesOf(rank);
  const std::string& pattern = plan_.program.stdout_path;
  return ExpandPattern(pattern.empty() ? DefaultOutputPattern(values) : pattern, values);
}

std::string Step::ErrorOf(const Rank& rank) const {
  const std::string& pattern = plan_.program.stderr_path;
  return pattern.empty() ? OutputOf(rank) : ExpandPattern(pattern, ValuesOf(rank));
}

// Goes on with what Start() has asked for.
void Step::Opened(absl::StatusOr<Brought> brought) {
  task_.reset();
  absl::Status status = TakeOpened(std::move(brought));
  const bool recalled = status.ok() && verdict_.terminating();
  if (recalled) {
    status = absl::CancelledError("it was told to end before it could begin");
  }
  if (status.ok() && plan_.step.valid()) {
    master_port_ =
        ChoosePort(host_.order.launch.job, plan_.step, plan_.placement.nodes.size() == 1);
  }
  for (std::size_t i = 0; i < ranks_.all().size() && status.ok(); ++i) {
    status = OpenStreams(ranks_.all()[i].get());
  }
  for (const std::unique_ptr<Rank>& rank : ranks_.all()) {
    absl::Status launched = status.ok() ? LaunchRank(rank.get()) : status;
    rank->input_end.reset();
    rank->output_end.reset();
    rank->error_end.reset();
    if (!launched.ok()) {
      rank->recalled = recalled;
      FailRank(rank.get(), kCannotRun, std::string(launched.message()));
    }
  }
  inputs_opened_.clear();
  files_.clear();
  forked_ = true;
  CheckInput();
  if (pmix_ != nullptr && pmix_->TakesInput() && connection_ != nullptr) {
    pmix_->BeginInput({.give = [this](const std::string& data) { TypeIn(data); },
                       .full = [this] { return InputFull(); },
                       .pause = [this](bool paused) { connection_->PauseInput(paused); }});
  }
  for (const auto& [io, input] : std::exchange(early_looks_, {})) {
    if (const absl::Status shown = Show(io, input); !shown.ok()) {
      LogUnshown(shown);
    }
  }
  CheckStarted();
}

absl::Status Step::TakeOpened(absl::StatusOr<Brought> brought) {
  const bool watched = !opening_.address.empty();
  if (!brought.ok()) {
    return watched ? absl::UnavailableError(
                         absl::StrCat("cannot reach the `muster run` that waits for it: ",
                                      std::string(brought.status().message())))
                   : brought.status();
  }
  std::vector<UniqueFd>& opened = brought->descriptors;
  // First of all, so that `muster run` hears why nothing else came to be.
  if (watched) {
    if (opened.empty()) {
      return absl::InternalError("no connection was brought");
    }
    RETURN_IF_ERROR(Connect(std::move(opened.front())));
    opened.erase(opened.begin());
  }
  RETURN_IF_ERROR(refusal_);
  if (!brought->text.empty()) {
    return absl::FailedPreconditionError(brought->text);
  }
  if (opened.size() != opening_.files.size()) {
    return absl::InternalError("not all of its files were brought");
  }
  for (std::size_t i = 0; i < opened.size(); ++i) {
    const StepOpening::File& file = opening_.files[i];
    if (file.output) {
      files_[file.path] = std::move(opened[i]);
    } else {
      inputs_opened_.push_back(std::move(opened[i]));
    }
  }
  return absl::OkStatus();
}

absl::Status Step::Connect(UniqueFd socket) {
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
  handlers.on_signal = [this](int signal) { ranks_.Signal(signal); };
  handlers.on_room = [this](std::uint32_t number) {
    for (const std::unique_ptr<Rank>& rank : ranks_.all()) {
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
  ASSIGN_OR_RETURN(connection_,
                   StepConnection::Open(host_.loop, host_.closing, std::move(socket),
                                        plan_.program.io.token, Greeting(), std::move(handlers)));
  return absl::OkStatus();
}

absl::Status Step::OpenStreams(Rank* rank) {
  if (connection_ == nullptr) {
    return TakeFiles(rank);
  }
  const std::uint32_t number = rank->placement.rank;
  const auto closed = [this] { CheckEnded(); };
  if (plan_.has_terminal()) {
    return OpenTerminal(rank);
  }
  rank->output = std::make_unique<OutputPipe>(host_.loop, *connection_, number, false);
  rank->error = std::make_unique<OutputPipe>(host_.loop, *connection_, number, true);
  ASSIGN_OR_RETURN(rank->output_end, rank->output->Open(closed));
  ASSIGN_OR_RETURN(rank->error_end, rank->error->Open(closed));
  if (TakesInput(plan_.program.stdin_path, number)) {
    inputs_.push_back(
        std::make_unique<InputPipe>(host_.loop, *connection_, [this] { CheckInput(); }));
    ASSIGN_OR_RETURN(rank->input_end, inputs_.back()->Open());
  } else {
    ASSIGN_OR_RETURN(rank->input_end, OpenInput("", ""));
  }
  rank->input_fd = rank->input_end.get();
  rank->output_fd = rank->output_end.get();
  rank->error_fd = rank->error_end.get();
  return absl::OkStatus();
}

// Rank 0 has the terminal; what others print would only be in its way.
absl::Status Step::OpenTerminal(Rank* rank) {
  rank->output =
      std::make_unique<OutputPipe>(host_.loop, *connection_, rank->placement.rank, false);
  rank->error = std::make_unique<OutputPipe>(host_.loop, *connection_, rank->placement.rank, true);
  if (rank->placement.rank != 0) {
    rank->input_end.reset(open("/dev/null", O_RDWR | O_CLOEXEC));
  } else {
    ASSIGN_OR_RETURN(terminal_, StepTerminal::Open(plan_.program.terminal, host_.user));
    const auto copy = [this] { return UniqueFd(fcntl(terminal_->ours.get(), F_DUPFD_CLOEXEC, 0)); };
    RETURN_IF_ERROR(rank->output->Take(copy(), [this] { CheckEnded(); }));
    inputs_.push_back(
        std::make_unique<InputPipe>(host_.loop, *connection_, [this] { CheckInput(); }));
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

bool Step::InputFull() const {
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [](const std::unique_ptr<InputPipe>& input) { return input->full(); });
}

// What the nodes hand on others may still want, and an onlooker may type into a terminal.
void Step::CheckInput() {
  const bool shared = plan_.has_terminal() || (pmix_ != nullptr && pmix_->TakesInput());
  if (connection_ != nullptr && forked_ && !shared &&
      std::all_of(inputs_.begin(), inputs_.end(),
                  [](const std::unique_ptr<InputPipe>& input) { return input->closed(); })) {
    connection_->EndInput();
  }
}

StepGreeting Step::Greeting() const {
  StepGreeting greeting;
  greeting.node_index = plan_.node_index;
  greeting.node = host_.order.node_name;
  greeting.ranks = static_cast<std::uint32_t>(ranks_.all().size());
  greeting.exchange = pmix_ == nullptr ? std::vector<std::string>() : pmix_->Addresses();
  for (const NodeAllocation& node : plan_.placement.nodes) {
    greeting.nodes += node.ranks.empty() ? 0 : 1;
  }
  greeting.terminal =
      plan_.has_terminal() && !plan_.node().ranks.empty() && plan_.node().ranks.front().rank == 0;
  return greeting;
}

absl::Status Step::Show(const StepIo& io, bool input) {
  if (task_ != nullptr && !opening_.address.empty() && early_looks_.size() < Onlookers::kMost) {
    early_looks_.emplace_back(io, input);  // once its own client is there
    return absl::OkStatus();
  }
  if (connection_ == nullptr || connection_->lost() || ended_) {
    return absl::FailedPreconditionError(
        "no muster run watches the step: its ranks write to files");
  }
  if (input && !plan_.has_terminal()) {
    return absl::FailedPreconditionError("its input is taken: only a step with --pty shares it");
  }
  RETURN_IF_ERROR(CheckStepIo(io));
  if (onlookers_ == nullptr) {
    onlookers_ = std::make_unique<Onlookers>(host_.loop, host_.closing);
  }
  if (onlookers_->full(showing_.size())) {
    return absl::ResourceExhaustedError(
        absl::StrCat(Onlookers::kMost, " look at the step already"));
  }
  const std::uint64_t number = next_showing_++;
  showing_[number] = std::make_unique<UserTask>(
      host_.loop, host_.user, kShowingLimit,
      [opening = StepOpening{.address = io.address, .refused = true}] { return OpenStep(opening); },
      [this, number, token = io.token, input](absl::StatusOr<Brought> brought) {
        showing_.erase(number);
        const absl::Status shown = ShowOn(std::move(brought), token, input);
        if (!shown.ok()) {
          LogUnshown(shown);
        }
      });
  return absl::OkStatus();
}

void Step::LogUnshown(const absl::Status& why) const {
  host_.log.Warning("step",
                    absl::StrCat("an onlooker cannot be reached: ", std::string(why.message())));
}

absl::Status Step::ShowOn(absl::StatusOr<Brought> brought, const std::string& token, bool input) {
  RETURN_IF_ERROR(brought.status());
  if (brought->descriptors.empty() || connection_->lost() || ended_) {
    return absl::FailedPreconditionError("the step has ended meanwhile");
  }
  return onlookers_->Add(*connection_, std::move(brought->descriptors.front()), token, Greeting(),
                         [this, input](const std::string& data) {
                           if (input && !data.empty() && !InputFull()) {
                             TypeIn(data);
                           }
                         });
}

absl::Status Step::TakeFiles(Rank* rank) {
  if (plan_.program.stdin_path.empty()) {
    ASSIGN_OR_RETURN(rank->input_end, OpenInput("", ""));
  } else {
    rank->input_end = std::move(inputs_opened_.front());
    inputs_opened_.pop_front();
  }
  rank->input_fd = rank->input_end.get();
  rank->output_fd = files_.at(OutputOf(*rank)).get();
  rank->error_fd = files_.at(ErrorOf(*rank)).get();
  return absl::OkStatus();
}

std::string Step::FullOutput(const Rank& rank) {
  if (!plan_.program.io.address.empty() || disk_hangs_) {
    return "";  // `muster run` writes it, or nobody knows
  }
  const auto look = [work_dir = plan_.program.work_dir,
                     paths = std::vector<std::string>{OutputOf(rank), ErrorOf(rank)}] {
    Brought found;
    for (const std::string& path : paths) {
      if (found.text.empty() && IsOnFullDisk(work_dir, path)) {
        found.text = absl::StrCat("the file system of its output ", path, " is full");
      }
    }
    return absl::StatusOr<Brought>(std::move(found));
  };
  const absl::StatusOr<Brought> found = RunAsUser(host_.user, kDiskLimit, look);
  disk_hangs_ = !found.ok();
  return found.ok() ? found->text : "";
}

std::string Step::Where(const Rank& rank) const {
  const std::string node = host_.order.node_name + ": ";
  return plan_.step.valid() ? absl::StrCat("rank ", rank.placement.rank, " on ", node) : node;
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
    request.environment = RankEnvironment(host_.order, surroundings, ranks_.LocalNumberOf(rank));
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
