#include "cli/slurm/commands.h"

#include <algorithm>
#include <iterator>

#include "cli/page/text.h"
#include "cli/slurm/accounts/cmd_sacctmgr.h"
#include "cli/slurm/accounts/cmd_sshare.h"
#include "cli/slurm/control/cmd_scontrol.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/history/cmd_sacct.h"
#include "cli/slurm/live/cmd_sdiag.h"
#include "cli/slurm/live/cmd_sprio.h"
#include "cli/slurm/live/cmd_sstat.h"
#include "cli/slurm/nodes/cmd_sinfo.h"
#include "cli/slurm/queue/cmd_squeue.h"
#include "cli/slurm/report/cmd_sreport.h"
#include "cli/slurm/streams/sattach.h"
#include "cli/slurm/streams/sbcast.h"
#include "cli/slurm/submit/salloc.h"
#include "cli/slurm/submit/sbatch.h"
#include "cli/slurm/submit/scancel.h"
#include "cli/slurm/submit/srun.h"

namespace muster::cli::slurm {
namespace {

constexpr Command kCommands[] = {
    {"sbatch", "Submit a batch script", RunSbatch},
    {"srun", "Run a parallel job or a step", RunSrun},
    {"salloc", "Hold an allocation", RunSalloc},
    {"scancel", "End or signal jobs and steps", RunScancel},
    {"squeue", "Show waiting and running jobs", RunSqueue},
    {"sacct", "Show jobs of the accounting", RunSacct},
    {"sinfo", "Show nodes and partitions", RunSinfo},
    {"scontrol", "Show and change what the controller knows", RunScontrol},
    {"sstat", "Show what running steps use", RunSstat},
    {"sacctmgr", "Show and change accounts, users and QOS", RunSacctmgr},
    {"sshare", "Show fair shares", RunSshare},
    {"sprio", "Show priorities of waiting jobs", RunSprio},
    {"sreport", "Show reports of the accounting", RunSreport},
    {"sdiag", "Show how the controller does", RunSdiag},
    {"sattach", "Attach to a running step", RunSattach},
    {"sbcast", "Copy a file to the nodes of a job", RunSbcast},
};

std::string BaseName(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

const Command* FindCommand(const std::string& name) {
  const auto* found =
      std::find_if(std::begin(kCommands), std::end(kCommands),
                   [&name](const Command& command) { return name == command.name; });
  return found == std::end(kCommands) ? nullptr : found;
}

void WriteUsage(std::ostream& out) {
  out << "Usage: muster-slurm COMMAND [OPTIONS...]\n";
  for (const Command& command : kCommands) {
    out << "  " << command.name << std::string(10 - std::string(command.name).size(), ' ')
        << command.purpose << "\n";
  }
}

}  // namespace

std::span<const Command> AllCommands() {
  return kCommands;
}

int RunSlurmCommand(const Environment& environment, const std::vector<std::string>& words,
                    std::ostream& out, std::ostream& err) {
  std::size_t at = 0;
  std::string name = words.empty() ? "" : BaseName(words[0]);
  const Command* command = FindCommand(name);
  if (command == nullptr) {
    at = 1;
    name = words.size() > 1 ? words[1] : "";
    command = FindCommand(name);
  }
  if (name == "--help" || name == "-h") {
    WriteUsage(out);
    return 0;
  }
  if (name == "--version" || name == "-V") {
    out << "slurm " << kSlurmVersion << "\n";
    return 0;
  }
  if (name == "cast") {
    return ReceiveBroadcast({environment,
                             name,
                             {words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end()},
                             out,
                             err});
  }
  if (command == nullptr) {
    err << "muster-slurm: error: "
        << (name.empty() ? "missing COMMAND" : Printable(name) + " is no command")
        << ": see muster-slurm --help\n";
    return 1;
  }
  const Call call{environment,
                  name,
                  {words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end()},
                  out,
                  err};
  return command->run == nullptr ? Fail(call, "not in this version of Muster") : command->run(call);
}

}  // namespace muster::cli::slurm
