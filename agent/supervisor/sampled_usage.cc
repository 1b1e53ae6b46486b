#include "agent/supervisor/sampled_usage.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/unique_fd.h"

namespace muster {

SampledUsage ReadSampledUsage(const std::string& path) {
  SampledUsage usage;
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) {
    return {};
  }
  const std::vector<std::string> words =
      absl::StrSplit(*text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  const bool whole = words.size() == 3 && absl::SimpleAtoi(words[0], &usage.gpu_busy_ms) &&
                     absl::SimpleAtoi(words[1], &usage.gpu_memory) &&
                     absl::SimpleAtoi(words[2], &usage.gpu_energy_mj);
  return whole ? usage : SampledUsage();
}

void WriteSampledUsage(const std::string& path, const SampledUsage& usage) {
  const std::string fresh = path + ".new";
  const std::string text =
      absl::StrCat(usage.gpu_busy_ms, " ", usage.gpu_memory, " ", usage.gpu_energy_mj, "\n");
  const UniqueFd fd(
      open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.valid() &&
      write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) {
    std::rename(fresh.c_str(), path.c_str());
  }
}

}  // namespace muster
