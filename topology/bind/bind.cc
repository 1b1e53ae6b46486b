#include "topology/bind/bind.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace muster::topology {
namespace {

constexpr std::uint32_t kWordBits = 64;

template <class Set, std::size_t kWords>
void Fill(const Set& set, std::array<std::uint64_t, kWords>* words) {
  for (const std::uint32_t member : set.Members()) {
    if (member < kWords * kWordBits) {
      words->at(member / kWordBits) |= std::uint64_t{1} << (member % kWordBits);
    }
  }
}

// The kernel counts one bit more than it reads (set_mempolicy(2), BUGS).
constexpr unsigned long kNodeBits = KernelBinding::kNodeWords * kWordBits + 1;

}  // namespace

Binding::Binding(const CpuSet& cpus, const NumaSet& mem_nodes)
    : bind_cpus_(!cpus.Empty()), bind_memory_(!mem_nodes.Empty()) {
  Fill(cpus, &wanted_.cpus);
  Fill(mem_nodes, &wanted_.nodes);
}

KernelBinding Binding::Apply() const {
  int cpu_error = 0;
  int policy_error = 0;
  if (bind_cpus_ &&
      syscall(SYS_sched_setaffinity, 0, sizeof(wanted_.cpus), wanted_.cpus.data()) != 0) {
    cpu_error = errno;
  }
  if (bind_memory_ && syscall(SYS_set_mempolicy, MPOL_BIND, wanted_.nodes.data(), kNodeBits) != 0) {
    policy_error = errno;
  }
  KernelBinding found;
  ObserveSelf(&found);
  if (cpu_error != 0) {
    found.cpu_error = cpu_error;
  }
  if (policy_error != 0) {
    found.policy_error = policy_error;
  }
  return found;
}

void ObserveSelf(KernelBinding* found) {
  *found = KernelBinding();
  if (syscall(SYS_sched_getaffinity, 0, sizeof(found->cpus), found->cpus.data()) < 0) {
    found->cpu_error = errno;
  }
  if (syscall(SYS_get_mempolicy, &found->policy, found->nodes.data(), kNodeBits - 1, nullptr, 0) !=
      0) {
    found->policy_error = errno;
    found->policy = MPOL_DEFAULT;
  }
}

}  // namespace muster::topology
