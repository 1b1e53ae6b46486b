// muster-supervisor --dir ATTEMPT_DIRECTORY: owns one job attempt on one node until nothing of it
// is left. With --epilog instead of --dir: runs the site's epilog of one whose supervisor died.
// --mps DIRECTORY, --mps-quit DIRECTORY: MPS's control daemon, as the directory's owner.
// --sweep DIRECTORY: removes what attempts left there; --pmix DIRECTORY: serves PMIx (pmix_host.h).
// --prepared ROOM: makes copies of itself for the agent at its descriptor 3 (prepared.h); the word
// is only room for what the copies show as their arguments.
// Exit status: 0 recorded, 1 cannot work, 2 bad usage, 3 somebody else does it.
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "agent/supervisor/attempt/attempt_directory.h"
#include "agent/supervisor/launch/mps_control.h"
#include "agent/supervisor/pmix/pmix_host.h"
#include "agent/supervisor/prepared.h"
#include "agent/supervisor/supervise.h"
#include "agent/supervisor/user_space/remove_tree.h"

namespace muster::agent {
namespace {

constexpr int kCannotWork = 1;
constexpr int kBadUsage = 2;

}  // namespace
}  // namespace muster::agent

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  if (what == "--pmix") {
    return muster::agent::ServePmix(STDERR_FILENO + 1, argv[2]);
  }
  if (what == muster::agent::kMpsServe || what == muster::agent::kMpsQuit) {
    return muster::agent::RunMpsControl(argv[2], what == muster::agent::kMpsQuit);
  }
  if (what == "--prepared") {
    return muster::agent::MakeCopies(argc, argv);
  }
  if ((what != "--dir" && what != "--epilog" && what != "--sweep") || *argv[2] == '\0') {
    std::fputs("usage: muster-supervisor --dir|--epilog|--sweep DIRECTORY\n", stderr);
    return muster::agent::kBadUsage;
  }
  if (what == "--sweep") {
    muster::agent::Detach();
    muster::agent::JoinOtherSupervisors();
    return muster::agent::SweepForParent(argv[2]) ? 0 : muster::agent::kCannotWork;
  }
  muster::agent::JoinOtherSupervisors();
  return muster::agent::RunAttempt(muster::agent::AttemptDirectory(argv[2]), what == "--epilog");
}
