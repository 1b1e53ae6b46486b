// The helper as a process: how a program starts it, and what it does before it begins.

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "checkpoint/disk/names.h"
#include "checkpoint/store/admission.h"
#include "checkpoint/store/flush.h"

namespace muster::checkpoint {
namespace {

constexpr int kBadUsage = 2;
constexpr int kWords = 8;
// As /proc/PID/comm says; the supervisor knows it by that.
constexpr const char* kProcessName = "muster-flush";

std::uint64_t NumberOf(const char* word, bool* good) {
  char* end = nullptr;
  errno = 0;
  const unsigned long long number = std::strtoull(word, &end, 10);
  *good = *good && *word >= '0' && *word <= '9' && *end == '\0' && errno == 0;
  return number;
}

bool Parse(int argc, char** argv, FlushPlan* plan) {
  bool good = true;
  plan->local = argv[1];
  plan->shared = argv[2];
  plan->rank = static_cast<std::uint32_t>(NumberOf(argv[3], &good));
  plan->retention.keep = static_cast<std::uint32_t>(NumberOf(argv[4], &good));
  plan->retention.milestone = NumberOf(argv[5], &good);
  plan->retention.age_s = static_cast<double>(NumberOf(argv[6], &good));
  plan->retention.bytes = NumberOf(argv[7], &good);
  plan->progress = argc > kWords ? argv[kWords] : "";
  if (const char* rate = std::getenv("MUSTER_CHECKPOINT_RATE"); rate != nullptr) {
    plan->rate = NumberOf(rate, &good);
  }
  plan->admission = AdmissionProgram();
  return good && plan->rank < kRanksMax && plan->retention.keep > 0;
}

// Away from the program: its signals, its output that others wait for the end of, its files. The
// parent leaves at once, so that nobody has to wait for us but who adopts us. What the supervisor
// knows us by, and what keeps us through its signals, is there before: the program may die as soon
// as its parent left.
void Detach() {
  prctl(PR_SET_NAME, kProcessName);
  // An attempt that is told to end has its grace: what was begun is finished in it.
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE}) {
    std::signal(number, SIG_IGN);
  }
  const pid_t child = fork();
  if (child != 0) {
    _exit(child < 0 ? 1 : 0);
  }
  setsid();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    dup2(null, fd);
  }
  close_range(STDERR_FILENO + 1, ~0U, 0);
}

}  // namespace

Error StartFlush(const std::string& program, const FlushPlan& plan) {
  std::vector<std::string> words = {
      program,
      plan.local,
      plan.shared,
      std::to_string(plan.rank),
      std::to_string(plan.retention.keep),
      std::to_string(plan.retention.milestone),
      std::to_string(static_cast<std::uint64_t>(std::ceil(plan.retention.age_s))),
      std::to_string(plan.retention.bytes)};
  if (!plan.progress.empty()) {
    words.push_back(plan.progress);
  }
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  if (const int failed = posix_spawnattr_init(&attributes); failed != 0) {
    return SystemError(program, failed);
  }
  // Nothing of the program's signals: SIGCHLD may be ignored or blocked here.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, program.c_str(), nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    return SystemError("cannot start " + program, failed);
  }
  // The first process only makes the second and leaves. A program that reaps all its children
  // itself may have been quicker.
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      return {};
    }
  }
  return status == 0 ? Error() : MakeError(Fault::kSystem, program + ": could not begin");
}

int FlushMain(int argc, char** argv) {
  FlushPlan plan;
  if (argc < kWords || argc > kWords + 1 || !Parse(argc, argv, &plan)) {
    std::fputs(
        "usage: muster-checkpoint-flush LOCAL SHARED RANK KEEP MILESTONE AGE BYTES [PROGRESS]\n"
        "copies a rank's committed checkpoints to the shared directory; libmuster-checkpoint "
        "starts "
        "it\n",
        stderr);
    return kBadUsage;
  }
  Detach();
  return FlushAll(plan).failed() ? 1 : 0;
}

}  // namespace muster::checkpoint
