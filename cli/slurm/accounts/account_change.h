#pragma once

// `sacctmgr add`, `modify`, `delete` and `dump`.
//
// Thread promise: the main thread's. Invariants: nothing is changed before it was agreed to; each
// returns the exit code.

#include <string>
#include <vector>

#include "cli/slurm/accounts/account_words.h"
#include "cli/slurm/frame/command.h"

namespace muster::cli::slurm {

struct ManagerManner {
  bool immediate = false;  // -i: without asking
  bool quiet = false;      // -Q: without a word
  bool readonly = false;   // -r: not at all
};

// Whether a line of standard input, within half a minute, says yes.
bool Agrees(const Call& call);

int ChangeAccounts(const Call& call, ManagerVerb verb, const std::vector<std::string>& words,
                   const ManagerManner& manner);

// "CLUSTER [file=FILE]"; CLUSTER.cfg in this folder without a file.
int DumpAccounts(const Call& call, const std::vector<std::string>& words);

}  // namespace muster::cli::slurm
