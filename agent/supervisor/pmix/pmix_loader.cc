#include "agent/supervisor/pmix/pmix_loader.h"

#include <dlfcn.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/supervisor/pmix/open_mpi_variables.h"
#include "agent/supervisor/pmix/pmix_api.h"
#include "agent/supervisor/pmix/pmix_shape.h"
#include "agent/supervisor/user_space/child_setup.h"
#include "agent/supervisor/user_space/remove_tree.h"
#include "scheduler/base/status.h"

namespace muster::agent {

// The open server. The module stays loaded to the end of the process: libpmix leaves thread-local
// state and exit handlers behind that an unload would pull away.
struct PmixStep::Server {
  explicit Server(const PmixApi* functions) : api(functions) {}
  ~Server() { api->close_server(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const PmixApi* api;
};

namespace {

absl::StatusOr<const PmixApi*> OpenModule(const std::string& path) {
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr) {
    const char* reason = dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it by thread
    return absl::FailedPreconditionError(absl::StrCat("cannot load ", path, ": ", reason));
  }
  const auto entry = reinterpret_cast<PmixEntryPoint>(dlsym(module, kPmixEntryPoint));
  const PmixApi* api = entry != nullptr ? entry(kPmixApiVersion) : nullptr;
  if (api == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " is of another muster version: reinstall muster-agent's pmix module"));
  }
  return api;
}

absl::Status Failure(const PmixErrorText& error) {
  return absl::InternalError(std::string(error.text));
}

// What ranks may have filled is emptied by a child, and not waited for. What it leaves goes with
// the attempt's directory.
void RemoveBeside(const char* const* directories, uint32_t count) {
  constexpr Duration kLimit{30000};
  const pid_t parent = getpid();
  if (fork() != 0) {
    return;
  }
  ResetSignals();
  DieWithParent(parent);
  close_range(0, ~0U, 0);
  for (uint32_t i = 0; i < count; ++i) {
    RemoveTree(directories[i], kLimit).IgnoreError();
  }
  _exit(0);
}

const PmixHandlers& HandlersOf(void* context) {
  return *static_cast<PmixHandlers*>(context);
}

void OnConnected(void* context, uint32_t rank) {
  if (HandlersOf(context).on_connected) {
    HandlersOf(context).on_connected(rank);
  }
}

void OnFinalized(void* context, uint32_t rank) {
  if (HandlersOf(context).on_finalized) {
    HandlersOf(context).on_finalized(rank);
  }
}

void OnAbort(void* context, uint32_t rank, int32_t status, const char* message) {
  if (HandlersOf(context).on_abort) {
    HandlersOf(context).on_abort(rank, status, message);
  }
}

void OnFence(void* context, uint64_t id, const uint32_t* ranks, uint32_t rank_count,
             const char* data, size_t size) {
  if (HandlersOf(context).on_fence) {
    HandlersOf(context).on_fence(id, {ranks, ranks + rank_count},
                                 size == 0 ? std::string() : std::string(data, size));
  }
}

void OnModex(void* context, uint64_t id, uint32_t rank) {
  if (HandlersOf(context).on_modex) {
    HandlersOf(context).on_modex(id, rank);
  }
}

void OnPublished(void* context, uint64_t id, uint32_t found, const char* data, size_t size) {
  if (HandlersOf(context).on_published) {
    HandlersOf(context).on_published(id, found != 0,
                                     size == 0 ? std::string() : std::string(data, size));
  }
}

void AppendAssignment(void* context, const char* assignment) {
  static_cast<std::vector<std::string>*>(context)->emplace_back(assignment);
}

std::vector<const char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) {
    pointers.push_back(text.c_str());
  }
  return pointers;
}

}  // namespace

absl::StatusOr<std::string> FindPmixModule(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    std::string path = absl::StrCat(directory, "/", kPmixModuleName);
    if (access(path.c_str(), F_OK) == 0) {
      return path;
    }
  }
  return absl::NotFoundError(
      absl::StrCat(kPmixModuleName, " not found in ", absl::StrJoin(directories, ", "),
                   ": install muster-agent's pmix module or use --mpi=none"));
}

PmixStep::PmixStep(std::shared_ptr<Server> server, PmixStepConfig config, PmixHandlers handlers)
    : server_(std::move(server)), config_(std::move(config)), handlers_(std::move(handlers)) {}

PmixStep::~PmixStep() {
  if (started_) {
    server_->api->end_step(config_.nspace.c_str(), all_exited_ ? 1 : 0);
  }
}

absl::StatusOr<std::vector<std::string>> PmixStep::RankEnv(uint32_t rank) const {
  ASSIGN_OR_RETURN(std::vector<std::string> environment, OwnVariables(rank));
  const std::vector<std::string> more = OpenMpiVariables(config_, rank);
  environment.insert(environment.end(), more.begin(), more.end());
  return environment;
}

absl::StatusOr<std::vector<std::string>> PmixStep::OwnVariables(uint32_t rank) const {
  std::vector<std::string> variables;
  PmixErrorText error = {};
  if (server_->api->rank_env(config_.nspace.c_str(), rank, AppendAssignment, &variables, &error) !=
      0) {
    return Failure(error);
  }
  return variables;
}

void PmixStep::FinishFence(uint64_t id, const std::string& data) const {
  server_->api->finish_fence(id, 1, data.data(), data.size());
}

void PmixStep::FinishModex(uint64_t id, const std::optional<std::string>& data) const {
  const std::string bytes = data.value_or("");
  server_->api->finish_modex(id, data.has_value() ? 1 : 0, bytes.data(), bytes.size());
}

void PmixStep::AskPublished(uint32_t rank, uint64_t id) const {
  server_->api->ask_modex(config_.nspace.c_str(), rank, id);
}

absl::StatusOr<std::unique_ptr<PmixLoader>> PmixLoader::Load(
    const std::vector<std::string>& directories, const PmixServerConfig& config) {
  ASSIGN_OR_RETURN(const std::string path, FindPmixModule(directories));
  ASSIGN_OR_RETURN(const PmixApi* api, OpenModule(path));
  const PmixServerOptions options = {config.directory.c_str(), config.hostname.c_str(),
                                     config.nspace.c_str(), RemoveBeside};
  PmixErrorText error = {};
  if (api->open_server(&options, &error) != 0) {
    return Failure(error);
  }
  return std::unique_ptr<PmixLoader>(
      new PmixLoader(std::make_shared<PmixStep::Server>(api), config.shared_memory));
}

absl::StatusOr<std::unique_ptr<PmixStep>> PmixLoader::StartStep(const PmixStepConfig& wanted,
                                                                PmixHandlers handlers) const {
  RETURN_IF_ERROR(CheckPmixShape(wanted));
  std::unique_ptr<PmixStep> step(new PmixStep(server_, wanted, std::move(handlers)));
  PmixStepConfig& config = step->config_;
  const bool made = config.segments.empty();
  if (made) {
    config.segments = MakePmixSegments(shared_memory_, config.nspace);
  }
  const std::vector<const char*> nodes = Pointers(config.nodes);
  const std::vector<const char*> cpusets = Pointers(config.local_cpusets);
  PmixStepOptions options = {};
  options.nspace = config.nspace.c_str();
  options.node_names = nodes.data();
  options.node_count = static_cast<uint32_t>(nodes.size());
  options.node_index = config.node_index;
  options.node_of_rank = config.node_of_rank.data();
  options.rank_count = static_cast<uint32_t>(config.node_of_rank.size());
  options.universe_size = config.universe_size;
  options.local_cpusets = cpusets.data();
  options.local_count = static_cast<uint32_t>(cpusets.size());
  options.segments = config.segments.c_str();
  options.callbacks = {&step->handlers_, OnConnected, OnFinalized, OnAbort,
                       OnFence,          OnModex,     OnPublished};
  PmixErrorText error = {};
  if (server_->api->start_step(&options, &error) != 0) {
    if (made) {
      rmdir(config.segments.c_str());  // gone already where libpmix had a part of the step
    }
    return Failure(error);
  }
  step->started_ = true;
  return step;
}

}  // namespace muster::agent
