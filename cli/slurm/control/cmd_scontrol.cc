#include "cli/slurm/control/cmd_scontrol.h"

#include "absl/strings/str_cat.h"
#include "cli/slurm/control/scontrol_change.h"
#include "cli/slurm/control/scontrol_local.h"
#include "cli/slurm/control/scontrol_show.h"
#include "cli/slurm/control/scontrol_write.h"
#include "cli/slurm/document/envelope.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/words.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli::slurm {
namespace {

constexpr Row kRows[] = {
    {"all", 'a'},
    {"cluster", 'M', Takes::kValue},
    {"clusters", 'M', Takes::kValue},
    {"details", 'd'},
    {"federation"},
    {"future", 'F'},
    {"hide"},
    {"json", 0, Takes::kOptional},
    {"local"},
    {"oneliner", 'o'},
    {"quiet", 'Q'},
    {"sibling"},
    {"uid", 'u', Takes::kValue},
    {"verbose", 'v'},
    {"yaml", 0, Takes::kOptional},
};

int ShowVersion(const ControlCall& call) {
  call.call.out << "slurm " << kSlurmVersion << "\n" << std::flush;
  return 0;
}

constexpr ControlCommand kCommands[] = {
    {"cancel_reboot", 2, 1, CancelReboot},
    {"completing", 3, 0, ShowCompleting},
    {"create", 2, 1, CreateEntity},
    {"delete", 3, 1, DeleteEntity},
    {"hold", 2, 1, HoldJobs},
    {"holdu", 5, 1, HoldJobs},
    {"listpids", 1, 0, ListPids},
    {"notify", 1, 2, RefuseNotify},
    {"pidinfo", 3, 1, TellJobOfPid},
    {"ping", 2, 0, PingController},
    {"reboot", 3, 1, RebootNodes},
    {"reconfigure", 3, 0, RefuseReconfigure},
    {"release", 3, 1, ReleaseJobs},
    {"requeue", 4, 1, RequeueJobs},
    {"requeuehold", 8, 1, RequeueHoldJobs},
    {"resume", 3, 1, ResumeJobs},
    {"show", 2, 0, ShowEntity},
    {"shutdown", 4, 0, RefuseShutdown},
    {"suspend", 2, 1, SuspendJobs},
    {"takeover", 2, 0, RefuseShutdown},
    {"top", 2, 1, TopJobs},
    {"uhold", 2, 1, HoldJobs},
    {"update", 1, 0, UpdateEntity},
    {"version", 4, 0, ShowVersion},
    {"wait_job", 2, 1, WaitForJob},
    {"write", 2, 1, WriteEntity},
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
  const absl::StatusOr<bool> document = WantsDocument(*words);
  if (!document.ok()) {
    return Fail(call, std::string(document.status().message()));
  }
  ControlCall control{.call = call,
                      .words = {words->operands.begin() + 1, words->operands.end()},
                      .scene = {.clock = Clockface(call.environment),
                                .now = SystemClock().Now(),
                                .one_line = words->Has("oneliner"),
                                .details = words->Has("details")},
                      .quiet = words->Has("quiet"),
                      .document = *document};
  if (control.words.size() < command->words) {
    return FailPlainly(call, absl::StrCat("too few arguments for keyword:", command->name));
  }
  if (command->run == UpdateEntity && control.words.empty()) {
    return FailPlainly(call, "too few arguments for update keyword");
  }
  return command->run(control);
}

}  // namespace muster::cli::slurm
