#include <elf.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>

// Lets the threads of GNU OpenMP sleep soon at barriers, unless the user said how they wait.
//
// By itself a thread spins for about a millisecond. A product of small matrices takes less, so that
// on cores which others use, too, what spins takes the turn of what works: side 256 by two threads
// among ten other processes then ran at 1 GFLOP/s instead of 290. The runtime reads the variable
// before main, so the program starts itself again with it. Raw system calls from .preinit_array, as
// in openmp_environment.cc.

namespace muster::kernels {
namespace {

constexpr char kShortSpin[] = "GOMP_SPINCOUNT=1000";  // some microseconds
constexpr size_t kEntriesMost = 4096;

[[gnu::always_inline]] inline bool IsNamed(const char* entry, const char* name) {
  while (*name != '\0' && *entry == *name) {
    ++entry;
    ++name;
  }
  return *name == '\0' && *entry == '=';
}

// The file that was started; null when this is not how the kernel started it, but a program that
// loads others.
[[gnu::always_inline]] inline const char* StartedFile(const ElfW(auxv_t) * aux) {
  const char* file = nullptr;
  bool by_kernel = false;
  for (; aux->a_type != AT_NULL; ++aux) {
    if (aux->a_type == AT_EXECFN) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the kernel hands it over
      file = reinterpret_cast<const char*>(aux->a_un.a_val);
    }
    by_kernel = by_kernel || (aux->a_type == AT_BASE && aux->a_un.a_val != 0);
  }
  return by_kernel ? file : nullptr;
}

void StartWithShortSpin(int /*argc*/, char** arguments, char** environment) {
  std::array<const char*, kEntriesMost> entries;
  size_t count = 0;
  for (; environment[count] != nullptr; ++count) {
    const char* entry = environment[count];
    if (IsNamed(entry, "GOMP_SPINCOUNT") || IsNamed(entry, "OMP_WAIT_POLICY") ||
        count + 2 == kEntriesMost) {
      return;
    }
    entries[count] = entry;
  }
  entries[count] = kShortSpin;
  entries[count + 1] = nullptr;
  const char* file = StartedFile(reinterpret_cast<const ElfW(auxv_t)*>(environment + count + 1));
  if (file != nullptr) {
    syscall(SYS_execve, file, arguments, entries.data());  // when it fails, things go as they went
  }
}

using Initialiser = void(int, char**, char**);

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): as in openmp_environment.cc
[[gnu::section(".preinit_array"), gnu::used]] Initialiser* const kStartWithShortSpin =
    StartWithShortSpin;

}  // namespace
}  // namespace muster::kernels
