#include "cli/slurm/control/cmd_scontrol.h"

#include "absl/strings/str_cat.h"
#include "cli/slurm/control/scontrol_change.h"
#include "cli/slurm/control/scontrol_show.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/runtime/clock.h"

namespace muster::slurm {
namespace {

constexpr Row kRows[] = {
    {"all", 'a'},
    {"cluster", 'M', Takes::kValue},
    {"clusters", 'M', Takes::kValue},
    {"details", 'd'},
    {"federation"},
    {"future", 'F'},
    {"hide"},
    {"local"},
    {"oneliner", 'o'},
    {"quiet", 'Q'},
    {"sibling"},
    {"uid", 'u', Takes::kValue},
    {"verbose", 'v'},
};

int ShowVersion(const ControlCall& call) {
  call.call.out << "slurm " << kSlurmVersion << "\n" << std::flush;
  return 0;
}

constexpr ControlCommand kCommands[] = {
    {"create", 2, 1, CreateEntity},
    {"delete", 3, 1, DeleteEntity},
    {"hold", 2, 1, HoldJobs},
    {"ping", 2, 0, PingController},
    {"release", 3, 1, ReleaseJobs},
    {"requeue", 4, 1, RequeueJobs},
    {"requeuehold", 8, 1, RequeueHoldJobs},
    {"resume", 3, 1, ResumeJobs},
    {"show", 2, 0, ShowEntity},
    {"suspend", 2, 1, SuspendJobs},
    {"uhold", 2, 1, HoldJobs},
    {"update", 1, 0, UpdateEntity},
    {"version", 4, 0, ShowVersion},
    {"wait_job", 2, 1, WaitForJob},
};

}  // namespace

int RunScontrol(const Call& call) {
  int code = 0;
  const std::optional<Words> words = ReadCommand(call, kRows, Operands::kAnywhere, &code);
  if (!words.has_value()) {
    return code;
  }
  if (words->operands.empty()) {
    return Fail(call, "no command given: see scontrol --help");
  }
  const std::string& name = words->operands.front();
  const ControlCommand* command = FindControlCommand(kCommands, name);
  if (command == nullptr) {
    return FailPlainly(call, absl::StrCat("invalid keyword: ", name));
  }
  ControlCall control{.call = call,
                      .words = {words->operands.begin() + 1, words->operands.end()},
                      .scene = {.clock = Clockface(call.environment),
                                .now = SystemClock().Now(),
                                .one_line = words->Has("oneliner"),
                                .details = words->Has("details")},
                      .quiet = words->Has("quiet")};
  if (control.words.size() < command->words) {
    return FailPlainly(call, absl::StrCat("too few arguments for keyword:", command->name));
  }
  if (command->run == UpdateEntity && control.words.empty()) {
    return FailPlainly(call, "too few arguments for update keyword");
  }
  return command->run(control);
}

}  // namespace muster::slurm
