#include "cli/estimate/estimate_submission.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kMemoryMost = std::uint64_t{1} << 62;  // more than any GPU has
constexpr std::uint64_t kUncountedPart = 10;  // a tenth: the framework's own, fragmentation

}  // namespace

Bytes MemoryToAsk(Bytes estimated) {
  const std::uint64_t bytes = std::min(estimated.value(), kMemoryMost);
  const std::uint64_t whole = bytes + bytes / kUncountedPart;
  return Bytes((whole + kGiB - 1) / kGiB * kGiB);
}

std::map<std::string, std::string> SubmitOptionsOf(const EstimateRequest& request,
                                                   Bytes estimated) {
  std::map<std::string, std::string> options = {
      {"ntasks", absl::StrCat(request.gpus)},
      {"gpus-per-task", "1"},
      {"gpu-memory", absl::StrCat(MemoryToAsk(estimated).value() / kGiB, "G")}};
  const core::TrainingSetup& setup = request.setup;
  if (request.gpus > 1) {
    options["parallel"] = absl::StrCat(
        "tp=", setup.tensor_parallel, ",pp=", setup.pipeline_parallel, ",dp=", setup.data_parallel);
  }
  return options;
}

std::string SubmitLine(const std::map<std::string, std::string>& options) {
  std::string line = "muster submit";
  for (const auto& [name, value] : options) {
    absl::StrAppend(&line, " --", name, "=", value);
  }
  return line + " SCRIPT";
}

}  // namespace muster::cli
