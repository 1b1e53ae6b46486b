#include "topology/bind/bind.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "topology/bind/read_back.h"

namespace muster::topology {
namespace {

// Applies `binding` in a child and returns what the child found; the tests themselves stay unbound.
KernelBinding ApplyInChild(const Binding& binding) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const KernelBinding found = binding.Apply();
    _exit(write(ends[1], &found, sizeof(found)) == sizeof(found) ? 0 : 1);
  }
  close(ends[1]);
  KernelBinding found;
  EXPECT_EQ(read(ends[0], &found, sizeof(found)), static_cast<ssize_t>(sizeof(found)));
  close(ends[0]);
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
  return found;
}

TEST(BindTest, BindsToACoreAndItsMemory) {
  KernelBinding before;
  ObserveSelf(&before);
  const CpuSet ours = *FromKernel(before, {}).cpus;
  const CpuSet one = CpuSet::Of({ours.Members().back()});
  const KernelBinding found = ApplyInChild(Binding(one, NumaSet::Of({0})));
  const ObservedBinding observed = FromKernel(found, {});
  EXPECT_EQ(observed.cpus, one);
  if (found.policy_error == 0) {
    EXPECT_EQ(observed.mem_policy, "bind:0");
  }
}

TEST(BindTest, LeavesAloneWhatItWasNotGiven) {
  KernelBinding before;
  ObserveSelf(&before);
  const KernelBinding found = ApplyInChild(Binding(CpuSet(), NumaSet()));
  EXPECT_EQ(found.cpus, before.cpus);
  EXPECT_EQ(found.policy, before.policy);
}

TEST(BindTest, SaysWhatTheKernelRefused) {
  const KernelBinding found = ApplyInChild(Binding(CpuSet::Of({8000}), NumaSet::Of({1000})));
  EXPECT_EQ(found.cpu_error, EINVAL);
  EXPECT_NE(found.policy_error, 0);
}

}  // namespace
}  // namespace muster::topology
