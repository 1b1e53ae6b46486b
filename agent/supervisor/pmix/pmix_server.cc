#include "agent/supervisor/pmix/pmix_server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/user_space/child_setup.h"
#include "agent/supervisor/user_space/remove_tree.h"
#include "scheduler/base/status.h"

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

absl::Status Check(const std::string& what, pmix_status_t status) {
  if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED) {
    return absl::OkStatus();
  }
  return absl::InternalError(absl::StrCat(what, ": ", PMIx_Error_string(status)));
}

std::string ErrnoText() {
  return std::generic_category().message(errno);
}

absl::Status MakeDirectory(const std::string& path) {
  return mkdir(path.c_str(), 0700) == 0
             ? absl::OkStatus()
             : absl::InternalError(absl::StrCat("mkdir ", path, ": ", ErrnoText()));
}

// The session directories of the step.
absl::Status MakeDirectories(const PmixJob& job) {
  RETURN_IF_ERROR(MakeDirectory(job.directory));
  for (const uint32_t rank : job.RanksOf(job.node_index)) {
    RETURN_IF_ERROR(MakeDirectory(job.RankDirectory(rank)));
  }
  return absl::OkStatus();
}

// What ranks may have filled is emptied by a child, and not waited for. What it leaves goes with
// the attempt's directory.
void RemoveBeside(const std::vector<std::string>& paths) {
  constexpr Duration kLimit{30000};
  const pid_t parent = getpid();
  if (fork() != 0) {
    return;
  }
  ResetSignals();
  DieWithParent(parent);
  close_range(0, ~0U, 0);
  for (const std::string& path : paths) {
    RemoveTree(path, kLimit).IgnoreError();
  }
  _exit(0);
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

}  // namespace

PmixServer& PmixServer::Instance() {
  // Never destroyed: libpmix's thread runs to the end of the process.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see the header
  static auto* const server = new PmixServer;
  return *server;
}

absl::Status PmixServer::Open(const PmixServerOptions& options, pmix_server_module_t upcalls) {
  if (opened_) {
    return absl::FailedPreconditionError(
        "libpmix serves once per process and was opened before: keep one loader for all steps");
  }
  InfoList info;
  info.AddString(PMIX_SERVER_TMPDIR, options.directory);
  info.AddString(PMIX_SYSTEM_TMPDIR, options.directory);
  info.AddString(PMIX_SERVER_NSPACE, absl::StrCat("muster.supervisor.", getpid()));
  info.AddRank(PMIX_SERVER_RANK, 0);
  info.AddString(PMIX_HOSTNAME, options.hostname);
  info.AddFlag(PMIX_SERVER_TOOL_SUPPORT, false);
  info.AddFlag(PMIX_TCP_DISABLE_IPV6, true);

  const SignalsBlocked blocked;
  // libpmix's shared-memory store keeps mutexes that ranks hold: one killed in MPI_Init would hang
  // the server for good. The store in messages costs no measurable time. libpmix takes this choice
  // from the environment only.
  const ScopedVariable store("PMIX_MCA_gds", "hash");
  RETURN_IF_ERROR(Check("PMIx_server_init", PMIx_server_init(&upcalls, info.data(), info.size())));
  directory_ = options.directory;
  opened_ = true;
  open_ = true;
  return absl::OkStatus();
}

PmixServer::Step PmixServer::ReadOptions(const PmixStepOptions& options) {
  Step step;
  step.callbacks = options.callbacks;
  PmixJob& job = step.job;
  job.nspace = options.nspace;
  job.nodes.assign(options.node_names, options.node_names + options.node_count);
  job.node_index = options.node_index;
  job.node_of_rank.assign(options.node_of_rank, options.node_of_rank + options.rank_count);
  job.universe_size = options.universe_size;
  job.local_cpusets.assign(options.local_cpusets, options.local_cpusets + options.local_count);
  job.segments = options.segments;
  return step;
}

absl::Status PmixServer::Register(const PmixJob& job) {
  RETURN_IF_ERROR(MakeDirectories(job));
  ASSIGN_OR_RETURN(InfoList info, BuildJobInfo(job));
  const auto local_count = static_cast<int>(job.local_cpusets.size());
  RETURN_IF_ERROR(Check("PMIx_server_register_nspace",
                        PMIx_server_register_nspace(job.nspace.c_str(), local_count, info.data(),
                                                    info.size(), nullptr, nullptr)));
  for (const uint32_t rank : job.RanksOf(job.node_index)) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, job.nspace.c_str(), rank);
    RETURN_IF_ERROR(
        Check(absl::StrCat("PMIx_server_register_client of rank ", rank),
              PMIx_server_register_client(&proc, geteuid(), getegid(), nullptr, nullptr, nullptr)));
  }
  return absl::OkStatus();
}

absl::Status PmixServer::StartStep(const PmixStepOptions& options) {
  if (!open_) {
    return absl::FailedPreconditionError("the PMIx server is not open");
  }
  Step step = ReadOptions(options);
  if (steps_.count(step.job.nspace) != 0 || retired_.count(step.job.nspace) != 0) {
    return absl::AlreadyExistsError(absl::StrCat("PMIx namespace ", step.job.nspace,
                                                 " was used; steps need names of their own"));
  }
  // libpmix makes the directory of an unused namespace again, now and then after we removed it: a
  // later step of the same name has one of its own.
  step.job.directory = absl::StrCat(directory_, "/", step.job.nspace, ".", next_directory_++);
  const PmixJob job = step.job;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    steps_.emplace(job.nspace, std::move(step));
  }
  absl::Status status = Register(job);
  if (!status.ok()) {
    EndStep(job.nspace, true);
  }
  return status;
}

absl::StatusOr<std::vector<std::string>> PmixServer::RankEnv(const std::string& nspace,
                                                             uint32_t rank) {
  const auto step = steps_.find(nspace);
  if (step == steps_.end()) {
    return absl::NotFoundError(absl::StrCat("no PMIx namespace ", nspace, " in this server"));
  }
  const PmixJob& job = step->second.job;
  if (rank >= job.node_of_rank.size() || job.node_of_rank[rank] != job.node_index) {
    return absl::NotFoundError(
        absl::StrCat("PMIx namespace ", nspace, ": no rank ", rank, " here"));
  }
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, nspace.c_str(), rank);
  char** raw = nullptr;
  const pmix_status_t status = PMIx_server_setup_fork(&proc, &raw);
  std::vector<std::string> environment = TakeEnvironment(raw);
  RETURN_IF_ERROR(Check("PMIx_server_setup_fork", status));
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
    MUSTER_CHECK(copy != nullptr);
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
  std::vector<std::string> paths = {step.job.directory};
  if (!step.job.segments.empty()) {
    paths.push_back(step.job.segments);
  }
  RemoveBeside(paths);
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
