#include "agent/supervisor/sampled_usage.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/replace_file.h"
#include "scheduler/runtime/file.h"

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
  ReplaceFile(path, absl::StrCat(usage.gpu_busy_ms, " ", usage.gpu_memory, " ", usage.gpu_energy_mj,
                                 "\n"))
      .IgnoreError();  // the next one has it too
}

}  // namespace muster
