#include "agent/supervisor/attempt/sampled_usage.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/attempt/replace_file.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

// What GPUs did comes first; a line of an earlier version ends there.
constexpr std::size_t kNumbers = 8;
constexpr std::size_t kNumbersLeast = 3;

Duration Milliseconds(std::uint64_t count) {
  return Duration(static_cast<std::int64_t>(count));
}

}  // namespace

Usage ReadSampledUsage(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) {
    return {};
  }
  const std::vector<std::string> words =
      absl::StrSplit(*text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  if (words.size() != kNumbers && words.size() != kNumbersLeast) {
    return {};
  }
  std::array<std::uint64_t, kNumbers> numbers{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!absl::SimpleAtoi(words[i], &numbers[i])) {
      return {};
    }
  }
  Usage usage;
  usage.gpu_busy = Milliseconds(numbers[0]);
  usage.gpu_memory = Bytes(numbers[1]);
  usage.gpu_energy_mj = numbers[2];
  usage.cpu_energy_mj = numbers[3];
  usage.user_cpu = Milliseconds(numbers[4]);
  usage.system_cpu = Milliseconds(numbers[5]);
  usage.group_memory = Bytes(numbers[6]);
  usage.peak_memory = Bytes(numbers[7]);
  return usage;
}

void WriteSampledUsage(const std::string& path, const Usage& usage) {
  const std::array<std::uint64_t, kNumbers> numbers = {
      static_cast<std::uint64_t>(usage.gpu_busy.count()),
      usage.gpu_memory.value(),
      usage.gpu_energy_mj,
      usage.cpu_energy_mj,
      static_cast<std::uint64_t>(usage.user_cpu.count()),
      static_cast<std::uint64_t>(usage.system_cpu.count()),
      usage.group_memory.value(),
      usage.peak_memory.value()};
  ReplaceFile(path, absl::StrJoin(numbers, " ") + "\n").IgnoreError();  // the next one has it too
}

void AddSampled(const Usage& sampled, Usage& usage) {
  usage.gpu_busy = sampled.gpu_busy;
  usage.gpu_memory = sampled.gpu_memory;
  usage.gpu_energy_mj = sampled.gpu_energy_mj;
  usage.cpu_energy_mj = sampled.cpu_energy_mj;
  usage.group_memory = std::max(usage.group_memory, sampled.group_memory);
}

}  // namespace muster::agent
