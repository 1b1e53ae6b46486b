#include "agent/supervisor/pmix/pmix_server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace muster::agent {
namespace {

// Threads made while this lives take no signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

// Sets an environment variable for as long as it lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    const char* before = getenv(name);  // NOLINT(concurrency-mt-unsafe): see Open()
    had_ = before != nullptr;
    before_ = had_ ? before : "";
    setenv(name, value, 1);  // NOLINT(concurrency-mt-unsafe)
  }
  ~ScopedVariable() {
    if (had_) {
      setenv(name_, before_.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
    } else {
      unsetenv(name_);  // NOLINT(concurrency-mt-unsafe)
    }
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool had_ = false;
};

// What libpmix starts its server with. Each of its versions reads a table of its own length, the
// newer ones a longer one than we were compiled with: they find that we do not do the rest.
struct UpcallTable {
  pmix_server_module_t known;
  std::array<void (*)(), 64> newer = {};
};

void MakeDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0) {
    throw std::runtime_error("mkdir " + path + ": " + std::generic_category().message(errno));
  }
}

// The session directories of the step.
void MakeDirectories(const PmixJob& job) {
  MakeDirectory(job.directory);
  for (const uint32_t rank : job.RanksOf(job.node_index)) {
    MakeDirectory(job.RankDirectory(rank));
  }
}

// Takes over an environment that libpmix made.
std::vector<std::string> TakeEnvironment(char** environment) {
  std::vector<std::string> result;
  for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry) {
    result.emplace_back(*entry);
    std::free(*entry);
  }
  std::free(static_cast<void*>(environment));
  return result;
}

[[noreturn]] void Refuse(const PmixJob& job, const std::string& why) {
  throw std::runtime_error("PMIx namespace " + job.nspace + ": " + why);
}

PmixJob ReadJob(const PmixStepOptions& options) {
  PmixJob job;
  job.nspace = options.nspace;
  job.nodes.assign(options.node_names, options.node_names + options.node_count);
  job.node_index = options.node_index;
  job.node_of_rank.assign(options.node_of_rank, options.node_of_rank + options.rank_count);
  job.universe_size = options.universe_size;
  job.local_cpusets.assign(options.local_cpusets, options.local_cpusets + options.local_count);
  job.segments = options.segments;
  return job;
}

}  // namespace

PmixServer& PmixServer::Instance() {
  // Never destroyed: libpmix's thread runs to the end of the process.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see the header
  static auto* const server = new PmixServer;
  return *server;
}

void PmixServer::Open(const PmixServerOptions& options, pmix_server_module_t upcalls) {
  if (opened_) {
    throw std::runtime_error(
        "libpmix serves once per process and was opened before: keep one loader for all steps");
  }
  InfoList info;
  info.AddString(PMIX_SERVER_TMPDIR, options.directory);
  info.AddString(PMIX_SYSTEM_TMPDIR, options.directory);
  const std::string nspace = options.nspace;
  info.AddString(PMIX_SERVER_NSPACE,
                 nspace.empty() ? "muster.supervisor." + std::to_string(getpid()) : nspace);
  info.AddRank(PMIX_SERVER_RANK, 0);
  info.AddString(PMIX_HOSTNAME, options.hostname);
  info.AddFlag(PMIX_SERVER_TOOL_SUPPORT, false);
  info.AddFlag(PMIX_TCP_DISABLE_IPV6, true);

  const SignalsBlocked blocked;
  // libpmix's shared-memory store keeps mutexes that ranks hold: one killed in MPI_Init would hang
  // the server for good. The store in messages costs no measurable time. libpmix takes this choice
  // from the environment only.
  const ScopedVariable store("PMIX_MCA_gds", "hash");
  UpcallTable table = {upcalls};
  CheckPmix("PMIx_server_init", PMIx_server_init(&table.known, info.data(), info.size()));
  directory_ = options.directory;
  remove_ = options.remove;
  opened_ = true;
  open_ = true;
}

void PmixServer::Register(const PmixJob& job) {
  MakeDirectories(job);
  InfoList info = BuildJobInfo(job);
  const auto local_count = static_cast<int>(job.local_cpusets.size());
  CheckPmix("PMIx_server_register_nspace",
            PMIx_server_register_nspace(job.nspace.c_str(), local_count, info.data(), info.size(),
                                        nullptr, nullptr));
  for (const uint32_t rank : job.RanksOf(job.node_index)) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, job.nspace.c_str(), rank);
    CheckPmix("PMIx_server_register_client of rank " + std::to_string(rank),
              PMIx_server_register_client(&proc, geteuid(), getegid(), nullptr, nullptr, nullptr));
  }
}

void PmixServer::StartStep(const PmixStepOptions& options) {
  if (!open_) {
    throw std::runtime_error("the PMIx server is not open");
  }
  Step step = {ReadJob(options), options.callbacks, {}};
  if (steps_.count(step.job.nspace) != 0 || retired_.count(step.job.nspace) != 0) {
    throw std::runtime_error("PMIx namespace " + step.job.nspace +
                             " was used; steps need names of their own");
  }
  // libpmix makes the directory of an unused namespace again, now and then after we removed it: a
  // later step of the same name has one of its own.
  step.job.directory = directory_ + "/" + step.job.nspace + "." + std::to_string(next_directory_++);
  const PmixJob job = step.job;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    steps_.emplace(job.nspace, std::move(step));
  }
  try {
    Register(job);
  } catch (...) {
    EndStep(job.nspace, true);
    throw;
  }
}

std::vector<std::string> PmixServer::RankEnv(const std::string& nspace, uint32_t rank) {
  const auto step = steps_.find(nspace);
  if (step == steps_.end()) {
    throw std::runtime_error("no PMIx namespace " + nspace + " in this server");
  }
  const PmixJob& job = step->second.job;
  if (rank >= job.node_of_rank.size() || job.node_of_rank[rank] != job.node_index) {
    Refuse(job, "no rank " + std::to_string(rank) + " here");
  }
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, nspace.c_str(), rank);
  char** raw = nullptr;
  const pmix_status_t status = PMIx_server_setup_fork(&proc, &raw);
  std::vector<std::string> environment = TakeEnvironment(raw);
  CheckPmix("PMIx_server_setup_fork", status);
  return environment;
}

void PmixServer::NoteConnected(const pmix_proc_t& proc) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto step = steps_.find(proc.nspace);
  if (step != steps_.end()) {
    step->second.connected.insert(proc.rank);
  }
}

uint64_t PmixServer::Keep(const char* nspace, pmix_modex_cbfunc_t done, void* context) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t id = next_id_++;
  waiting_[id] = Waiting{nspace, done, context};
  return id;
}

void PmixServer::Answer(uint64_t id, bool ok, const char* data, size_t size) {
  Waiting waiting;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) {
      return;
    }
    waiting = std::move(found->second);
    waiting_.erase(found);
  }
  char* copy = nullptr;
  if (ok && size > 0) {
    copy = static_cast<char*>(std::malloc(size));
    if (copy == nullptr) {
      std::abort();  // the rank would wait for ever
    }
    std::memcpy(copy, data, size);
  }
  waiting.done(ok ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, copy, ok ? size : 0, waiting.context,
               std::free, copy);
}

void PmixServer::AskPublished(const std::string& nspace, uint32_t rank, uint64_t id) {
  struct Question {
    pmix_proc_t proc;
    uint64_t id;
  };
  auto* const question = new Question;  // the answer's; one that never comes keeps it
  question->id = id;
  PMIX_LOAD_PROCID(&question->proc, nspace.c_str(), rank);
  const auto answered = [](pmix_status_t status, char* data, size_t size, void* context) {
    const std::unique_ptr<Question> owner(static_cast<Question*>(context));
    Instance().Tell(owner->proc, [&](const PmixCallbacks& callbacks) {
      if (callbacks.on_published != nullptr) {
        callbacks.on_published(callbacks.context, owner->id, status == PMIX_SUCCESS ? 1 : 0, data,
                               status == PMIX_SUCCESS ? size : 0);
      }
    });
  };
  const pmix_status_t asked = PMIx_server_dmodex_request(&question->proc, answered, question);
  if (asked != PMIX_SUCCESS) {
    answered(asked, nullptr, 0, question);
  }
}

// libpmix 4.2 releases a rank once too often when that rank dies (or is turned away) in the middle
// of its handshake; freeing the namespace then walks freed memory and hangs libpmix's thread. So a
// namespace is freed only when that cannot have happened; otherwise it is left where it is, some
// kilobytes, until the supervisor ends.
void PmixServer::EndStep(const std::string& nspace, bool all_exited) {
  Step step;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = steps_.find(nspace);
    if (found == steps_.end()) {
      return;
    }
    step = std::move(found->second);
    steps_.erase(found);
    // libpmix keeps what its ranks wait for, and nobody answers: they are gone.
    std::erase_if(waiting_, [&nspace](const auto& entry) { return entry.second.nspace == nspace; });
  }
  if (all_exited || step.connected.size() == step.job.local_cpusets.size()) {
    PMIx_server_deregister_nspace(
        nspace.c_str(), [](pmix_status_t, void*) {}, nullptr);
  } else {
    retired_.insert(nspace);
  }
  const std::array<const char*, 2> paths = {step.job.directory.c_str(), step.job.segments.c_str()};
  remove_(paths.data(), step.job.segments.empty() ? 1 : 2);
}

// PMIx_server_finalize is left out: it frees every namespace (see EndStep), and the process ends
// soon.
void PmixServer::Close() {
  while (!steps_.empty()) {
    EndStep(std::string(steps_.begin()->first), false);
  }
  open_ = false;
}

}  // namespace muster::agent
