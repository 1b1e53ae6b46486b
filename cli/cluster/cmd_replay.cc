#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/up/daemon_child.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

// The database is the controller's floor: its own program reads it, and this process becomes it.
absl::StatusOr<int> Replay(const Invocation& invocation) {
  ASSIGN_OR_RETURN(std::string program, SiblingProgram("muster-replay"));
  std::string path = invocation.arguments.front();
  const bool database = path.rfind("postgresql://", 0) == 0 || path.rfind("postgres://", 0) == 0;
  if (!database && access(path.c_str(), F_OK) != 0) {
    return absl::NotFoundError(
        absl::StrCat(path, ": ", std::generic_category().message(errno),
                     "; name a state directory, or a bundle of its alerts directory"));
  }
  std::string json = "--json";
  std::string archive_option = "--archive";
  std::string archive = invocation.Value("archive");
  std::vector<char*> arguments = {program.data(), path.data()};
  if (!archive.empty()) {
    arguments.insert(arguments.end(), {archive_option.data(), archive.data()});
  }
  if (invocation.Has("json")) {
    arguments.push_back(json.data());
  }
  arguments.push_back(nullptr);
  std::cout.flush();
  execv(program.c_str(), arguments.data());
  return absl::ErrnoToStatus(errno, absl::StrCat(program, ": cannot be run"));
}

}  // namespace

Verb ReplayVerb() {
  Verb verb;
  verb.name = "replay";
  verb.purpose = "Make a controller's decisions again, and show where they differ";
  verb.synopsis = "STATE_DIR|STORE|SEGMENT|BUNDLE";
  verb.forms = {"[--verify] [--json] [--archive DIR] STATE_DIR|STORE|SEGMENT|BUNDLE"};
  verb.examples = {
      "muster replay ~/.local/state/muster --verify",
      "muster replay /var/lib/muster/controller/archive/journal-1-48213.db.zst",
      "muster replay ~/.local/state/muster/controller/alerts/cycle-000000000812.bundle"};
  verb.options = {
      {"verify", 0, "", "compare every plan's hash, and the state (which it does anyway)"},
      {"archive", 0, "DIR",
       "where the journal's archive is, if not in the state directory ([retention] archive)"},
      JsonOption()};
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Replay;
  return verb;
}

}  // namespace muster::cli
