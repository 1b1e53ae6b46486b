#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/page/table.h"
#include "cli/parse/number.h"
#include "cli/place/estimate_request.h"
#include "cli/place/estimate_submission.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/place/request.h"

namespace muster::cli {
namespace {

struct Fit {
  GpuType type;
  bool fits = false;
  std::optional<std::uint32_t> gpus_min;
};

// Seconds are absent when no bandwidth is known.
struct Traffic {
  double bytes_per_gpu = 0;
  std::optional<double> seconds;
  core::CollectiveAlgorithm algorithm = core::CollectiveAlgorithm::kNone;
};

struct Estimate {
  core::TrainingMemory memory;
  std::vector<Fit> fits;
  Traffic allreduce;  // of the gradients
  Traffic step;       // what the strategy sends for a step
};

std::vector<Fit> FitsOf(const EstimateRequest& request, Bytes needed) {
  const std::uint32_t parts =
      request.setup.tensor_parallel * request.setup.pipeline_parallel;  // divides request.gpus
  std::vector<Fit> fits;
  for (const GpuType& type : request.gpu_types) {
    const auto degree = core::LeastDataParallel(request.setup, type.memory, kCountMax / parts);
    fits.push_back(
        {type, needed <= type.memory, degree ? std::optional(*degree * parts) : std::nullopt});
  }
  return fits;
}

Traffic TrafficOf(const EstimateRequest& request, core::Collective collective, Bytes bytes) {
  Traffic traffic;
  traffic.bytes_per_gpu = core::RingBytesPerRank(collective, bytes, request.setup.data_parallel);
  if (request.links) {
    const auto cost = core::PredictCollective(collective, bytes, *request.links);
    MUSTER_CHECK(cost.has_value());
    traffic.seconds = cost->seconds;
    traffic.algorithm = cost->algorithm;
  }
  return traffic;
}

// ZeRO, section 7: up to stage 2 as much as the all-reduce; stage 3 gathers the weights forward and
// backward and scatters the gradients.
Traffic StepTraffic(const EstimateRequest& request, const Traffic& allreduce, Bytes bytes) {
  if (request.setup.strategy != core::ShardingStrategy::kZero3) {
    return allreduce;
  }
  const Traffic gather = TrafficOf(request, core::Collective::kAllGather, bytes);
  const Traffic scatter = TrafficOf(request, core::Collective::kReduceScatter, bytes);
  return {2 * gather.bytes_per_gpu + scatter.bytes_per_gpu,
          gather.seconds ? std::optional(2 * *gather.seconds + *scatter.seconds) : std::nullopt,
          gather.algorithm};
}

Estimate MakeEstimate(const EstimateRequest& request) {
  Estimate estimate;
  estimate.memory = core::MemoryOf(request.setup).value();  // checked as the request was read
  const Bytes gradients = core::GradientBytes(request.setup).value();
  estimate.fits = FitsOf(request, estimate.memory.total);
  estimate.allreduce = TrafficOf(request, core::Collective::kAllReduce, gradients);
  estimate.step = StepTraffic(request, estimate.allreduce, gradients);
  return estimate;
}

Json TrafficDocument(const Traffic& traffic) {
  return {{"bytes_per_gpu", traffic.bytes_per_gpu},
          {"seconds", traffic.seconds ? Json(*traffic.seconds) : Json(nullptr)},
          {"algorithm", traffic.seconds ? Json(core::ToText(traffic.algorithm)) : Json(nullptr)}};
}

std::string Document(const EstimateRequest& request, const Estimate& estimate) {
  Json fits = Json::array();
  for (const Fit& fit : estimate.fits) {
    fits.push_back({{"gpu", fit.type.name},
                    {"memory_bytes", fit.type.memory.value()},
                    {"fits", fit.fits},
                    {"gpus_min", fit.gpus_min ? Json(*fit.gpus_min) : Json(nullptr)}});
  }
  return PrintJson({{"params", request.setup.parameters},
                    {"gpus", request.gpus},
                    {"dp", request.setup.data_parallel},
                    {"tp", request.setup.tensor_parallel},
                    {"pp", request.setup.pipeline_parallel},
                    {"per_gpu_bytes", ToJson(estimate.memory)},
                    {"activations_counted", request.setup.shape.has_value()},
                    {"fits", fits},
                    {"submit", SubmitOptionsOf(request, estimate.memory.total)},
                    {"allreduce", TrafficDocument(estimate.allreduce)},
                    {"step", TrafficDocument(estimate.step)}});
}

std::string TrafficText(const Traffic& traffic) {
  std::string text = absl::StrFormat("%.4g GB per GPU", traffic.bytes_per_gpu / 1e9);
  if (traffic.seconds) {
    absl::StrAppendFormat(&text, ", %.4g s (%s)", *traffic.seconds,
                          core::ToText(traffic.algorithm));
  }
  return text;
}

std::string GigabytesText(Bytes bytes) {
  return absl::StrFormat("%.2f", static_cast<double>(bytes.value()) / 1e9);
}

std::string Page(const EstimateRequest& request, const Estimate& estimate, const Style& style) {
  Table parts({{.title = "PER GPU"}, {.title = "GB", .right = true}});
  const core::TrainingMemory& memory = estimate.memory;
  parts.Add({{"weights"}, {GigabytesText(memory.weights)}});
  parts.Add({{"gradients"}, {GigabytesText(memory.gradients)}});
  parts.Add({{"optimizer"}, {GigabytesText(memory.optimizer)}});
  parts.Add(
      {{"activations"}, {request.setup.shape ? GigabytesText(memory.activations) : "not counted"}});
  parts.Add({{"total"}, {GigabytesText(memory.total)}});
  Table fits({{.title = "GPU"},
              {.title = "MEMORY", .right = true},
              {.title = "FITS"},
              {.title = "LEAST GPUS", .right = true}});
  for (const Fit& fit : estimate.fits) {
    fits.Add({{fit.type.name},
              {BytesText(fit.type.memory.value())},
              {fit.fits ? "yes" : "no", fit.fits ? Paint::kGreen : Paint::kRed},
              {fit.gpus_min ? absl::StrCat(*fit.gpus_min) : "none"}});
  }
  const core::TrainingSetup& setup = request.setup;
  return absl::StrCat(Counted(request.gpus, "GPU"), ": dp ", setup.data_parallel, " x tp ",
                      setup.tensor_parallel, " x pp ", setup.pipeline_parallel, "\n\n",
                      parts.Print(style), "\n", fits.Print(style), "\nall-reduce  ",
                      TrafficText(estimate.allreduce), "\neach step   ", TrafficText(estimate.step),
                      "\nto submit   ", SubmitLine(SubmitOptionsOf(request, memory.total)), "\n");
}

// Submits the script with what the estimate asks for. What the estimate says goes to standard
// error: standard output is the submission's.
absl::StatusOr<int> Submit(const Invocation& invocation, const EstimateRequest& request,
                           const Estimate& estimate) {
  const Bytes asked = MemoryToAsk(estimate.memory.total);
  const GpuRequest kind{"", 1, asked};
  const bool fits = std::any_of(
      request.gpu_types.begin(), request.gpu_types.end(),
      [&kind](const GpuType& type) { return core::IsOfKind(type.name, type.memory, kind); });
  if (!fits) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--submit: no type of GPU has the ", BytesText(asked.value()),
        " that each would need: use more GPUs, or another --strategy (muster estimate ",
        "without --submit says how many)"));
  }
  std::map<std::string, std::string> options = SubmitOptionsOf(request, estimate.memory.total);
  std::cerr << SubmitLine(options) << std::endl;
  for (const char* kept : {"controller", "state", "json"}) {
    if (invocation.Has(kept)) {
      options[kept] = invocation.Value(kept);
    }
  }
  return SubmitVerb().run(Invocation{invocation.environment, invocation.verbs, std::move(options),
                                     invocation.arguments});
}

absl::StatusOr<int> EstimateTraining(const Invocation& invocation) {
  if (invocation.Has("submit") == invocation.arguments.empty()) {
    return absl::InvalidArgumentError(
        invocation.arguments.empty()
            ? std::string("--submit: name the script to submit after the options")
            : absl::StrCat(Quote(invocation.arguments.front()), ": a script goes with --submit"));
  }
  // What follows --submit names no nodes to fit into.
  const Invocation asked{invocation.environment, invocation.verbs, invocation.values, {}};
  ASSIGN_OR_RETURN(const EstimateRequest request, ReadEstimateRequest(asked));
  const Estimate estimate = MakeEstimate(request);
  if (invocation.Has("submit")) {
    return Submit(invocation, request, estimate);
  }
  RETURN_IF_ERROR(
      WriteOut(invocation.Has("json")
                   ? Document(request, estimate)
                   : Page(request, estimate, StyleFor(invocation.environment, STDOUT_FILENO))));
  return 0;
}

}  // namespace

Verb EstimateVerb() {
  Verb verb;
  verb.name = "estimate";
  verb.purpose = "Estimate a training run's memory per GPU, where it fits, and its traffic";
  verb.forms = {"--params N [options]", "--params N [options] --submit SCRIPT [ARG…]"};
  verb.examples = {
      "muster estimate --params 7e9 --gpus 8 --strategy zero2 --bandwidth 50GB/s",
      "muster estimate --params 7B --gpus 8 --batch 1 --seq 4096 --hidden 4096 --layers 32",
      "muster estimate --params 70B --strategy fsdp --gpus 64 --gpu-memory h100:80G --json",
      "muster estimate --params 7B --gpus 8 --strategy zero3 --cluster --submit train.sh"};
  verb.remarks =
      "GB are 10^9 bytes, GiB 2^30. Weights, gradients and optimizer: Rajbhandari et al., ZeRO\n"
      "(arXiv 1910.02054). Activations: Korthikanti et al. (arXiv 2205.05198). All-reduce: a ring\n"
      "moves 2(N-1)/N of the gradients, or by hierarchy where that is faster. Not counted: the\n"
      "framework's own memory, fragmentation, embeddings' activations; latency.\n";
  verb.arguments_max = kAnyNumber;
  verb.takes_command = true;
  verb.options = EstimateOptions();
  verb.options.push_back(JsonOption());
  verb.run = EstimateTraining;
  return verb;
}

}  // namespace muster::cli
