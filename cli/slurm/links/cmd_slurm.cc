#include <unistd.h>

#include <array>
#include <filesystem>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "cli/frame/subcommand.h"
#include "cli/frame/verbs.h"
#include "cli/slurm/links/command_links.h"
#include "scheduler/base/status.h"

namespace muster::cli::slurm {
namespace {

struct SlurmCommand {
  const char* name;
};

constexpr std::array kCommands = {SlurmCommand{"install"}};

// The program that lies beside this one.
absl::StatusOr<std::string> FrontEnd() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = (self.parent_path() / "muster-slurm").string();
  if (error || access(path.c_str(), X_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat(path, ": not there: install muster-slurm beside muster"));
  }
  return path;
}

absl::StatusOr<int> Slurm(const Invocation& invocation) {
  RETURN_IF_ERROR(FindSubcommand(kCommands, "slurm", invocation.arguments[0]).status());
  const std::string directory =
      std::filesystem::absolute(invocation.arguments[1]).lexically_normal().string();
  ASSIGN_OR_RETURN(const std::string program, FrontEnd());
  RETURN_IF_ERROR(slurm::LinkCommands(program, directory));
  std::cout << "export PATH=" << directory << ":$PATH" << std::endl;
  return 0;
}

}  // namespace

Verb SlurmVerb() {
  Verb verb;
  verb.name = "slurm";
  verb.purpose = "Make Slurm's command names: sbatch, srun, squeue and the others";
  verb.synopsis = "install DIR";
  verb.examples = {"muster slurm install ~/slurm-names"};
  verb.remarks =
      "install links DIR/sbatch and the others to muster-slurm, and prints the line that puts DIR\n"
      "in front of PATH. Scripts and tools that were written for Slurm then run as they are.";
  verb.arguments_min = 2;
  verb.arguments_max = 2;
  verb.run = Slurm;
  return verb;
}

}  // namespace muster::cli::slurm
