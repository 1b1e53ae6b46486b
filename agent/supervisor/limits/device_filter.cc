#include "agent/supervisor/limits/device_filter.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/status/statusor.h"
#include "agent/supervisor/limits/device_rules.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {
namespace {

long Bpf(bpf_cmd command, bpf_attr* attributes) {
  return syscall(SYS_bpf, command, attributes, sizeof(*attributes));
}

absl::StatusOr<UniqueFd> LoadProgram(const std::vector<bpf_insn>& program) {
  bpf_attr attributes;
  std::memset(&attributes, 0, sizeof(attributes));  // the kernel checks the padding too
  attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  attributes.insns = reinterpret_cast<std::uintptr_t>(program.data());
  attributes.insn_cnt = static_cast<std::uint32_t>(program.size());
  static constexpr char kLicense[] = "Apache-2.0";
  attributes.license = reinterpret_cast<std::uintptr_t>(kLicense);
  UniqueFd fd(static_cast<int>(Bpf(BPF_PROG_LOAD, &attributes)));
  if (!fd.valid()) {
    return absl::ErrnoToStatus(errno, "a device program cannot be loaded");
  }
  return fd;
}

}  // namespace

absl::Status CheckDeviceFilter() {
  return LoadProgram(DeviceProgram({})).status();
}

absl::Status AttachDeviceFilter(int cgroup_directory, const std::vector<bpf_insn>& program) {
  ASSIGN_OR_RETURN(const UniqueFd loaded, LoadProgram(program));
  bpf_attr attributes;
  std::memset(&attributes, 0, sizeof(attributes));
  attributes.target_fd = static_cast<std::uint32_t>(cgroup_directory);
  attributes.attach_bpf_fd = static_cast<std::uint32_t>(loaded.get());
  attributes.attach_type = BPF_CGROUP_DEVICE;
  attributes.attach_flags = BPF_F_ALLOW_MULTI;
  if (Bpf(BPF_PROG_ATTACH, &attributes) != 0) {
    return absl::ErrnoToStatus(errno, "a device program cannot be attached");
  }
  return absl::OkStatus();
}

}  // namespace muster::agent
