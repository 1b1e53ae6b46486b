#include "agent/supervisor/pmix_steps.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "agent/supervisor/pmix_loader.h"
#include "agent/supervisor/step.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

// Which ranks have joined and not said goodbye; written by libpmix's thread.
class Membership {
 public:
  void Join(std::uint32_t rank) {
    const absl::MutexLock lock(&mutex_);
    joined_.insert(rank);
  }
  void Leave(std::uint32_t rank) {
    const absl::MutexLock lock(&mutex_);
    joined_.erase(rank);
  }
  bool Has(std::uint32_t rank) const {
    const absl::MutexLock lock(&mutex_);
    return joined_.count(rank) != 0;
  }

 private:
  mutable absl::Mutex mutex_;
  std::set<std::uint32_t> joined_ ABSL_GUARDED_BY(mutex_);
};

class LoadedStep final : public StepPmix {
 public:
  absl::StatusOr<std::vector<std::string>> RankEnv(std::uint32_t rank) const override {
    return step_->RankEnv(rank);
  }
  bool Joined(std::uint32_t rank) const override { return membership_.Has(rank); }

  Membership* membership() { return &membership_; }
  void Take(std::unique_ptr<PmixStep> step) { step_ = std::move(step); }

 private:
  Membership membership_;
  std::unique_ptr<PmixStep> step_;  // last: its end comes first, and with it the handlers' end
};

std::string HostName() {
  std::array<char, 256> name = {};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

bool CoresShared(const NodeAllocation& node) {
  CpuSet seen;
  for (const RankPlacement& rank : node.ranks) {
    if (seen.Meets(rank.cpus)) {
      return true;
    }
    seen |= rank.cpus;
  }
  return false;
}

}  // namespace

PmixSteps::PmixSteps(EventLoop& loop, const Logger& log, const AttemptDirectory& directory,
                     const SupervisorOrder& order)
    : loop_(loop), log_(log), directory_(directory), order_(order), hostname_(HostName()) {}

PmixSteps::~PmixSteps() = default;

PmixGrant PmixSteps::Grant(const StepPlan& plan, AbortHandler on_abort) {
  PmixGrant grant;
  const MpiFlavour wanted = plan.program.mpi;
  const std::size_t nodes = plan.placement.nodes.size();
  const bool several = nodes > 1 || plan.placement.nodes.front().ranks.size() > 1;
  if (!plan.script.empty() || wanted == MpiFlavour::kNone ||
      (wanted == MpiFlavour::kAuto && !several)) {
    return grant;
  }
  absl::Status status;
  if (nodes > 1) {
    status = absl::UnimplementedError(
        absl::StrCat("PMIx serves the ranks of one node, and this step has ", nodes,
                     " nodes: use one node, or --mpi=none for ranks that are not MPI's"));
  } else {
    absl::StatusOr<std::unique_ptr<StepPmix>> made = Make(plan, std::move(on_abort));
    status = made.status();
    if (made.ok()) {
      grant.pmix = *std::move(made);
    }
  }
  if (!status.ok() && wanted == MpiFlavour::kPmix) {
    grant.refusal = status;
  } else if (!status.ok()) {
    grant.note = absl::StrCat("without MPI: ", std::string(status.message()));
    log_.Warning("pmix", grant.note);
  }
  return grant;
}

absl::Status PmixSteps::Load() {
  if (loader_ != nullptr) {
    return absl::OkStatus();
  }
  if (mkdir(directory_.Pmix().c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", directory_.Pmix()));
  }
  PmixServerConfig config;
  config.directory = directory_.Pmix();
  config.hostname = hostname_;
  ASSIGN_OR_RETURN(loader_, PmixLoader::Load({order_.module_dir}, config));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<StepPmix>> PmixSteps::Make(const StepPlan& plan,
                                                          AbortHandler on_abort) {
  RETURN_IF_ERROR(Load());
  const NodeAllocation& node = plan.placement.nodes.front();
  PmixStepConfig config;
  config.nspace = absl::StrCat("muster.", directory_.Name(), ".", plan.step.value());
  config.uid = geteuid();
  config.gid = getegid();
  config.nodes = {hostname_};
  config.node_of_rank.assign(node.ranks.size(), 0);
  config.universe_size = static_cast<std::uint32_t>(node.ranks.size());
  config.cores_shared = !order_.machine.enforced || CoresShared(node);
  config.host_memory_only = node.gpus.empty();
  for (const RankPlacement& rank : node.ranks) {
    config.local_cpusets.push_back(order_.machine.enforced ? rank.cpus.ToList() : "");
  }
  auto made = std::make_unique<LoadedStep>();
  Membership* membership = made->membership();
  PmixHandlers handlers;
  handlers.on_connected = [membership](std::uint32_t rank) { membership->Join(rank); };
  handlers.on_finalized = [membership](std::uint32_t rank) { membership->Leave(rank); };
  EventLoop& loop = loop_;
  handlers.on_abort = [&loop, on_abort](std::uint32_t rank, int code, const std::string& text) {
    loop.Post([on_abort, rank, code, text] { on_abort(rank, code, text); });
  };
  ASSIGN_OR_RETURN(std::unique_ptr<PmixStep> step, loader_->StartStep(config, std::move(handlers)));
  made->Take(std::move(step));
  return std::unique_ptr<StepPmix>(std::move(made));
}

}  // namespace muster
