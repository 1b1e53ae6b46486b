#include "agent/supervisor/pmix/pmix_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/pmix/open_mpi_variables.h"
#include "agent/supervisor/pmix/pmix_pattern.h"
#include "agent/supervisor/pmix/pmix_relay.h"
#include "agent/supervisor/pmix/pmix_shape.h"
#include "agent/supervisor/user_space/as_user.h"
#include "agent/supervisor/user_space/remove_tree.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/passed_descriptors.h"

namespace muster::agent {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 16;
constexpr int kReadsAtOnce = 64;  // then other things have their turn
// What it does not take, and what its ranks wait for, at most.
constexpr std::size_t kOutgoingBytesMax = std::size_t{200} << 20;
constexpr std::size_t kOpenBytesMax = std::size_t{100} << 20;
constexpr std::size_t kOpenMax = std::size_t{1} << 17;
// A group that is killed takes the ranks and this process in one; what ended the ranks is the
// cause then.
constexpr Duration kLostGrace{500};
constexpr Duration kRemoveLimit{2000};

// Of our environment what concerns libpmix and the loading of libraries.
std::vector<std::string> ServerEnvironment() {
  constexpr std::array<std::string_view, 7> kKept = {
      "PMIX_",         "PATH=",         "LD_LIBRARY_PATH=", "ASAN_OPTIONS=",
      "LSAN_OPTIONS=", "TSAN_OPTIONS=", "UBSAN_OPTIONS="};
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    for (const std::string_view prefix : kKept) {
      if (std::string_view(*entry).starts_with(prefix)) {
        kept.emplace_back(*entry);
      }
    }
  }
  return kept;
}

}  // namespace

void RemovePmixSegments(const JobUser* user, const std::string& directory) {
  struct stat found = {};
  if (directory.empty() || lstat(directory.c_str(), &found) != 0) {
    return;
  }
  RunAsUser(user, kRemoveLimit, [&directory]() -> absl::StatusOr<Brought> {
    RETURN_IF_ERROR(RemoveTree(directory, kRemoveLimit));
    return Brought{};
  }).IgnoreError();
}

absl::StatusOr<std::shared_ptr<PmixProcess>> PmixProcess::Start(EventLoop& loop,
                                                                PmixProcessConfig config) {
  RETURN_IF_ERROR(FindPmixModule({config.module_dir}).status());
  // Whatever number the child will have.
  config.server.nspace = absl::StrCat("muster.supervisor.", getpid());
  std::shared_ptr<PmixProcess> process(new PmixProcess(loop, std::move(config)));
  if (process->called_) {
    RETURN_IF_ERROR(process->Launch());
  }
  return process;
}

absl::Status PmixProcess::OpenDoor() {
  if (door_.valid()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(door_, OpenPmixDoor(&port_));
  return loop_.Watch(door_.get(), EPOLLIN, [this](std::uint32_t) { Call(); });
}

void PmixProcess::CloseDoor() {
  if (door_.valid()) {
    loop_.Unwatch(door_.get());
    door_.reset();
  }
}

void PmixProcess::Call() {
  if (!door_.valid()) {
    return;
  }
  const std::shared_ptr<PmixProcess> self = shared_from_this();
  const absl::Status status = Launch();
  if (!status.ok()) {
    return Lose(std::string(status.message()));
  }
  called_ = true;
  CloseDoor();
  for (const auto& [number, step] : steps_) {
    wire::PmixRequest request;
    request.set_step(number);
    *request.mutable_start() = StartRequest(step->config_);
    Send(request);
  }
}

absl::Status PmixProcess::Launch() {
  if (config_.prepare) {
    RETURN_IF_ERROR(config_.prepare(&config_));
  }
  std::array<int, 2> ends{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return absl::ErrnoToStatus(errno, "cannot make a socket for PMIx");
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) {
    return absl::ErrnoToStatus(errno, "cannot open /dev/null");
  }
  LaunchRequest request;
  request.programs = {config_.program};
  request.arguments = {"muster-pmix", "--pmix", config_.module_dir};
  request.environment = ServerEnvironment();
  request.work_dir = "/";
  request.umask = 077;
  request.standard_input = request.standard_output = request.standard_error = null.get();
  request.channel = theirs.get();
  request.cgroup = config_.cgroup;
  request.cgroup_directory = config_.cgroup_directory;
  request.mounts = config_.mounts;
  request.user = config_.user;
  request.own_memory = true;  // a rank may have called just before the job was suspended
  ASSIGN_OR_RETURN(LaunchedChild child, muster::agent::Launch(request));
  said_ = std::move(child.said);
  // Nobody has reaped it yet: that is done on this thread.
  pidfd_.reset(static_cast<int>(syscall(SYS_pidfd_open, child.pid, 0)));
  if (!pidfd_.valid()) {
    return absl::ErrnoToStatus(errno, "cannot watch the process for PMIx");
  }
  if (door_.valid()) {
    std::string frame;
    wire::PmixRequest comes;
    comes.mutable_door()->set_steps(static_cast<std::uint32_t>(steps_.size()));
    AppendFrame(comes, &frame);
    const std::array<int, 1> door = {door_.get()};
    if (!SendWithDescriptors(ours.get(), frame, door, MSG_DONTWAIT)) {
      return absl::ErrnoToStatus(errno, "cannot hand over the socket of PMIx");
    }
  }
  socket_ = std::move(ours);
  RETURN_IF_ERROR(loop_.Watch(socket_.get(), EPOLLIN, [this](std::uint32_t) {
    const std::shared_ptr<PmixProcess> self = shared_from_this();
    Write();
    for (int i = 0; i < kReadsAtOnce && Read(); ++i) {
    }
  }));
  wire::PmixRequest opening;
  wire::PmixOpen& open = *opening.mutable_open();
  open.set_directory(config_.server.directory);
  open.set_hostname(config_.server.hostname);
  open.set_shared_memory(config_.server.shared_memory);
  open.set_server(config_.server.nspace);
  open.mutable_pattern()->Assign(config_.pattern.begin(), config_.pattern.end());
  open.set_port(static_cast<std::uint32_t>(port_));
  Send(opening);
  return absl::OkStatus();
}

// It ends by itself when its socket closes, and removes its files before. What does not is the
// attempt's to end, as whatever else is left.
PmixProcess::~PmixProcess() {
  for (const UniqueFd* watched : {&door_, &socket_}) {
    if (watched->valid()) {
      loop_.Unwatch(watched->get());
    }
  }
}

absl::StatusOr<std::unique_ptr<ServedStep>> PmixProcess::StartStep(PmixStepConfig config,
                                                                   PmixProcessHandlers handlers) {
  const std::uint64_t number = next_step_++;
  // Whatever becomes of the process, we know what to remove.
  config.segments = NamePmixSegments(config_.server.shared_memory, config.nspace);
  std::unique_ptr<ServedStep> step(
      new ServedStep(shared_from_this(), number, std::move(config), std::move(handlers)));
  if (!called_) {
    RETURN_IF_ERROR(OpenDoor());
    RETURN_IF_ERROR(BeginBehindDoor(step.get()));
    steps_[number] = step.get();
    return step;
  }
  wire::PmixRequest request;
  request.set_step(number);
  *request.mutable_start() = StartRequest(step->config_);
  steps_[number] = step.get();
  Send(request);
  RETURN_IF_ERROR(Await(step.get()));
  return step;
}

absl::Status PmixProcess::BeginBehindDoor(ServedStep* step) {
  const PmixStepConfig& config = step->config_;
  RETURN_IF_ERROR(CheckPmixShape(config));
  wire::PmixReply told;
  PmixRankFacts facts{config.nspace, config_.server.directory,
                      PmixServerAt(config_.server.nspace, port_), 0};
  for (std::uint32_t rank = 0; rank < config.node_of_rank.size(); ++rank) {
    if (config.node_of_rank[rank] == config.node_index) {
      facts.rank = rank;
      std::vector<std::string>& variables = step->variables_[rank];
      variables = FillPmixPattern(config_.pattern, facts);
      const std::vector<std::string> more = OpenMpiVariables(config, rank);
      variables.insert(variables.end(), more.begin(), more.end());
      told.mutable_started()->add_ranks()->mutable_variables()->Assign(variables.begin(),
                                                                       variables.end());
    }
  }
  absl::Status status = CheckPmixReply(told, config);  // the pattern is the user's word
  if (!status.ok()) {
    misled_ = true;
    ForgetPattern();
  }
  return status;
}

absl::Status PmixProcess::Await(ServedStep* step) {
  const auto deadline = std::chrono::steady_clock::now() + config_.start_limit;
  started_.reset();
  while (!started_.has_value()) {
    if (!socket_.valid()) {
      return absl::UnavailableError(
          absl::StrCat("the process that serves PMIx ended as it started: ", why_, WhyItEnded()));
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      Lose("it does not answer");
      return absl::DeadlineExceededError(
          absl::StrCat("the process that serves PMIx did not answer within ",
                       config_.start_limit.count() / 1000, " s"));
    }
    pollfd ready = {socket_.get(),
                    static_cast<short>(outgoing_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    poll(&ready, 1, static_cast<int>(left.count()));
    Write();
    while (Read() && !started_.has_value()) {
    }
  }
  const wire::PmixStarted& answer = started_->started();
  if (!answer.error().empty()) {
    return absl::InternalError(answer.error());
  }
  if (answer.pattern_size() > 0 && config_.on_pattern) {
    config_.on_pattern({answer.pattern().begin(), answer.pattern().end()});
  }
  int local = 0;
  for (std::uint32_t rank = 0; rank < step->config_.node_of_rank.size(); ++rank) {
    if (step->config_.node_of_rank[rank] == step->config_.node_index) {
      const auto& variables = answer.ranks(local++).variables();
      step->variables_[rank].assign(variables.begin(), variables.end());
    }
  }
  return absl::OkStatus();
}

void PmixProcess::Send(const wire::PmixRequest& request) {
  if (!socket_.valid()) {
    return;
  }
  AppendFrame(request, &outgoing_);
  if (outgoing_.size() > kOutgoingBytesMax) {
    Lose("it does not read its input");
    return;
  }
  Write();
}

void PmixProcess::Write() {
  while (socket_.valid() && !outgoing_.empty()) {
    const ssize_t sent =
        send(socket_.get(), outgoing_.data(), outgoing_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent < 0) {
      break;  // full, or gone, which reading tells
    }
    outgoing_.erase(0, static_cast<std::size_t>(sent));
  }
  if (socket_.valid()) {
    const std::uint32_t events = outgoing_.empty() ? EPOLLIN : EPOLLIN | EPOLLOUT;
    loop_.SetEvents(socket_.get(), events).IgnoreError();
  }
}

bool PmixProcess::Read() {
  if (!socket_.valid()) {
    return false;
  }
  std::array<char, kReadBytes> buffer;  // not set: most reads are short
  const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return false;
  }
  if (got <= 0) {
    Lose("it has ended");
    return false;
  }
  std::vector<std::string> frames;
  absl::Status status = reader_.Take({buffer.data(), static_cast<std::size_t>(got)}, &frames);
  for (std::size_t i = 0; i < frames.size() && status.ok(); ++i) {
    status = Take(frames[i]);
  }
  if (!status.ok()) {
    Lose(absl::StrCat("it said what it may not: ", std::string(status.message())));
  }
  return socket_.valid();
}

absl::Status PmixProcess::Take(const std::string& frame) {
  wire::PmixReply reply;
  if (!reply.ParseFromString(frame)) {
    return absl::InvalidArgumentError("a message that cannot be read");
  }
  const auto found = steps_.find(reply.step());
  if (found == steps_.end()) {
    return reply.step() < next_step_ ? absl::OkStatus()  // of a step that has ended meanwhile
                                     : absl::InvalidArgumentError("a step that there never was");
  }
  ServedStep* const step = found->second;
  RETURN_IF_ERROR(CheckPmixReply(reply, step->config_));
  if (reply.has_broken()) {
    Lose(reply.broken());
    return absl::OkStatus();
  }
  if (reply.has_started()) {
    if (std::exchange(step->answered_, true)) {
      return absl::InvalidArgumentError("a second answer to a start");
    }
    if (step->variables_.empty()) {
      started_ = std::move(reply);
    } else if (!reply.started().error().empty()) {  // its ranks run already
      Lose(reply.started().error());
    }
    return absl::OkStatus();
  }
  if (reply.has_fence()) {
    RETURN_IF_ERROR(Remember(reply.step(), reply.fence().id(), reply.fence().data().size()));
  } else if (reply.has_modex()) {
    RETURN_IF_ERROR(Remember(reply.step(), reply.modex().id(), 0));
  }
  Tell(step, reply);
  return absl::OkStatus();
}

absl::Status PmixProcess::Remember(std::uint64_t step, std::uint64_t id, std::size_t size) {
  if (!open_.emplace(id, Question{step, size}).second) {
    return absl::InvalidArgumentError("a question that is open already");
  }
  open_bytes_ += size;
  if (open_.size() > kOpenMax || open_bytes_ > kOpenBytesMax) {
    return absl::InvalidArgumentError("too many questions at a time");
  }
  return absl::OkStatus();
}

void PmixProcess::Forget(const ServedStep& step) {
  const std::uint64_t number = step.number_;
  steps_.erase(number);
  std::erase_if(open_, [&](const auto& question) {
    open_bytes_ -= question.second.step == number ? question.second.size : 0;
    return question.second.step == number;
  });
  if (steps_.empty()) {
    CloseDoor();
  }
  if (!called_) {
    return;  // nothing was made
  }
  wire::PmixRequest request;
  request.set_step(number);
  request.mutable_end();
  Send(request);
  if (!socket_.valid()) {
    RemovePmixSegments(config_.user, step.config_.segments);
  } else if (config_.on_segments && !step.config_.segments.empty()) {
    config_.on_segments(step.config_.segments);
  }
}

void PmixProcess::Tell(ServedStep* step, const wire::PmixReply& reply) {
  const PmixHandlers& ranks = step->handlers_.ranks;
  joined_ = joined_ || reply.has_connected();
  if (reply.has_connected() && ranks.on_connected) {
    ranks.on_connected(reply.connected());
  } else if (reply.has_finalized() && ranks.on_finalized) {
    ranks.on_finalized(reply.finalized());
  } else if (reply.has_abort() && ranks.on_abort) {
    ranks.on_abort(reply.abort().rank(), reply.abort().status(), reply.abort().message());
  } else if (reply.has_fence() && ranks.on_fence) {
    const auto& members = reply.fence().ranks();
    ranks.on_fence(reply.fence().id(), {members.begin(), members.end()}, reply.fence().data());
  } else if (reply.has_modex() && ranks.on_modex) {
    ranks.on_modex(reply.modex().id(), reply.modex().rank());
  } else if (reply.has_published() && ranks.on_published) {
    const wire::PmixData& found = reply.published();
    ranks.on_published(found.id(), found.found(), found.data());
  }
}

// Ends it, in case that it has not ended.
void PmixProcess::Lose(const std::string& why) {
  if (!socket_.valid() && called_) {
    return;
  }
  called_ = true;
  CloseDoor();
  if (socket_.valid()) {
    loop_.Unwatch(socket_.get());
    socket_.reset();
    syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
  }
  outgoing_.clear();
  why_ = why;
  if (!config_.pattern.empty() && !joined_) {
    ForgetPattern();  // perhaps it does not hold
  }
  const std::string text = absl::StrCat("the process that serves PMIx to its ranks is gone: ", why);
  loop_.RunAfter(kLostGrace, [self = shared_from_this(), text] {
    while (!self->steps_.empty()) {
      ServedStep* const step = self->steps_.begin()->second;
      self->steps_.erase(self->steps_.begin());
      if (step->handlers_.on_lost) {
        step->handlers_.on_lost(text);
      }
    }
  });
}

// The next one learns.
void PmixProcess::ForgetPattern() const {
  if (config_.on_pattern) {
    config_.on_pattern({});
  }
}

// Of one that never could answer.
std::string PmixProcess::WhyItEnded() const {
  std::array<char, 4096> bytes = {};
  const ssize_t got = read(said_.get(), bytes.data(), bytes.size());
  const LaunchOutcome outcome =
      ParseOutcome({bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
  // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc's is safe
  return outcome.error == 0 ? "" : absl::StrCat(": ", std::strerror(outcome.error));
}

ServedStep::~ServedStep() {
  process_->Forget(*this);
}

absl::StatusOr<std::vector<std::string>> ServedStep::RankEnv(std::uint32_t rank) const {
  const auto found = variables_.find(rank);
  return found != variables_.end()
             ? absl::StatusOr<std::vector<std::string>>(found->second)
             : absl::NotFoundError(
                   absl::StrCat("PMIx namespace ", config_.nspace, ": no rank ", rank, " here"));
}

void ServedStep::FinishFence(std::uint64_t id, const std::string& data) {
  FinishModex(id, data);  // both hand libpmix what it waits for under a number
}

void ServedStep::FinishModex(std::uint64_t id, const std::optional<std::string>& data) {
  const auto open = process_->open_.find(id);
  if (open == process_->open_.end()) {
    return;
  }
  process_->open_bytes_ -= open->second.size;
  process_->open_.erase(open);
  wire::PmixRequest request;
  request.set_step(number_);
  request.mutable_answer()->set_id(id);
  request.mutable_answer()->set_found(data.has_value());
  request.mutable_answer()->set_data(data.value_or(""));
  process_->Send(request);
}

void ServedStep::AskPublished(std::uint32_t rank, std::uint64_t id) {
  process_->Call();  // another node's rank may be first
  wire::PmixRequest request;
  request.set_step(number_);
  request.mutable_ask()->set_id(id);
  request.mutable_ask()->set_rank(rank);
  process_->Send(request);
}

void ServedStep::Hear() {
  const std::shared_ptr<PmixProcess> process = process_;
  for (int i = 0; i < kReadsAtOnce && process->Read(); ++i) {
  }
}

}  // namespace muster::agent
