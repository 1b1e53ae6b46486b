#include "agent/supervisor/pmix/pmix_host.h"

#include <link.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/pmix/open_mpi_variables.h"
#include "agent/supervisor/pmix/pmix_loader.h"
#include "agent/supervisor/pmix/pmix_pattern.h"
#include "agent/supervisor/pmix/pmix_relay.h"
#include "agent/supervisor/pmix/pmix_shape.h"
#include "agent/supervisor/pmix/pmix_wire.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/passed_descriptors.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

constexpr int kBroken = 1;
constexpr std::size_t kTextMax = 1000;
constexpr std::string_view kTcp = "tcp4://";
// A rank calls once; what it has started may call, too.
constexpr std::size_t kCallsPerRank = 4;
constexpr std::size_t kFurtherCalls = 64;

class PmixHost {
 public:
  PmixHost(int socket, std::string module_dir)
      : socket_(socket), module_dir_(std::move(module_dir)) {}
  PmixHost(const PmixHost&) = delete;
  PmixHost& operator=(const PmixHost&) = delete;

  int Run();

 private:
  struct Served {
    PmixStepConfig config;
    std::unique_ptr<PmixStep> step;  // null: libpmix does not know it yet
  };

  // An error: nothing can be served any more.
  absl::Status Take(const wire::PmixRequest& request);
  absl::StatusOr<bool> Read();
  absl::Status TakeAll(const std::vector<std::string>& frames);
  void Open(const wire::PmixOpen& open);
  void Start(std::uint64_t number, const wire::PmixStart& start);
  absl::Status StartStep(std::uint64_t number, const wire::PmixStart& start,
                         wire::PmixStarted* answer);
  // Tells the variables without libpmix, which comes when a rank calls.
  absl::Status StartLater(Served* served, wire::PmixStarted* answer) const;
  absl::Status StartNow(std::uint64_t number, Served* served, wire::PmixStarted* answer);
  [[nodiscard]] std::vector<std::string> Learn(const Served& served) const;
  absl::Status Load();
  // A rank calls: from now on libpmix serves all steps.
  absl::Status Answer();
  void Break(const absl::Status& why);
  void End(std::uint64_t number);
  PmixHandlers HandlersOf(std::uint64_t number);
  // From any thread.
  void Say(const wire::PmixReply& reply);

  const int socket_;
  const std::string module_dir_;
  std::mutex mutex_;  // one frame after the other
  PmixFrameReader reader_;
  std::array<char, 1 << 16> buffer_ = {};
  PmixServerConfig config_;
  std::vector<std::string> pattern_;
  UniqueFd door_;                   // valid: ranks call there, and libpmix is not loaded
  std::size_t starts_to_come_ = 0;  // before somebody is answered there
  int port_ = 0;
  std::unique_ptr<PmixLoader> loader_;
  absl::Status opened_ = absl::FailedPreconditionError("PMIx was not opened");
  std::map<std::uint64_t, Served> steps_;
};

std::vector<std::uint32_t> LocalRanks(const PmixStepConfig& config) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < config.node_of_rank.size(); ++rank) {
    if (config.node_of_rank[rank] == config.node_index) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

void AddVariables(const std::vector<std::string>& variables, wire::PmixStarted* answer) {
  answer->add_ranks()->mutable_variables()->Assign(variables.begin(), variables.end());
}

// The file of libpmix that is loaded; "" where none is.
std::string LoadedLibrary() {
  std::string path;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* found) {
        const std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (name.find("/libpmix.so") == std::string_view::npos) {
          return 0;
        }
        *static_cast<std::string*>(found) = name;
        return 1;
      },
      &path);
  return path;
}

void PmixHost::Say(const wire::PmixReply& reply) {
  std::string bytes;
  AppendFrame(reply, &bytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t sent = send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) {
      return;  // the supervisor is gone, and with it soon we
    }
    at += static_cast<std::size_t>(std::max<ssize_t>(sent, 0));
  }
}

// On libpmix's thread, before the rank that says it goes on.
PmixHandlers PmixHost::HandlersOf(std::uint64_t number) {
  const auto say = [this, number](const auto& fill) {
    wire::PmixReply reply;
    reply.set_step(number);
    fill(reply);
    Say(reply);
  };
  PmixHandlers handlers;
  handlers.on_connected = [say](std::uint32_t rank) {
    say([&](wire::PmixReply& reply) { reply.set_connected(rank); });
  };
  handlers.on_finalized = [say](std::uint32_t rank) {
    say([&](wire::PmixReply& reply) { reply.set_finalized(rank); });
  };
  handlers.on_abort = [say](std::uint32_t rank, int status, const std::string& message) {
    say([&](wire::PmixReply& reply) {
      reply.mutable_abort()->set_rank(rank);
      reply.mutable_abort()->set_status(status);
      reply.mutable_abort()->set_message(message.substr(0, kTextMax));
    });
  };
  handlers.on_fence = [say](std::uint64_t id, const std::vector<std::uint32_t>& ranks,
                            const std::string& data) {
    say([&](wire::PmixReply& reply) {
      reply.mutable_fence()->set_id(id);
      reply.mutable_fence()->mutable_ranks()->Assign(ranks.begin(), ranks.end());
      reply.mutable_fence()->set_data(data);
    });
  };
  handlers.on_modex = [say](std::uint64_t id, std::uint32_t rank) {
    say([&](wire::PmixReply& reply) {
      reply.mutable_modex()->set_id(id);
      reply.mutable_modex()->set_rank(rank);
    });
  };
  handlers.on_published = [say](std::uint64_t id, bool found, const std::string& data) {
    say([&](wire::PmixReply& reply) {
      reply.mutable_published()->set_id(id);
      reply.mutable_published()->set_found(found);
      reply.mutable_published()->set_data(data);
    });
  };
  return handlers;
}

void PmixHost::Open(const wire::PmixOpen& open) {
  config_.directory = open.directory();
  config_.hostname = open.hostname();
  config_.shared_memory = open.shared_memory();
  config_.nspace = open.server();
  pattern_.assign(open.pattern().begin(), open.pattern().end());
  port_ = static_cast<int>(open.port());
  if (!door_.valid() && IsCurrentPmixPattern(pattern_)) {
    absl::StatusOr<UniqueFd> door = OpenPmixDoor(&port_);
    if (door.ok()) {
      door_ = *std::move(door);
    }
  }
  opened_ = door_.valid() ? absl::OkStatus() : Load();
}

absl::Status PmixHost::Load() {
  ASSIGN_OR_RETURN(loader_, PmixLoader::Load({module_dir_}, config_));
  return absl::OkStatus();
}

absl::Status PmixHost::StartStep(std::uint64_t number, const wire::PmixStart& start,
                                 wire::PmixStarted* answer) {
  Served served;
  served.config = StepOf(start);
  RETURN_IF_ERROR(CheckPmixShape(served.config));
  const std::string told = served.config.segments;  // to its ranks, which may run already
  if (!told.empty() && mkdir(told.c_str(), 0700) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", told));
  }
  absl::Status status =
      door_.valid() ? StartLater(&served, answer) : StartNow(number, &served, answer);
  if (status.ok()) {
    steps_[number] = std::move(served);
  } else if (!told.empty()) {
    rmdir(told.c_str());  // gone already where libpmix had a part of the step
  }
  return status;
}

absl::Status PmixHost::StartLater(Served* served, wire::PmixStarted* answer) const {
  PmixStepConfig& config = served->config;
  if (config.segments.empty()) {
    config.segments = MakePmixSegments(config_.shared_memory, config.nspace);
  }
  PmixRankFacts facts{config.nspace, config_.directory, PmixServerAt(config_.nspace, port_), 0};
  for (const std::uint32_t rank : LocalRanks(config)) {
    facts.rank = rank;
    std::vector<std::string> variables = FillPmixPattern(pattern_, facts);
    const std::vector<std::string> more = OpenMpiVariables(config, rank);
    variables.insert(variables.end(), more.begin(), more.end());
    AddVariables(variables, answer);
  }
  return absl::OkStatus();
}

absl::Status PmixHost::StartNow(std::uint64_t number, Served* served, wire::PmixStarted* answer) {
  RETURN_IF_ERROR(opened_);
  ASSIGN_OR_RETURN(served->step, loader_->StartStep(served->config, HandlersOf(number)));
  for (const std::uint32_t rank : LocalRanks(served->config)) {
    ASSIGN_OR_RETURN(const std::vector<std::string> variables, served->step->RankEnv(rank));
    AddVariables(variables, answer);
  }
  const std::vector<std::string> pattern = Learn(*served);
  answer->mutable_pattern()->Assign(pattern.begin(), pattern.end());
  return absl::OkStatus();
}

// What holds for the first and for the last rank here holds for all.
std::vector<std::string> PmixHost::Learn(const Served& served) const {
  const std::vector<std::uint32_t> ranks = LocalRanks(served.config);
  const auto first = served.step->OwnVariables(ranks.front());
  const auto last = served.step->OwnVariables(ranks.back());
  if (!first.ok() || !last.ok()) {
    return {};
  }
  PmixRankFacts facts{served.config.nspace, config_.directory, ServerIn(*first), ranks.front()};
  const std::vector<std::string> pattern =
      LearnPmixPattern(PmixLibraryAt(LoadedLibrary()), *first, facts);
  facts.rank = ranks.back();
  return FillPmixPattern(pattern, facts) == *last ? pattern : std::vector<std::string>();
}

absl::Status PmixHost::Answer() {
  UniqueFd door = std::move(door_);
  opened_ = Load();
  RETURN_IF_ERROR(opened_);
  std::string server;
  std::size_t ranks = 0;
  for (auto& [number, served] : steps_) {
    ASSIGN_OR_RETURN(served.step, loader_->StartStep(served.config, HandlersOf(number)));
    const std::vector<std::uint32_t> local = LocalRanks(served.config);
    ASSIGN_OR_RETURN(const auto variables, served.step->OwnVariables(local.front()));
    server = ServerIn(variables);
    const PmixRankFacts facts{served.config.nspace, config_.directory, server, local.front()};
    if (FillPmixPattern(pattern_, facts) != variables) {
      return absl::FailedPreconditionError(
          "libpmix has changed since it was used here last: run the step again");
    }
    ranks += local.size();
  }
  const std::size_t scheme = server.find(kTcp);
  if (scheme == std::string::npos) {
    return absl::InternalError("libpmix does not say where it serves");
  }
  return StartPmixRelay(std::move(door), server.substr(scheme + kTcp.size()),
                        kCallsPerRank * ranks + kFurtherCalls, geteuid());
}

// Ranks, ours or another node's, could only wait.
void PmixHost::Break(const absl::Status& why) {
  for (const auto& [number, served] : steps_) {
    wire::PmixReply reply;
    reply.set_step(number);
    reply.set_broken(std::string(why.message()).substr(0, kTextMax));
    Say(reply);
  }
}

void PmixHost::Start(std::uint64_t number, const wire::PmixStart& start) {
  wire::PmixReply reply;
  reply.set_step(number);
  const absl::Status status = StartStep(number, start, reply.mutable_started());
  if (!status.ok()) {
    reply.mutable_started()->Clear();
    reply.mutable_started()->set_error(std::string(status.message()).substr(0, kTextMax));
  }
  Say(reply);
}

void PmixHost::End(std::uint64_t number) {
  const auto found = steps_.find(number);
  if (found->second.step == nullptr && !found->second.config.segments.empty()) {
    rmdir(found->second.config.segments.c_str());  // no rank has been there
  }
  steps_.erase(found);
}

absl::Status PmixHost::Take(const wire::PmixRequest& request) {
  if (request.has_open()) {
    Open(request.open());
    return absl::OkStatus();
  }
  if (request.has_door()) {
    starts_to_come_ = request.door().steps();
    return absl::OkStatus();
  }
  if (request.has_start()) {
    starts_to_come_ -= starts_to_come_ > 0 ? 1 : 0;
    Start(request.step(), request.start());
    return absl::OkStatus();
  }
  const auto found = steps_.find(request.step());
  if (found == steps_.end()) {
    return absl::OkStatus();
  }
  if (request.has_end()) {
    End(request.step());
    return absl::OkStatus();
  }
  if (found->second.step == nullptr && door_.valid() && request.has_ask()) {
    // Another node's rank asks for what one of ours has published: it will have come by then.
    RETURN_IF_ERROR(Answer());
  }
  PmixStep* const step = found->second.step.get();
  if (step == nullptr) {
    return absl::OkStatus();
  }
  if (request.has_answer()) {
    const wire::PmixData& answer = request.answer();
    step->FinishModex(answer.id(), answer.found() ? std::optional(answer.data()) : std::nullopt);
  } else if (request.has_ask()) {
    step->AskPublished(request.ask().rank(), request.ask().id());
  }
  return absl::OkStatus();
}

absl::Status PmixHost::TakeAll(const std::vector<std::string>& frames) {
  for (const std::string& frame : frames) {
    wire::PmixRequest request;
    if (request.ParseFromString(frame)) {
      RETURN_IF_ERROR(Take(request));
    }
  }
  return absl::OkStatus();
}

// What the supervisor says; false at its end.
absl::StatusOr<bool> PmixHost::Read() {
  ReceivedMessage got = ReceiveWithDescriptors(socket_, buffer_);
  if (got.size < 0 && errno == EAGAIN) {
    return true;
  }
  if (!got.descriptors.empty()) {
    door_ = std::move(got.descriptors.front());
  }
  if (got.size <= 0) {
    return got.size == 0 ? absl::StatusOr<bool>(false)
                         : absl::ErrnoToStatus(errno, "cannot hear the supervisor");
  }
  std::vector<std::string> frames;
  RETURN_IF_ERROR(reader_.Take({buffer_.data(), static_cast<std::size_t>(got.size)}, &frames));
  RETURN_IF_ERROR(TakeAll(frames));
  return true;
}

int PmixHost::Run() {
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) {
    // Nobody is answered before the supervisor has said which steps there are.
    const bool is_open = door_.valid() && !steps_.empty() && starts_to_come_ == 0;
    std::array<pollfd, 2> ready = {pollfd{socket_, POLLIN, 0}, pollfd{door_.get(), POLLIN, 0}};
    poll(ready.data(), is_open ? 2 : 1, -1);
    if (ready[0].revents != 0) {
      more = Read();
    } else if (ready[1].revents != 0) {
      const absl::Status answered = Answer();
      more = answered.ok() ? absl::StatusOr<bool>(true) : answered;
    }
  }
  if (!more.ok()) {
    Break(more.status());
  }
  while (!steps_.empty()) {
    End(steps_.begin()->first);
  }
  loader_.reset();
  return more.ok() ? 0 : kBroken;
}

}  // namespace

int ServePmix(int socket, const std::string& module_dir) {
  HideMemory();
  syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  std::signal(SIGCHLD, SIG_IGN);  // nobody reaps those who remove files
  const int code = PmixHost(socket, module_dir).Run();
  while (wait(nullptr) >= 0 || errno == EINTR) {  // until all of them have ended
  }
  // Without the handlers that libpmix has left for the end: its thread still runs.
  _exit(code);
}

}  // namespace muster::agent
