#include "agent/supervisor/pmix/pmix_host.h"

#include <linux/keyctl.h>
#include <sys/socket.h>
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
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "agent/supervisor/pmix/pmix_loader.h"
#include "agent/supervisor/pmix/pmix_wire.h"
#include "scheduler/runtime/process.h"

namespace muster::agent {
namespace {

constexpr int kBroken = 1;
constexpr std::size_t kTextMax = 1000;

class PmixHost {
 public:
  PmixHost(int socket, std::string module_dir)
      : socket_(socket), module_dir_(std::move(module_dir)) {}
  PmixHost(const PmixHost&) = delete;
  PmixHost& operator=(const PmixHost&) = delete;

  int Run();

 private:
  void Take(const wire::PmixRequest& request);
  void Open(const wire::PmixOpen& open);
  void Start(std::uint64_t number, const wire::PmixStart& start);
  void FillStarted(std::uint64_t number, const wire::PmixStart& start, wire::PmixStarted* answer);
  PmixHandlers HandlersOf(std::uint64_t number);
  // From any thread.
  void Say(const wire::PmixReply& reply);

  const int socket_;
  const std::string module_dir_;
  std::mutex mutex_;  // one frame after the other
  std::unique_ptr<PmixLoader> loader_;
  absl::Status opened_ = absl::FailedPreconditionError("PMIx was not opened");
  std::map<std::uint64_t, std::unique_ptr<PmixStep>> steps_;
};

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
  PmixServerConfig config;
  config.directory = open.directory();
  config.hostname = open.hostname();
  config.shared_memory = open.shared_memory();
  auto loader = PmixLoader::Load({module_dir_}, config);
  opened_ = loader.status();
  loader_ = loader.ok() ? *std::move(loader) : nullptr;
}

void PmixHost::FillStarted(std::uint64_t number, const wire::PmixStart& start,
                           wire::PmixStarted* answer) {
  const auto fail = [answer](const absl::Status& why) {
    answer->set_error(std::string(why.message()).substr(0, kTextMax));
  };
  if (loader_ == nullptr) {
    return fail(opened_);
  }
  const PmixStepConfig config = StepOf(start);
  auto step = loader_->StartStep(config, HandlersOf(number));
  if (!step.ok()) {
    return fail(step.status());
  }
  for (std::uint32_t rank = 0; rank < config.node_of_rank.size(); ++rank) {
    if (config.node_of_rank[rank] != config.node_index) {
      continue;
    }
    const auto variables = (*step)->RankEnv(rank);
    if (!variables.ok()) {
      return fail(variables.status());
    }
    answer->add_ranks()->mutable_variables()->Assign(variables->begin(), variables->end());
  }
  steps_[number] = *std::move(step);
}

void PmixHost::Start(std::uint64_t number, const wire::PmixStart& start) {
  wire::PmixReply reply;
  reply.set_step(number);
  FillStarted(number, start, reply.mutable_started());
  Say(reply);
}

void PmixHost::Take(const wire::PmixRequest& request) {
  if (request.has_open()) {
    return Open(request.open());
  }
  if (request.has_start()) {
    return Start(request.step(), request.start());
  }
  const auto found = steps_.find(request.step());
  if (found == steps_.end()) {
    return;
  }
  if (request.has_answer()) {
    const wire::PmixData& answer = request.answer();
    found->second->FinishModex(answer.id(),
                               answer.found() ? std::optional(answer.data()) : std::nullopt);
  } else if (request.has_ask()) {
    found->second->AskPublished(request.ask().rank(), request.ask().id());
  } else if (request.has_end()) {
    steps_.erase(found);
  }
}

int PmixHost::Run() {
  PmixFrameReader reader;
  std::array<char, 1 << 16> buffer = {};
  int code = 0;
  while (true) {
    const ssize_t got = recv(socket_, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    std::vector<std::string> frames;
    if (got <= 0 || !reader.Take({buffer.data(), static_cast<std::size_t>(got)}, &frames).ok()) {
      code = got == 0 ? 0 : kBroken;
      break;
    }
    for (const std::string& frame : frames) {
      wire::PmixRequest request;
      if (request.ParseFromString(frame)) {
        Take(request);
      }
    }
  }
  steps_.clear();
  loader_.reset();
  return code;
}

}  // namespace

int ServePmix(int socket, const std::string& module_dir) {
  HideMemory();
  syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  std::signal(SIGCHLD, SIG_IGN);  // nobody reaps those who remove files
  const int code = PmixHost(socket, module_dir).Run();
  while (wait(nullptr) >= 0 || errno == EINTR) {  // until all of them have ended
  }
  // Without the handlers that libpmix has left for the end: its thread still runs.
  _exit(code);
}

}  // namespace muster::agent
