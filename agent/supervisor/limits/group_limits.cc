#include "agent/supervisor/limits/group_limits.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/runtime/cgroup/cgroup_tree.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

constexpr std::uint64_t kPerCent = 100;
// The largest page of a kernel we run on; a memory limit is cut to whole ones.
constexpr std::uint64_t kPageMax = 65536;
// A job's weight against others' is that of its hardware threads; one thread has the default.
constexpr std::uint32_t kIoWeightOfThread = 100;
constexpr std::uint32_t kIoWeightMax = 10000;

std::string ValueText(const std::string& controller, const GroupLimits& limits) {
  if (controller == "cpuset") {
    return absl::StrCat("cpuset ", limits.cpus.ToList());
  }
  if (controller == "memory") {
    return absl::StrCat("memory ", BytesText(limits.memory.value()));
  }
  if (controller == "hugetlb") {
    return absl::StrCat("hugetlb ", ToText(limits.huge_pages));
  }
  return controller == "pids" ? absl::StrCat("pids ", limits.pids) : controller;
}

// Empty when the file holds what it should, else why not.
std::string WriteAndRead(const std::string& directory, const LimitFile& file) {
  if (file.optional &&
      absl::IsNotFound(ReadFile(absl::StrCat(directory, "/", file.file)).status())) {
    return "";
  }
  const absl::Status written = WriteCgroupFile(directory, file.file, file.value);
  if (!written.ok()) {
    return std::string(written.message());
  }
  const std::string read = ReadCgroupFile(directory, file.read);
  return Agrees(file, read)
             ? ""
             : absl::StrCat(file.read, " is \"", read, "\", not \"", file.value, "\"");
}

bool SameSet(const std::string& read, const std::string& value) {
  const absl::StatusOr<Bits> found = Bits::Parse(read);
  const absl::StatusOr<Bits> wanted = Bits::Parse(value);
  return found.ok() && wanted.ok() && *found == *wanted;
}

}  // namespace

GroupLimits AttemptLimits(const NodeLimits& node, const NodeAllocation& part) {
  GroupLimits limits;
  limits.cpus = part.cpus;
  limits.mem_nodes = part.mem_nodes;
  limits.memory = part.memory;
  limits.memory_high = Bytes(part.memory.value() / kPerCent * node.memory_high);
  limits.pids = node.pids;
  limits.io_weight = static_cast<std::uint32_t>(std::min<std::uint64_t>(
      kIoWeightMax, std::uint64_t{kIoWeightOfThread} * std::max(part.cpus.Count(), 1U)));
  for (const std::string& pool : node.huge_pages) {
    limits.huge_pages.push_back({pool, CountOf(part.gres, pool)});
  }
  return limits;
}

GroupLimits StepLimits(const NodeAllocation& part, const NodeAllocation& whole) {
  GroupLimits limits;
  limits.cpus = part.cpus;
  limits.mem_nodes = part.mem_nodes;
  if (part.memory < whole.memory) {
    limits.memory = part.memory;
  }
  return limits;
}

std::vector<LimitFile> LimitFiles(const GroupLimits& limits) {
  std::vector<LimitFile> files;
  if (!limits.cpus.Empty()) {
    files.push_back({"cpuset", "cpuset.cpus", limits.cpus.ToList(), "cpuset.cpus.effective"});
    if (!limits.mem_nodes.Empty()) {
      files.push_back(
          {"cpuset", "cpuset.mems", limits.mem_nodes.ToList(), "cpuset.mems.effective"});
    }
  }
  if (!limits.memory.zero()) {
    files.push_back({"memory", "memory.max", absl::StrCat(limits.memory.value()), "memory.max"});
    // Without swap in the kernel there is no such file, and none is needed.
    files.push_back({"memory", "memory.swap.max", "0", "memory.swap.max", true});
    files.push_back({"memory", "memory.oom.group", "1", "memory.oom.group"});
    if (!limits.memory_high.zero()) {
      files.push_back(
          {"memory", "memory.high", absl::StrCat(limits.memory_high.value()), "memory.high"});
    }
  }
  if (limits.pids > 0) {
    files.push_back({"pids", "pids.max", absl::StrCat(limits.pids), "pids.max"});
  }
  for (const GresCount& pool : limits.huge_pages) {
    const std::string size = pool.name.substr(std::string_view(kHugePages).size());
    const std::string bytes =
        absl::StrCat(pool.count * ParseSize(size, PlainSize::kBytes, UINT64_MAX).value_or(0));
    // By the first, which kernels before 5.7 lack, more is refused when it is asked for; by the
    // second when it is touched.
    for (const auto& [kind, optional] : {std::pair("B.rsvd.max", true), {"B.max", false}}) {
      const std::string file = absl::StrCat("hugetlb.", size, kind);
      files.push_back({"hugetlb", file, bytes, file, optional});
    }
  }
  if (limits.io_weight > 0) {
    files.push_back({"io", "io.weight", absl::StrCat("default ", limits.io_weight), "io.weight"});
  }
  return files;
}

bool Agrees(const LimitFile& file, const std::string& read) {
  if (file.controller == "cpuset") {
    return SameSet(read, file.value);
  }
  std::uint64_t found = 0;
  std::uint64_t wanted = 0;
  if (absl::SimpleAtoi(file.value, &wanted) && absl::SimpleAtoi(read, &found)) {
    return found == wanted ||
           (file.controller == "memory" && found < wanted && wanted - found < kPageMax);
  }
  return read.substr(0, read.find('\n')) == file.value;  // io.weight goes on with devices
}

LimitSet HoldTo(const std::string& directory, const GroupLimits& limits, const LimitSet& promised) {
  LimitSet held;
  held.missing = promised.missing;
  const std::vector<LimitFile> files = LimitFiles(limits);
  for (const std::string& controller : LimitControllers()) {
    const auto is_its = [&](const LimitFile& file) { return file.controller == controller; };
    if (!promised.Holds(controller) || std::none_of(files.begin(), files.end(), is_its)) {
      continue;
    }
    std::string why;
    for (const LimitFile& file : files) {
      if (is_its(file) && why.empty()) {
        why = WriteAndRead(directory, file);
      }
    }
    if (why.empty()) {
      held.held.push_back(ValueText(controller, limits));
    } else if (controller != "io") {  // most disks have no scheduler that knows weights
      held.missing.push_back({controller, why});
    }
  }
  return held;
}

}  // namespace muster::agent
