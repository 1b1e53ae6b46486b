#include "agent/kernels/place/placement.h"

#include <omp.h>
#include <sched.h>

namespace muster::kernels {
std::set<int> OwnCpus() {
  constexpr int kMaxCpus = 8192;
  std::set<int> cpus;
  cpu_set_t* mask = CPU_ALLOC(kMaxCpus);
  if (mask == nullptr) {
    return cpus;
  }
  const size_t bytes = CPU_ALLOC_SIZE(kMaxCpus);
  CPU_ZERO_S(bytes, mask);
  if (sched_getaffinity(0, bytes, mask) == 0) {
    for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, mask)) {
        cpus.insert(cpu);
      }
    }
  }
  CPU_FREE(mask);
  return cpus;
}

Place CurrentPlace() {
  unsigned cpu = 0;
  unsigned node = 0;
  if (getcpu(&cpu, &node) != 0) {
    return {};
  }
  return {static_cast<int>(cpu), static_cast<int>(node)};
}

std::set<int> AllowedCpus() {
  std::set<int> all;
#pragma omp parallel default(none) shared(all)
  {
    std::set<int> own = OwnCpus();
#pragma omp critical(muster_allowed_cpus)
    all.merge(own);
  }
  return all;
}

std::string CpuListText(const std::set<int>& cpus) {
  std::string text;
  for (auto it = cpus.begin(); it != cpus.end();) {
    const int first = *it;
    int last = first;
    while (++it != cpus.end() && *it == last + 1) {
      ++last;
    }
    text += text.empty() ? "" : ",";
    text += std::to_string(first);
    if (last > first) {
      text += '-';
      text += std::to_string(last);
    }
  }
  return text;
}

}  // namespace muster::kernels
