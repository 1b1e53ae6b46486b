#pragma once

// The limits of a process that getrlimit knows, by their names.
//
// Invariant: names are those of <sys/resource.h> without RLIMIT_, which are Slurm's for
// --propagate.

#include <sys/resource.h>

#include <array>

namespace muster {

struct ResourceLimit {
  const char* name;
  int number;  // RLIMIT_…
};

// Those that --propagate knows.
inline constexpr std::array<ResourceLimit, 10> kResourceLimits = {{{"AS", RLIMIT_AS},
                                                                   {"CORE", RLIMIT_CORE},
                                                                   {"CPU", RLIMIT_CPU},
                                                                   {"DATA", RLIMIT_DATA},
                                                                   {"FSIZE", RLIMIT_FSIZE},
                                                                   {"MEMLOCK", RLIMIT_MEMLOCK},
                                                                   {"NOFILE", RLIMIT_NOFILE},
                                                                   {"NPROC", RLIMIT_NPROC},
                                                                   {"RSS", RLIMIT_RSS},
                                                                   {"STACK", RLIMIT_STACK}}};

}  // namespace muster
