#include "agent/supervisor/pmix_server.h"

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
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

// ---- Upcalls: on libpmix's thread
// -------------------------------------------------------------------------

// The number of parameters is libpmix's.
// NOLINTBEGIN(readability-function-size)

pmix_status_t ClientConnected(const pmix_proc_t* proc, void*, pmix_info_t*, size_t,
                              pmix_op_cbfunc_t, void*) {
  PmixServer::Instance().NoteConnected(*proc);
  PmixServer::Instance().Tell(*proc, [proc](const PmixCallbacks& callbacks) {
    if (callbacks.on_connected != nullptr) {
      callbacks.on_connected(callbacks.context, proc->rank);
    }
  });
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t ClientFinalized(const pmix_proc_t* proc, void*, pmix_op_cbfunc_t, void*) {
  PmixServer::Instance().Tell(*proc, [proc](const PmixCallbacks& callbacks) {
    if (callbacks.on_finalized != nullptr) {
      callbacks.on_finalized(callbacks.context, proc->rank);
    }
  });
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t ClientAborted(const pmix_proc_t* proc, void*, int status, const char message[],
                            pmix_proc_t*, size_t, pmix_op_cbfunc_t done, void* data) {
  const char* text = message != nullptr ? message : "";
  PmixServer::Instance().Tell(*proc, [proc, status, text](const PmixCallbacks& callbacks) {
    if (callbacks.on_abort != nullptr) {
      callbacks.on_abort(callbacks.context, proc->rank, status, text);
    }
  });
  if (done != nullptr) {
    done(PMIX_SUCCESS, data);
  }
  return PMIX_SUCCESS;
}

// Every participant is on this node, so what they brought is already the whole.
pmix_status_t FenceDone(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, char* data,
                        size_t size, pmix_modex_cbfunc_t done, void* context) {
  char* copy = nullptr;
  if (size > 0) {
    copy = static_cast<char*>(std::malloc(size));
    if (copy == nullptr) {
      return PMIX_ERR_NOMEM;
    }
    std::memcpy(copy, data, size);
  }
  done(PMIX_SUCCESS, copy, size, context, std::free, copy);
  return PMIX_SUCCESS;
}

pmix_status_t ModexNotFound(const pmix_proc_t*, const pmix_info_t*, size_t, pmix_modex_cbfunc_t,
                            void*) {
  return PMIX_ERR_NOT_FOUND;
}

pmix_status_t SpawnRefused(const pmix_proc_t*, const pmix_info_t*, size_t, const pmix_app_t*,
                           size_t, pmix_spawn_cbfunc_t, void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

// Events of the environment are not raised yet; asking for them is allowed.
pmix_status_t EventsAccepted(pmix_status_t*, size_t, const pmix_info_t*, size_t, pmix_op_cbfunc_t,
                             void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

pmix_status_t EventsDropped(pmix_status_t*, size_t, pmix_op_cbfunc_t, void*) {
  return PMIX_OPERATION_SUCCEEDED;
}

// libpmix answers questions about the namespace by itself; what is left concerns the scheduler.
pmix_status_t QueryRefused(pmix_proc_t*, pmix_query_t*, size_t, pmix_info_cbfunc_t, void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

// NOLINTEND(readability-function-size)

pmix_server_module_t Upcalls() {
  pmix_server_module_t module = {};
  module.client_connected2 = ClientConnected;
  module.client_finalized = ClientFinalized;
  module.abort = ClientAborted;
  module.fence_nb = FenceDone;
  module.direct_modex = ModexNotFound;
  module.spawn = SpawnRefused;
  module.register_events = EventsAccepted;
  module.deregister_events = EventsDropped;
  module.query = QueryRefused;
  return module;
}

// ---- Down-calls
// -------------------------------------------------------------------------------------------

// Threads made while this lives take no signals: those belong to the supervisor's own loop.
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

absl::Status MakeDirectory(const std::string& path, uint32_t uid, uint32_t gid) {
  if (mkdir(path.c_str(), 0700) != 0) {
    return absl::InternalError(absl::StrCat("mkdir ", path, ": ", ErrnoText()));
  }
  if (uid != geteuid() && lchown(path.c_str(), uid, gid) != 0) {
    return absl::InternalError(absl::StrCat("chown ", path, ": ", ErrnoText()));
  }
  return absl::OkStatus();
}

// The session directories of the step, owned by its user.
absl::Status MakeDirectories(const PmixJob& job) {
  RETURN_IF_ERROR(MakeDirectory(job.directory, job.uid, job.gid));
  for (const uint32_t rank : job.RanksOf(job.node_index)) {
    RETURN_IF_ERROR(MakeDirectory(job.RankDirectory(rank), job.uid, job.gid));
  }
  return absl::OkStatus();
}

// Follows no link, so a user cannot point it elsewhere.
void RemoveTree(const std::string& path) {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
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

// What Open MPI 4.1 needs beside PMIx's own variables. JSM_JSRUN_PORT makes it a direct launch:
// with PMIx's variables alone each rank would start as a job of its own.
void AddOpenMpi(const PmixJob& job, uint32_t rank, std::vector<std::string>& environment) {
  const std::vector<uint32_t> local = job.RanksOf(job.node_index);
  const auto place = std::find(local.begin(), local.end(), rank) - local.begin();
  environment.emplace_back("JSM_JSRUN_PORT=1");
  environment.push_back(absl::StrCat("OMPI_COMM_WORLD_RANK=", rank));
  environment.push_back(absl::StrCat("OMPI_COMM_WORLD_SIZE=", job.node_of_rank.size()));
  environment.push_back(absl::StrCat("OMPI_COMM_WORLD_LOCAL_RANK=", place));
  environment.push_back(absl::StrCat("OMPI_COMM_WORLD_LOCAL_SIZE=", local.size()));
  if (!job.segments.empty()) {
    for (const char* component : {"btl_vader", "btl_sm", "osc_sm"}) {
      environment.push_back(
          absl::StrCat("OMPI_MCA_", component, "_backing_directory=", job.segments));
    }
  }
  if (job.host_memory_only) {
    environment.emplace_back("OMPI_MCA_pml=ob1");
    environment.emplace_back("OMPI_MCA_btl=self,vader");
  }
  if (job.cores_shared) {
    environment.emplace_back("OMPI_MCA_mpi_yield_when_idle=1");
  }
}

absl::Status CheckShape(const PmixJob& job) {
  if (job.nspace.empty() || job.nspace.size() > PMIX_MAX_NSLEN ||
      job.nspace.find('/') != std::string::npos || job.nspace.front() == '.') {
    return absl::InvalidArgumentError(absl::StrCat(
        "PMIx namespace '", job.nspace, "': give 1 to 255 characters, no slash, no leading dot"));
  }
  const auto in_range = [&job](uint32_t node) { return node < job.nodes.size(); };
  if (!std::all_of(job.node_of_rank.begin(), job.node_of_rank.end(), in_range)) {
    return absl::InvalidArgumentError(
        absl::StrCat("PMIx namespace ", job.nspace, ": a rank is on a node that is not listed"));
  }
  const size_t local = job.RanksOf(job.node_index).size();
  if (local == 0 || local != job.local_cpusets.size()) {
    return absl::InvalidArgumentError(absl::StrCat("PMIx namespace ", job.nspace, ": ", local,
                                                   " ranks on this node but ",
                                                   job.local_cpusets.size(), " cpusets given"));
  }
  if (local != job.node_of_rank.size()) {
    return absl::UnimplementedError(
        absl::StrCat("PMIx namespace ", job.nspace,
                     ": a step with PMI runs on one node only; ask for --nodes=1"));
  }
  return absl::OkStatus();
}

}  // namespace

PmixServer& PmixServer::Instance() {
  // Never destroyed: libpmix's thread runs to the end of the process.
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see the header
  static auto* const server = new PmixServer;
  return *server;
}

absl::Status PmixServer::Open(const PmixServerOptions& options) {
  if (opened_) {
    return absl::FailedPreconditionError(
        "libpmix serves once per process and was opened before: keep one loader for all steps");
  }
  InfoList info;
  info.AddString(PMIX_SERVER_TMPDIR, options.directory);
  info.AddString(PMIX_SYSTEM_TMPDIR, options.directory);
  info.AddString(PMIX_SERVER_NSPACE, absl::StrCat("muster.supervisor.", getpid()));
  info.AddRank(PMIX_SERVER_RANK, options.node_index);
  info.AddString(PMIX_HOSTNAME, options.hostname);
  info.AddFlag(PMIX_SERVER_TOOL_SUPPORT, false);
  info.AddFlag(PMIX_TCP_DISABLE_IPV6, true);

  const SignalsBlocked blocked;
  // libpmix's shared-memory store keeps mutexes that ranks hold: one killed in MPI_Init would hang
  // the server for good. The store in messages costs no measurable time. libpmix takes this choice
  // from the environment only.
  const ScopedVariable store("PMIX_MCA_gds", "hash");
  pmix_server_module_t module = Upcalls();
  RETURN_IF_ERROR(Check("PMIx_server_init", PMIx_server_init(&module, info.data(), info.size())));
  directory_ = options.directory;
  shared_memory_ = options.shared_memory;
  node_index_ = options.node_index;
  opened_ = true;
  open_ = true;
  return absl::OkStatus();
}

absl::StatusOr<PmixServer::Step> PmixServer::ReadOptions(const PmixStepOptions& options) const {
  Step step;
  step.callbacks = options.callbacks;
  PmixJob& job = step.job;
  job.nspace = options.nspace;
  job.uid = options.uid;
  job.gid = options.gid;
  job.nodes.assign(options.node_names, options.node_names + options.node_count);
  job.node_index = node_index_;
  job.node_of_rank.assign(options.node_of_rank, options.node_of_rank + options.rank_count);
  job.universe_size = options.universe_size;
  job.local_cpusets.assign(options.local_cpusets, options.local_cpusets + options.local_count);
  job.cores_shared = options.cores_shared != 0;
  job.host_memory_only = options.host_memory_only != 0;
  job.directory = absl::StrCat(directory_, "/", job.nspace);
  RETURN_IF_ERROR(CheckShape(job));
  return step;
}

// Open MPI derives the names of its segments from the namespace alone, so two clusters on one
// machine would share them, and killed ranks leave them behind. A directory with a name of its own
// cures both; without one ("") Open MPI still works.
std::string PmixServer::MakeSegmentsDirectory(const PmixJob& job) const {
  if (shared_memory_.empty()) {
    return "";
  }
  std::string path = absl::StrCat(shared_memory_, "/", job.nspace, ".XXXXXX");
  if (mkdtemp(path.data()) == nullptr) {
    return "";
  }
  if (job.uid != geteuid() && lchown(path.c_str(), job.uid, job.gid) != 0) {
    rmdir(path.c_str());
    return "";
  }
  return path;
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
              PMIx_server_register_client(&proc, job.uid, job.gid, nullptr, nullptr, nullptr)));
  }
  return absl::OkStatus();
}

absl::Status PmixServer::StartStep(const PmixStepOptions& options) {
  if (!open_) {
    return absl::FailedPreconditionError("the PMIx server is not open");
  }
  ASSIGN_OR_RETURN(Step step, ReadOptions(options));
  if (steps_.count(step.job.nspace) != 0 || retired_.count(step.job.nspace) != 0) {
    return absl::AlreadyExistsError(absl::StrCat("PMIx namespace ", step.job.nspace,
                                                 " was used; steps need names of their own"));
  }
  step.job.segments = MakeSegmentsDirectory(step.job);
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
  AddOpenMpi(job, rank, environment);
  return environment;
}

void PmixServer::NoteConnected(const pmix_proc_t& proc) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto step = steps_.find(proc.nspace);
  if (step != steps_.end()) {
    step->second.connected.insert(proc.rank);
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
  }
  if (all_exited || step.connected.size() == step.job.local_cpusets.size()) {
    PMIx_server_deregister_nspace(
        nspace.c_str(), [](pmix_status_t, void*) {}, nullptr);
  } else {
    retired_.insert(nspace);
  }
  RemoveTree(step.job.directory);
  if (!step.job.segments.empty()) {
    RemoveTree(step.job.segments);
  }
}

// PMIx_server_finalize is left out: it frees every namespace (see EndStep), and the process ends
// soon.
void PmixServer::Close() {
  while (!steps_.empty()) {
    EndStep(std::string(steps_.begin()->first), false);
  }
  open_ = false;
}

}  // namespace muster
