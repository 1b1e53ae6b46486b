#include "agent/kernels/place/openmp_environment.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#include <initializer_list>

// Refuses a bad OMP_NUM_THREADS from the executable's .preinit_array, which the dynamic linker runs
// before the initialisers of the libraries: OpenMP's runtime would otherwise print its own warning
// first. Raw system calls and no sanitizer: nothing else is ready to be called this early.

namespace muster::kernels {
namespace {

constexpr char kRefusal[] =
    "OMP_NUM_THREADS: not a team size from 1 to 4096; set it to the number of threads or unset "
    "it\n";
static_assert(kMaxThreads == 4096, "the refusal names the limit");

// The value of `entry` ("NAME=value") when its name is `name`, else null.
[[gnu::always_inline]] inline const char* ValueOf(const char* entry, const char* name) {
  while (*name != '\0') {
    if (*entry != *name) {
      return nullptr;
    }
    ++entry;
    ++name;
  }
  return *entry == '=' ? entry + 1 : nullptr;
}

// Whether this entry says that another rank than the first of an MPI job is starting: only the
// first speaks.
[[gnu::always_inline]] inline bool IsLaterRank(const char* entry) {
  for (const char* name : {"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    const char* rank = ValueOf(entry, name);
    if (rank != nullptr) {
      return rank[0] != '0' || rank[1] != '\0';
    }
  }
  return false;
}

void RefuseBadThreads(int /*argc*/, char** /*argv*/, char** environment) {
  bool bad = false;
  bool silent = false;
  for (char** entry = environment; *entry != nullptr; ++entry) {
    const char* threads = ValueOf(*entry, "OMP_NUM_THREADS");
    bad = bad || (threads != nullptr && !IsThreadList(threads));
    silent = silent || IsLaterRank(*entry);
  }
  if (!bad) {
    return;
  }
  if (silent) {
    // A launcher may end the job at the first rank that fails: leave the first rank the time to
    // speak.
    constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 500000000};
    syscall(SYS_nanosleep, &kPause, nullptr);
  } else {
    syscall(SYS_write, STDERR_FILENO, kRefusal, sizeof(kRefusal) - 1);
  }
  syscall(SYS_exit_group, 2);
}

using Initialiser = void(int, char**, char**);

// The check takes a table of functions for mutable data.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
[[gnu::section(".preinit_array"), gnu::used]] Initialiser* const kRefuseBadThreads =
    RefuseBadThreads;

}  // namespace
}  // namespace muster::kernels
