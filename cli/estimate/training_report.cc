#include "cli/estimate/training_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/estimate/estimate_submission.h"
#include "cli/frame/json_output.h"
#include "cli/page/table.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/place/estimate/run_cost.h"

namespace muster::cli {
namespace {

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

Json TrafficDocument(const Traffic& traffic) {
  return {{"bytes_per_gpu", traffic.bytes_per_gpu},
          {"seconds", traffic.seconds ? Json(*traffic.seconds) : Json(nullptr)},
          {"algorithm", traffic.seconds ? Json(core::ToText(traffic.algorithm)) : Json(nullptr)}};
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

std::uint64_t ActiveOf(const core::TrainingSetup& setup) {
  return setup.experts ? core::ActiveParameters(setup.parameters, *setup.experts)
                       : setup.parameters;
}

// ", ep 8; 12.9 of 46.7 billion parameters for a token".
std::string ExpertsText(const core::TrainingSetup& setup) {
  if (!setup.experts) {
    return "";
  }
  return absl::StrFormat(", ep %d; %.4g of %.4g billion parameters for a token",
                         setup.expert_parallel, static_cast<double>(ActiveOf(setup)) / 1e9,
                         static_cast<double>(setup.parameters) / 1e9);
}

void AddWhereNotZero(Table& parts, const char* name, Bytes bytes) {
  if (!bytes.zero()) {
    parts.Add({{name}, {GigabytesText(bytes)}});
  }
}

std::optional<TrainingRun> RunOf(const EstimateRequest& request) {
  if (!request.tokens) {
    return std::nullopt;
  }
  const double seconds = core::TrainingSeconds(core::OperationsOf(request.setup.recomputation),
                                               static_cast<double>(ActiveOf(request.setup)),
                                               static_cast<double>(*request.tokens), request.gpus,
                                               request.gpu.flops.value_or(0) * request.flops_used);
  return TrainingRun{seconds,
                     CostOfRun(seconds / 3600 * request.gpus, request.gpu, request.prices)};
}

Json RunDocument(const EstimateRequest& request, const std::optional<TrainingRun>& run) {
  if (!run) {
    return nullptr;
  }
  const RunCost& cost = run->cost;
  return {{"tokens", *request.tokens},
          {"flops_used", request.flops_used},
          {"seconds", run->seconds},
          {"gpu_hours", cost.gpu_hours},
          {"kwh", ToJson(cost.kwh)},
          {"price", ToJson(cost.price)},
          {"currency", cost.currency.empty() ? Json(nullptr) : Json(cost.currency)}};
}

std::string RunText(const EstimateRequest& request, const std::optional<TrainingRun>& run) {
  if (!run) {
    return "";
  }
  const RunCost& cost = run->cost;
  return absl::StrCat(
      "\nrun         ", SpanText(run->seconds),
      absl::StrFormat(" at %.3g TFLOP/s each, %.0f GPU hours",
                      request.gpu.flops.value_or(0) * request.flops_used / 1e12, cost.gpu_hours),
      cost.kwh ? absl::StrCat(", ", KwhText(*cost.kwh)) : "",
      cost.price ? absl::StrCat(", ", PriceText(*cost.price, cost.currency)) : "");
}

}  // namespace

TrainingEstimate EstimateTraining(const EstimateRequest& request) {
  TrainingEstimate estimate;
  estimate.memory = core::MemoryOf(request.setup).value();  // checked as the request was read
  const Bytes gradients = core::GradientBytes(request.setup).value();
  estimate.fits = FitsOf(request, estimate.memory.total);
  estimate.allreduce = TrafficOf(request, core::Collective::kAllReduce, gradients);
  estimate.step = StepTraffic(request, estimate.allreduce, gradients);
  estimate.run = RunOf(request);
  return estimate;
}

std::string TrainingDocument(const EstimateRequest& request, const TrainingEstimate& estimate) {
  Json fits = Json::array();
  for (const Fit& fit : estimate.fits) {
    fits.push_back({{"gpu", fit.type.name},
                    {"memory_bytes", fit.type.memory.value()},
                    {"fits", fit.fits},
                    {"gpus_min", fit.gpus_min ? Json(*fit.gpus_min) : Json(nullptr)}});
  }
  return PrintJson({{"params", request.setup.parameters},
                    {"gpus", request.gpus},
                    {"active_params", ActiveOf(request.setup)},
                    {"dp", request.setup.data_parallel},
                    {"tp", request.setup.tensor_parallel},
                    {"pp", request.setup.pipeline_parallel},
                    {"ep", request.setup.expert_parallel},
                    {"per_gpu_bytes", ToJson(estimate.memory)},
                    {"activations_counted", request.setup.shape.has_value()},
                    {"fits", fits},
                    {"submit", SubmitOptionsOf(request, estimate.memory.total)},
                    {"allreduce", TrafficDocument(estimate.allreduce)},
                    {"step", TrafficDocument(estimate.step)},
                    {"run", RunDocument(request, estimate.run)}});
}

std::string TrainingPage(const EstimateRequest& request, const TrainingEstimate& estimate,
                         const Style& style) {
  Table parts({{.title = "PER GPU"}, {.title = "GB", .right = true}});
  const core::TrainingMemory& memory = estimate.memory;
  parts.Add({{"weights"}, {GigabytesText(memory.weights)}});
  parts.Add({{"gradients"}, {GigabytesText(memory.gradients)}});
  parts.Add({{"optimizer"}, {GigabytesText(memory.optimizer)}});
  parts.Add(
      {{"activations"}, {request.setup.shape ? GigabytesText(memory.activations) : "not counted"}});
  AddWhereNotZero(parts, "working", memory.working);
  parts.Add({{"total"}, {GigabytesText(memory.total)}});
  AddWhereNotZero(parts, "on the host", memory.host);
  AddWhereNotZero(parts, "on NVMe", memory.nvme);
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
                      setup.tensor_parallel, " x pp ", setup.pipeline_parallel, ExpertsText(setup),
                      "\n\n", parts.Print(style), "\n", fits.Print(style), "\nall-reduce  ",
                      TrafficText(estimate.allreduce), "\neach step   ", TrafficText(estimate.step),
                      RunText(request, estimate.run), "\nto submit   ",
                      SubmitLine(SubmitOptionsOf(request, memory.total)), "\n");
}

}  // namespace muster::cli
