#include "agent/kernels/place/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

namespace muster::kernels {
namespace {

constexpr int64_t kHugePage = int64_t{2} << 20;

// The whole number in the first word of a file; nullopt when absent or not a number ("max").
std::optional<int64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) {
    return std::nullopt;
  }
  int64_t value = 0;
  const char* end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) {
    return std::nullopt;
  }
  return value;
}

// The key "inactive_file" of a memory.stat: page cache that the kernel gives up before it kills.
int64_t ReclaimableBytes(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  std::string name;
  int64_t value = 0;
  while (file >> name >> value) {
    if (name == key) {
      return value;
    }
  }
  return 0;
}

int64_t MemAvailable(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string name;
  std::string rest;
  while (file >> name) {
    if (name == "MemAvailable:") {
      int64_t kib = 0;
      return file >> kib ? kib * 1024 : 0;
    }
    std::getline(file, rest);
  }
  return 0;
}

// The names of one cgroup version's files.
struct MemoryFiles {
  const char* mount;
  const char* limit;
  const char* used;
  const char* reclaimable;
};

constexpr MemoryFiles kVersion2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                   "inactive_file"};
constexpr MemoryFiles kVersion1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                   "memory.usage_in_bytes", "total_inactive_file"};

// What is left in `group` and in each of its parents, the least of them; `bound` when nothing
// bounds it.
int64_t LeftInGroup(const std::string& root, const MemoryFiles& files, std::string group,
                    int64_t bound) {
  while (true) {
    std::string folder = root;
    folder.append(files.mount).append(group).append("/");
    const std::optional<int64_t> limit = ReadNumber(folder + files.limit);
    if (limit.has_value()) {
      const int64_t used = ReadNumber(folder + files.used).value_or(0) -
                           ReclaimableBytes(folder + "memory.stat", files.reclaimable);
      bound = std::min(bound, std::max<int64_t>(0, *limit - std::max<int64_t>(0, used)));
    }
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) {
      return bound;
    }
    group.resize(slash);
  }
}

}  // namespace

int64_t AvailableBytes(const std::string& root) {
  int64_t available = MemAvailable(root);
  std::ifstream groups(root + "/proc/self/cgroup");
  std::string line;  // "0::/path" in version 2, "7:memory:/path" in version 1
  while (std::getline(groups, line)) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    std::string controllers = line.substr(first, second - first);  // ":a,b"
    controllers.front() = ',';
    controllers += ',';
    const std::string path = line.substr(second + 1);
    const std::string group = path == "/" ? "" : path;
    if (controllers == ",,") {
      available = LeftInGroup(root, kVersion2, group, available);
    } else if (controllers.find(",memory,") != std::string::npos) {
      available = LeftInGroup(root, kVersion1, group, available);
    }
  }
  return available;
}

void* AllocateAligned(int64_t bytes) {
  const int64_t wanted = std::max<int64_t>(bytes, 1);
  const int64_t alignment = wanted >= kHugePage ? kHugePage : kAlignment;
  const int64_t whole = (wanted + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(whole));
  if (memory != nullptr && alignment == kHugePage) {
    // Advice: a kernel without huge pages still gives the memory.
    static_cast<void>(madvise(memory, static_cast<size_t>(whole), MADV_HUGEPAGE));
  }
  return memory;
}

}  // namespace muster::kernels
