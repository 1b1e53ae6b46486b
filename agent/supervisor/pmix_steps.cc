#include "agent/supervisor/pmix_steps.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/attempt/network_class.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "agent/supervisor/mpi/loaded_step.h"
#include "agent/supervisor/mpi/pmi_step.h"
#include "agent/supervisor/mpi/tree_input.h"
#include "agent/supervisor/pmix/pmix_api.h"
#include "agent/supervisor/pmix/pmix_pattern.h"
#include "agent/supervisor/pmix/pmix_process.h"
#include "agent/supervisor/step/step.h"
#include "agent/supervisor/user_space/peer_address.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/mac.h"

namespace muster::agent {
namespace {

constexpr std::size_t kNamespaceCodeBytes = 12;  // 96 bits: nobody guesses them

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

PmixSteps::PmixSteps(EventLoop& loop, ClosingSockets& closing, const Logger& log,
                     const AttemptDirectory& directory, const SupervisorOrder& order)
    : loop_(loop), closing_(closing), log_(log), directory_(directory), order_(order) {}

PmixSteps::~PmixSteps() = default;

PmixGrant PmixSteps::Grant(const StepPlan& plan, PmixNews news) {
  PmixGrant grant;
  const MpiFlavour wanted = plan.program.mpi;
  const bool several =
      plan.placement.nodes.size() > 1 || plan.placement.nodes.front().ranks.size() > 1;
  if (plan.program.stdin_path == kTreeInput && plan.script.empty()) {
    absl::StatusOr<std::unique_ptr<StepPmix>> input = MakeTreeInput(plan, std::move(news));
    grant.refusal = input.status();
    grant.pmix = input.ok() ? *std::move(input) : nullptr;
    return grant;
  }
  if (!plan.script.empty() || wanted == MpiFlavour::kNone ||
      plan.placement.nodes[plan.node_index].ranks.empty() ||
      (wanted == MpiFlavour::kAuto && !several)) {
    return grant;
  }
  absl::StatusOr<std::unique_ptr<StepPmix>> made =
      wanted == MpiFlavour::kPmi1 ? MakePmi(plan, std::move(news)) : Make(plan, std::move(news));
  if (made.ok()) {
    grant.pmix = *std::move(made);
  } else if (wanted != MpiFlavour::kAuto) {
    grant.refusal = made.status();
  } else {
    grant.note = absl::StrCat("without MPI: ", std::string(made.status().message()));
    log_.Warning("pmix", grant.note);
  }
  return grant;
}

void PmixSteps::RunIn(const JobUser* user, const AttemptCgroup* cgroup, int mounts) {
  user_ = user;
  cgroup_ = cgroup;
  mounts_ = mounts;
}

// What a step is called where nobody else sees it: libpmix believes a caller that knows this name
// and says that it is the step's user, so it holds a code that only the attempt's supervisors and
// ranks know. All nodes get the same.
std::string PmixSteps::NamespaceOf(const StepPlan& plan) const {
  const std::string name = NameOf(plan);
  const std::string code = MacOf(order_.launch.secret, {"pmix ", order_.launch.cluster, " ", name});
  return absl::StrCat(name, ".",
                      std::string(absl::BytesToHexString(code.substr(0, kNamespaceCodeBytes))));
}

std::string PmixSteps::NameOf(const StepPlan& plan) const {
  return absl::StrCat("muster.", directory_.Name(), ".", plan.step.value());
}

absl::Status PmixSteps::Load() {
  if (process_ != nullptr && process_->alive()) {
    return absl::OkStatus();
  }
  PmixProcessConfig config;
  config.module_dir = order_.module_dir;
  config.server.directory = directory_.Pmix();
  config.server.hostname = order_.node_name;
  config.user = user_;
  config.mounts = mounts_;
  config.pattern = ReadPattern();
  config.on_pattern = [this](const std::vector<std::string>& pattern) { KeepPattern(pattern); };
  config.on_segments = [this](const std::string& directory) { NoteSegments(directory); };
  config.prepare = [this](PmixProcessConfig* place) { return Prepare(place); };
  ASSIGN_OR_RETURN(process_, PmixProcess::Start(loop_, std::move(config)));
  return absl::OkStatus();
}

absl::Status PmixSteps::Prepare(PmixProcessConfig* config) {
  if (mkdir(directory_.Pmix().c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", directory_.Pmix()));
  }
  if (user_ != nullptr && lchown(directory_.Pmix().c_str(), user_->uid, user_->gid) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot give away ", directory_.Pmix()));
  }
  if (cgroup_ != nullptr && !group_.has_value() && !order_.limits.held.empty()) {
    group_ = cgroup_->MakeStep("pmix", GroupLimits(), order_.limits);
  }
  const AttemptCgroup* const group = group_.has_value() ? &*group_ : cgroup_;
  config->cgroup = group == nullptr ? -1 : group->procs();
  config->cgroup_directory = group == nullptr ? -1 : group->directory_fd();
  return absl::OkStatus();
}

// Each user's own: what one process of his has said, only processes of his believe.
std::string PmixSteps::PatternPath() const {
  return absl::StrCat(order_.pmix_patterns, ".", user_ == nullptr ? geteuid() : user_->uid);
}

// Of what the pattern holds, as far as the system's own files tell.
std::string PmixSteps::Installation() const {
  return PmixInstallation(absl::StrCat(order_.module_dir, "/", kPmixModuleName));
}

std::vector<std::string> PmixSteps::ReadPattern() const {
  const absl::StatusOr<std::string> text =
      order_.pmix_patterns.empty() ? absl::StatusOr<std::string>("") : ReadFile(PatternPath());
  std::vector<std::string> lines;
  if (text.ok()) {
    lines = absl::StrSplit(*text, '\n', absl::SkipEmpty());
  }
  if (lines.empty() || lines.front() != Installation()) {
    return {};
  }
  lines.erase(lines.begin());
  return lines;
}

void PmixSteps::KeepPattern(const std::vector<std::string>& pattern) const {
  if (order_.pmix_patterns.empty()) {
    return;
  }
  if (pattern.empty()) {
    unlink(PatternPath().c_str());
    return;
  }
  // Under a name of its own first: other attempts may learn the same just now.
  const std::string draft = absl::StrCat(PatternPath(), ".", getpid());
  if (ReplaceFile(draft, absl::StrCat(Installation(), "\n", absl::StrJoin(pattern, "\n"))).ok()) {
    rename(draft.c_str(), PatternPath().c_str());
  }
}

void PmixSteps::NoteSegments(const std::string& directory) {
  std::erase_if(segments_,
                [](const std::string& noted) { return access(noted.c_str(), F_OK) != 0; });
  segments_.push_back(directory);
}

void PmixSteps::Close() {
  for (const std::string& directory : segments_) {
    RemovePmixSegments(user_, directory);
  }
  segments_.clear();
}

absl::StatusOr<std::unique_ptr<StepPmix>> PmixSteps::Make(const StepPlan& plan, PmixNews news) {
  RETURN_IF_ERROR(Load());
  const NodeAllocation& node = plan.placement.nodes[plan.node_index];
  LoadedStepConfig config;
  ASSIGN_OR_RETURN(config.shape, ShapeOf(plan.placement, plan.node_index));
  config.secret = order_.launch.secret;
  PmixStepConfig& pmix = config.pmix;
  pmix.nspace = NamespaceOf(plan);
  pmix.nodes = config.shape.nodes;
  pmix.node_index = config.shape.position;
  pmix.node_of_rank = config.shape.node_of_rank;
  pmix.universe_size = static_cast<std::uint32_t>(pmix.node_of_rank.size());
  pmix.cores_shared = !order_.machine.enforced || CoresShared(node);
  pmix.host_memory_only = node.gpus.empty();
  pmix.one_machine = IsOneMachine(order_.controller);
  for (const RankPlacement& rank : node.ranks) {
    pmix.local_cpusets.push_back(order_.machine.enforced ? rank.cpus.ToList() : "");
  }
  ASSIGN_OR_RETURN(
      std::unique_ptr<LoadedStep> made,
      LoadedStep::Start(loop_, closing_, log_, *process_, std::move(config), std::move(news)));
  return std::unique_ptr<StepPmix>(std::move(made));
}

absl::StatusOr<std::unique_ptr<StepPmix>> PmixSteps::MakePmi(const StepPlan& plan, PmixNews news) {
  PmiStepConfig config;
  ASSIGN_OR_RETURN(config.shape, ShapeOf(plan.placement, plan.node_index));
  config.name = NameOf(plan);
  config.secret = order_.launch.secret;
  config.one_machine = IsOneMachine(order_.controller);
  for (const RankPlacement& rank : plan.placement.nodes[plan.node_index].ranks) {
    config.ranks.push_back(rank.rank);
  }
  ASSIGN_OR_RETURN(std::unique_ptr<PmiStep> made,
                   PmiStep::Start(loop_, closing_, log_, std::move(config), std::move(news)));
  return std::unique_ptr<StepPmix>(std::move(made));
}

absl::StatusOr<std::unique_ptr<StepPmix>> PmixSteps::MakeTreeInput(const StepPlan& plan,
                                                                   PmixNews news) {
  TreeInputConfig config;
  ASSIGN_OR_RETURN(config.shape, ShapeOf(plan.placement, plan.node_index));
  config.name = NameOf(plan);
  config.secret = order_.launch.secret;
  config.one_machine = IsOneMachine(order_.controller);
  const NetworkClass staging = ClassNamed(order_.network, kStaging);
  config.traffic = {staging.nics, staging.dscp};
  ASSIGN_OR_RETURN(std::unique_ptr<TreeInput> made,
                   TreeInput::Start(loop_, closing_, log_, std::move(config), std::move(news)));
  return std::unique_ptr<StepPmix>(std::move(made));
}

}  // namespace muster::agent
