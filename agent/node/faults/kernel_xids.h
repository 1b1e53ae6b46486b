#pragma once

// The XID errors that NVIDIA's driver writes into the kernel's log (/dev/kmsg; kernel,
// Documentation/ABI/testing/dev-kmsg): "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, …".
//
// Thread promise: one thread at a time. Invariants: what was written before Open is not told, and
// what comes later once; a line that did not come from the kernel itself is none; reading never
// waits.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster::agent {

inline constexpr const char* kKernelLog = "/dev/kmsg";

struct KernelXid {
  std::string pci;  // "0000:3b:00"
  std::uint64_t number = 0;
  friend bool operator==(const KernelXid&, const KernelXid&) = default;
};

// Of a record of the log: "4,1234,5678,-;NVRM: Xid (PCI:0000:3b:00): 79, …". Nothing: it is none.
std::optional<KernelXid> ReadKernelXid(std::string_view record);

class KernelXids {
 public:
  // How many of each number, by the GPU's place.
  using Counts = std::map<std::string, std::map<std::uint64_t, std::uint64_t>>;

  static absl::StatusOr<KernelXids> Open(const std::string& file);

  // All since Open; what the kernel has overwritten meanwhile is lost.
  const Counts& Read();

 private:
  explicit KernelXids(UniqueFd fd) : fd_(std::move(fd)) {}
  void Take(std::string_view text);

  UniqueFd fd_;
  std::string part_;  // of a record that is not yet whole
  Counts counts_;
};

}  // namespace muster::agent
