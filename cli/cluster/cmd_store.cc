#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/frame/verbs.h"
#include "cli/up/daemon_child.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

// The databases are the controller's floor: its own program copies, and this process becomes it.
absl::StatusOr<int> CopyStore(const Invocation& invocation) {
  if (invocation.arguments.front() != "copy") {
    return absl::InvalidArgumentError(
        absl::StrCat(invocation.arguments.front(), ": expected copy; see muster store --help"));
  }
  std::string from = invocation.Value("from");
  std::string to = invocation.Value("to");
  if (from.empty() || to.empty()) {
    return absl::InvalidArgumentError("copy needs --from and --to: sqlite:DIR or postgresql://…");
  }
  std::string cluster = invocation.Has("cluster") ? invocation.Value("cluster") : "muster";
  ASSIGN_OR_RETURN(std::string program, SiblingProgram("muster-store"));
  std::string action = "copy";
  std::vector<char*> arguments = {program.data(), action.data(),  from.data(),
                                  to.data(),      cluster.data(), nullptr};
  std::cout.flush();
  execv(program.c_str(), arguments.data());
  return absl::ErrnoToStatus(errno, absl::StrCat(program, ": cannot be run"));
}

}  // namespace

Verb StoreVerb() {
  Verb verb;
  verb.name = "store";
  verb.purpose = "Move a cluster's jobs and accounting from one store to another";
  verb.synopsis = "copy";
  verb.forms = {"copy --from STORE --to STORE [--cluster NAME]"};
  verb.examples = {
      "muster store copy --from sqlite:/var/lib/muster --to 'postgresql://db/muster?service=muster'",
      "muster store copy --from 'postgresql://db/muster?service=muster' --to sqlite:/var/lib/muster"};
  verb.remarks =
      "A store is sqlite:DIR, a controller's state directory, or postgresql://HOST/DATABASE, without\n"
      "a password. Stop all controllers first. Every row is read back and compared.";
  verb.options = {{"from", 0, "STORE", "where the rows are"},
                  {"to", 0, "STORE", "an empty store"},
                  {"cluster", 0, "NAME", "the cluster's name in PostgreSQL (default: muster)"}};
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = CopyStore;
  return verb;
}

}  // namespace muster::cli
