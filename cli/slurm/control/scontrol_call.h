#pragma once

// What all of scontrol's commands are called with.
//
// Thread promise: the main thread's.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/slurm/control/records.h"
#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

struct ControlCall {
  const Call& call;
  std::vector<std::string> words;  // what follows the command's name
  RecordScene scene;
  bool quiet = false;
  bool document = false;  // --json
};

// A command of scontrol, or what its `show` shows.
struct ControlCommand {
  const char* name;
  std::size_t least;  // letters of it that are enough
  std::size_t words;  // words that must follow
  int (*run)(const ControlCall&);
};

// The first command that `word`, in any case, is a beginning of; null when there is none.
const ControlCommand* FindControlCommand(std::span<const ControlCommand> commands,
                                         std::string_view word);

}  // namespace muster::cli::slurm
