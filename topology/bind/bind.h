#pragma once

// Binding of a process to hardware threads and memory nodes, by the kernel's own calls.
//
// Prepared in the parent, applied by the child between fork and exec: Apply() and ObserveSelf() are
// async-signal-safe, allocate nothing and only touch the calling process. The system calls are made
// without libnuma, whose constructor reads /sys at every start of a process. Thread promise:
// Binding is immutable; Apply() binds the calling thread, which exec makes the only one.

#include <array>
#include <cstddef>
#include <cstdint>

#include "scheduler/model/value/index_set.h"

namespace muster::topology {

// Hardware threads and memory nodes of a process as the kernel takes and gives them: plain memory,
// so that a child can send it through a pipe.
struct KernelBinding {
  static constexpr std::size_t kCpuWords = 128;  // 8,192 hardware threads, Linux's most
  static constexpr std::size_t kNodeWords = 16;  // 1,024 memory nodes, Linux's most
  std::array<std::uint64_t, kCpuWords> cpus{};
  std::array<std::uint64_t, kNodeWords> nodes{};
  std::int32_t policy = 0;        // MPOL_*
  std::int32_t cpu_error = 0;     // errno of the call that sets or reads the threads
  std::int32_t policy_error = 0;  // the same for the memory policy
};

class Binding {
 public:
  // An empty set leaves that part as it is. Members that the kernel cannot name are left out; the
  // read-back then differs.
  Binding(const CpuSet& cpus, const NumaSet& mem_nodes);

  // Binds the calling thread; what could not be done is in the errors of ObserveSelf()'s result
  // that this returns.
  [[nodiscard]] KernelBinding Apply() const;

 private:
  KernelBinding wanted_;
  bool bind_cpus_ = false;
  bool bind_memory_ = false;
};

// What the calling thread is bound to now.
void ObserveSelf(KernelBinding* found);

}  // namespace muster::topology
