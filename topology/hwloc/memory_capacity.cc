#include "topology/hwloc/memory_capacity.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/runtime/file.h"

namespace muster::topology {
namespace {

// Control group v1 says "no limit" by a number near 2^63.
constexpr std::uint64_t kNoLimitFrom = std::uint64_t{1} << 60;

std::optional<std::uint64_t> LeadingNumber(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::uint64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) {
    return std::nullopt;
  }
  return value;
}

// Lowers `tightest` to the limits in `file` of the group `path` and of every group above it.
void TightenBy(const std::string& mount, std::string path, const std::string& file,
               std::optional<Bytes>& tightest) {
  for (;;) {
    const absl::StatusOr<std::string> content = ReadFile(absl::StrCat(mount, path, "/", file));
    const std::optional<std::uint64_t> limit =
        content.ok() ? LeadingNumber(*content) : std::nullopt;
    if (limit.has_value() && *limit < kNoLimitFrom) {
      tightest = tightest.has_value() ? std::min(*tightest, Bytes(*limit)) : Bytes(*limit);
    }
    const std::size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) {
      return;
    }
    path.resize(slash);
  }
}

// part * numerator / denominator without overflow. REQUIRES: denominator > 0.
std::uint64_t Scale(std::uint64_t part, std::uint64_t numerator, std::uint64_t denominator) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{part} * numerator / denominator);
}

}  // namespace

std::optional<Bytes> ParseMemTotal(const std::string& meminfo) {
  const auto kib_of = [&meminfo](std::string_view key) -> std::optional<std::uint64_t> {
    const std::size_t at = meminfo.find(key);
    return at == std::string::npos
               ? std::nullopt
               : LeadingNumber(std::string_view(meminfo).substr(at + key.size()));
  };
  const std::optional<std::uint64_t> total = kib_of("MemTotal:");
  if (!total.has_value()) {
    return std::nullopt;
  }
  const std::uint64_t pools = kib_of("Hugetlb:").value_or(0);
  return Bytes((*total - std::min(*total, pools)) * 1024);
}

std::optional<Bytes> ReadMemoryLimit(const std::string& proc_cgroup, const std::string& root) {
  std::optional<Bytes> tightest;
  const std::vector<std::string> lines = absl::StrSplit(proc_cgroup, '\n');
  for (const std::string& line : lines) {  // hierarchy:controllers:path
    const std::vector<std::string> fields = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) {
      continue;
    }
    const std::string path = fields[2] == "/" ? "" : fields[2];
    const std::vector<std::string> controllers = absl::StrSplit(fields[1], ',');
    if (fields[0] == "0" && fields[1].empty()) {
      TightenBy(root, path, "memory.max", tightest);
    } else if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) {
      TightenBy(root + "/memory", path, "memory.limit_in_bytes", tightest);
    }
  }
  return tightest;
}

MemoryReadings ReadMemory() {
  MemoryReadings readings;
  const absl::StatusOr<std::string> meminfo = ReadFile("/proc/meminfo");
  if (meminfo.ok()) {
    readings.total = ParseMemTotal(*meminfo);
  }
  const absl::StatusOr<std::string> groups = ReadFile("/proc/self/cgroup");
  if (groups.ok()) {
    readings.limit = ReadMemoryLimit(*groups, "/sys/fs/cgroup");
  }
  return readings;
}

void SettleMemory(const MemoryReadings& readings, Machine& machine) {
  Bytes sum;
  for (const NumaNode& node : machine.numa_nodes) {
    sum += node.memory;
  }
  Bytes memory = sum;
  if (readings.total.has_value()) {
    const Bytes total = *readings.total;
    const Bytes gap = total < sum ? sum - total : total - sum;
    if (gap.value() > sum.value() / 50) {
      memory = total;
      machine.remarks.push_back(absl::StrCat("the NUMA nodes say ", BytesText(sum.value()),
                                             " of memory, /proc/meminfo ", BytesText(total.value()),
                                             ": the latter is used"));
    }
  }
  if (readings.limit.has_value() && *readings.limit < memory) {
    memory = *readings.limit;
    machine.remarks.push_back(
        absl::StrCat("the control group allows ", BytesText(memory.value()), " of memory"));
  }
  for (NumaNode& node : machine.numa_nodes) {
    if (!sum.zero()) {
      node.memory = Bytes(Scale(node.memory.value(), memory.value(), sum.value()));
    }
  }
  if (sum.zero() && machine.numa_nodes.size() == 1) {
    machine.numa_nodes.front().memory = memory;
  }
  machine.memory = memory;
}

}  // namespace muster::topology
