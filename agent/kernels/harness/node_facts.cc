#include "agent/kernels/harness/node_facts.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/kernels/harness/command_line.h"

namespace muster::kernels {
namespace {

constexpr int64_t kUsualCache = int64_t{32} << 20;

// The first line of a file, "" when it cannot be read.
std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string SystemText() {
  utsname names{};
  if (uname(&names) != 0) {
    return "unknown";
  }
  std::string text = names.sysname;
  return text.append(" ").append(names.release).append(" ").append(names.machine);
}

}  // namespace

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name.front() == '\0') {
    return "unknown";
  }
  return name.data();
}

std::string CpuModel(const std::string& root) {
  std::ifstream file(root + "/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

int64_t LastLevelCacheBytes(const std::string& root) {
  int64_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    std::string folder = root;
    folder.append("/sys/devices/system/cpu/cpu0/cache/index")
        .append(std::to_string(index))
        .append("/");
    if (FirstLine(folder + "type") == "Instruction") {
      continue;
    }
    const std::optional<int64_t> bytes = ParseCount(FirstLine(folder + "size"));
    largest = std::max(largest, bytes.value_or(0));
  }
  return largest > 0 ? largest : kUsualCache;
}

nlohmann::ordered_json NodeJson() {
  return {{"host", HostName()},
          {"cpu", CpuModel()},
          {"last_level_cache", LastLevelCacheBytes()},
          {"system", SystemText()},
          {"compiler", __VERSION__},
          {"kernels_version", kKernelsVersion}};
}

}  // namespace muster::kernels
