#include "agent/supervisor/checkpoint/checkpoint_flush.h"

#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/limits/process_tree.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr const char* kProgram = "muster-checkpoint-flush";
constexpr const char* kProcessName = "muster-flush\n";
constexpr const char* kCarryName = "muster-carry\n";  // cli/checkpoint/checkpoint_carry.h

bool OneRunsOf(std::initializer_list<std::string> names) {
  const std::vector<pid_t> below = Descendants(getpid());
  return std::any_of(below.begin(), below.end(), [&names](pid_t pid) {
    const absl::StatusOr<std::string> name = ReadFile(absl::StrCat("/proc/", pid, "/comm"));
    return name.ok() && std::find(names.begin(), names.end(), *name) != names.end();
  });
}

std::string FindBeside(const std::string& supervisor, std::initializer_list<const char*> places,
                       const char* program) {
  const std::string folder = supervisor.substr(0, supervisor.rfind('/'));
  for (const char* place : places) {
    std::string path = absl::StrCat(folder, place, program);
    if (access(path.c_str(), X_OK) == 0) {
      return path;
    }
  }
  return "";
}

}  // namespace

std::string FindFlushProgram(const std::string& supervisor) {
  return FindBeside(supervisor, {"/", "/../libexec/muster/"}, kProgram);
}

std::string FindCommand(const std::string& supervisor) {
  return FindBeside(supervisor, {"/", "/../bin/", "/../../bin/"}, "muster");
}

bool FlushRuns() {
  return OneRunsOf({kProcessName});
}

bool CopyRuns() {
  return OneRunsOf({kProcessName, kCarryName});
}

}  // namespace muster::agent
