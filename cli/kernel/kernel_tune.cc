#include "cli/kernel/kernel_tune.h"

#include <chrono>
#include <iostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/controller/controller.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/kernel/kernel_process.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::size_t kSharedBytesMax = 96 << 10;  // an entry of an environment has 128 KiB

// The kernel under whose name its program's tunings are kept; empty for one that has none.
std::string TunedKernel(const BundledKernel& kernel) {
  const std::string program = kernel.program;
  const std::string only = kernel.only;
  if (program == "gpu" && (only.empty() || only == "gemm")) {
    return "gpu-gemm";
  }
  return program == "gemm" ? program : "";
}

std::string TextOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

Tuning TuningOf(const Json& found) {
  Tuning tuning;
  tuning.kernel = TextOf(found, "kernel");
  tuning.shape = TextOf(found, "shape");
  tuning.type = TextOf(found, "type");
  tuning.architecture = TextOf(found, "architecture");
  tuning.version = found.value("version", 0U);
  tuning.choice = found.contains("choice") ? found.at("choice").dump() : "";
  return tuning;
}

// Why the cluster has it not; empty when it has.
std::string Share(const Json& found, const Invocation& invocation) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenController(invocation);
  const absl::Status shared =
      connection.ok() ? (*connection)->Call(PutTuning{TuningOf(found)}) : connection.status();
  return std::string(shared.message());
}

}  // namespace

absl::StatusOr<int> TuneKernel(const TuneRequest& request, const Invocation& invocation) {
  if (TunedKernel(request.kernel) != request.kernel.name) {
    return absl::InvalidArgumentError(absl::StrCat(
        "tune: ", request.kernel.name, " has no block sizes to search: gemm and gpu-gemm have"));
  }
  const absl::StatusOr<Duration> budget = ParseDuration(request.budget);
  if (!budget.ok() || *budget <= Duration(0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--budget: ", Quote(request.budget), " is not a time: use 30s, 5m, …"));
  }
  ASSIGN_OR_RETURN(const std::string program,
                   KernelProgram(request.kernel, invocation.environment));
  std::vector<std::string> words = {program, "--json", "--tune",
                                    absl::StrCat(static_cast<double>(budget->count()) / 1000)};
  if (*request.kernel.only != '\0') {
    words.insert(words.end(), {"--only", request.kernel.only});
  }
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  ASSIGN_OR_RETURN(Json document, MeasureKernel(words, invocation.environment, {}));
  Json found = document.contains("tuning") ? document.at("tuning") : Json();
  if (!found.is_object()) {
    return absl::InternalError(
        absl::StrCat(program, ": printed no block sizes: is it a kernel of this version?"));
  }
  const std::string not_shared = Share(found, invocation);
  found["shared"] = not_shared.empty();
  if (request.json) {
    RETURN_IF_ERROR(WriteOut(PrintJson(found)));
    return 0;
  }
  const double gain = found.value("seconds_by_rule", 0.0) / found.value("seconds", 1.0);
  RETURN_IF_ERROR(WriteOut(absl::StrFormat(
      "%s %s: %s, %.2f times as fast as by rule; %d tried, %d wrong\n%s\n", request.kernel.name,
      TextOf(found, "shape"), found.contains("choice") ? found.at("choice").dump() : "", gain,
      found.value("tried", 0), found.value("rejected", 0),
      not_shared.empty() ? "kept here and for the cluster"
                         : absl::StrCat("kept here only: ", not_shared))));
  return 0;
}

std::string SharedTunings(const BundledKernel& kernel, const Invocation& invocation) {
  const std::string tuned = TunedKernel(kernel);
  if (tuned.empty()) {
    return "";
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenController(invocation);
  if (!connection.ok()) {
    return "";
  }
  const absl::StatusOr<std::vector<Tuning>> tunings = (*connection)->Call(ListTunings{tuned});
  Json list = Json::array();
  for (const Tuning& tuning : tunings.ok() ? *tunings : std::vector<Tuning>()) {
    list.push_back({{"kernel", tuning.kernel},
                    {"shape", tuning.shape},
                    {"type", tuning.type},
                    {"architecture", tuning.architecture},
                    {"version", tuning.version},
                    {"choice", Json::parse(tuning.choice, nullptr, /*allow_exceptions=*/false)}});
    if (list.dump().size() > kSharedBytesMax) {
      list.erase(list.size() - 1);
      break;
    }
  }
  return list.empty() ? "" : list.dump();
}

}  // namespace muster::cli
