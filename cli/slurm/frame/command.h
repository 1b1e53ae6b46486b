#pragma once

// One of Slurm's commands, as the front end calls it.
//
// Thread promise: commands run on the main thread. Invariants: `arguments` lack the command's own
// name; what a command returns is the exit code.

#include <iostream>
#include <string>
#include <vector>

#include "cli/frame/environment.h"

namespace muster::cli::slurm {

// The version that every command claims: tools choose options and formats by it.
inline constexpr const char* kSlurmVersion = "24.05.8";

struct Call {
  const Environment& environment;
  std::string name;  // "squeue": begins its errors
  std::vector<std::string> arguments;
  std::ostream& out = std::cout;
  std::ostream& err = std::cerr;
};

struct Command {
  const char* name;
  const char* purpose;
  int (*run)(const Call&);
};

}  // namespace muster::cli::slurm
