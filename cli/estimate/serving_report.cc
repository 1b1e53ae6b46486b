#include "cli/estimate/serving_report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/frame/json_output.h"
#include "cli/page/table.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/place/estimate/waiting_tail.h"

namespace muster::cli {
namespace {

constexpr double kPromised = 0.99;
constexpr double kHourSeconds = 3600;
constexpr double kMillionTokens = 1e6;

Bytes PartOfEach(Bytes all, std::uint64_t parts) {
  return Bytes(all.value() / parts + (all.value() % parts == 0 ? 0 : 1));
}

core::ServingGpus GpusOfCopy(const ServingRequest& request) {
  return {.count = static_cast<double>(request.tensor_parallel),
          .flops = request.gpu.flops.value_or(0) * request.flops_used,
          .bytes_per_second = request.gpu.bytes_per_second.value_or(0) * request.bandwidth_used};
}

ServingQueue QueueAt(const core::ServerQueue& queue, double rate) {
  ServingQueue found;
  found.busy = rate * queue.service_seconds / static_cast<double>(queue.servers);
  found.waiting = core::WaitingPart(queue, rate);
  found.p99_wait = core::WaitAt(queue, rate, kPromised);
  if (found.p99_wait) {
    found.p99 = *found.p99_wait + queue.service_seconds;
  }
  return found;
}

std::uint64_t ActiveOfServed(const core::ServedModel& model) {
  return model.experts ? core::ActiveParameters(model.parameters, *model.experts)
                       : model.parameters;
}

Json CostDocument(const RunCost& cost) {
  return {{"gpu_hours", cost.gpu_hours},
          {"kwh", ToJson(cost.kwh)},
          {"price", ToJson(cost.price)},
          {"currency", cost.currency.empty() ? Json(nullptr) : Json(cost.currency)}};
}

Json QueueDocument(const ServingRequest& request, const ServingEstimate& estimate) {
  if (!estimate.queue) {
    return nullptr;
  }
  return {{"rate", *request.rate},
          {"spread", request.spread},
          {"busy", estimate.queue->busy},
          {"waiting", estimate.queue->waiting},
          {"p99_wait_seconds", ToJson(estimate.queue->p99_wait)},
          {"p99_seconds", ToJson(estimate.queue->p99)}};
}

std::string GigabytesOf(Bytes bytes) {
  return absl::StrFormat("%.2f", static_cast<double>(bytes.value()) / 1e9);
}

std::string ShortNumber(double number) {
  return absl::StrFormat("%.4g", number);
}

std::string QueueText(const ServingRequest& request, const ServingEstimate& estimate) {
  std::string text;
  if (estimate.queue) {
    const ServingQueue& queue = *estimate.queue;
    absl::StrAppend(&text, "at ", ShortNumber(*request.rate), " requests/s: ");
    if (queue.p99) {
      absl::StrAppend(&text, "99 % within ", SpanText(*queue.p99),
                      *queue.p99_wait > 0 ? absl::StrCat(", of which up to ",
                                                         SpanText(*queue.p99_wait), " of waiting")
                                          : std::string(" without waiting"),
                      absl::StrFormat("; %.0f %% busy\n", queue.busy * 100));
    } else {
      absl::StrAppend(&text, "more than can be served: the queue grows without end\n");
    }
  }
  if (estimate.rate_within) {
    absl::StrAppend(&text, "99 % within ", SpanText(*request.p99_seconds), ": ",
                    *estimate.rate_within > 0
                        ? absl::StrCat("up to ", ShortNumber(*estimate.rate_within), " requests/s")
                        : std::string("at no rate, in full batches: use a smaller --batch"),
                    "\n");
  }
  return text;
}

std::string CostText(const ServingEstimate& estimate) {
  std::string text;
  const auto add = [&text](const char* title, const RunCost& cost) {
    if (!cost.kwh && !cost.price) {
      return;
    }
    absl::StrAppend(&text, title, cost.kwh ? KwhText(*cost.kwh) : "",
                    cost.kwh && cost.price ? ", " : "",
                    cost.price ? PriceText(*cost.price, cost.currency) : "", "\n");
  };
  add("an hour           ", estimate.hour);
  add("a million tokens  ", estimate.million);
  return text;
}

}  // namespace

ServingEstimate EstimateServing(const ServingRequest& request) {
  const core::ServingGpus gpus = GpusOfCopy(request);
  const double prompt = request.prompt;
  const double output = request.output;
  const double middle = prompt + output / 2;
  ServingEstimate estimate;
  estimate.kv_per_token = core::KvBytesPerToken(request.model).value();
  estimate.weights = PartOfEach(core::WeightBytes(request.model).value(), request.tensor_parallel);
  estimate.kv_cache = PartOfEach(
      estimate.kv_per_token * request.batch * (std::uint64_t{request.prompt} + request.output),
      request.tensor_parallel);
  estimate.first_token = core::PrefillSeconds(request.model, gpus, prompt);
  estimate.step_alone = core::DecodeSeconds(request.model, gpus, 1, middle);
  estimate.step_full = core::DecodeSeconds(request.model, gpus, request.batch, middle);
  estimate.alone = core::ServeFull(request.model, gpus, 1, prompt, output);
  estimate.full = core::ServeFull(request.model, gpus, request.batch, prompt, output);
  estimate.full.requests_per_second *= request.copies;
  estimate.full.tokens_per_second *= request.copies;
  const core::ServerQueue queue{.servers = std::uint64_t{request.batch} * request.copies,
                                .service_seconds = estimate.full.request_seconds,
                                .variation = request.spread};
  if (request.rate) {
    estimate.queue = QueueAt(queue, *request.rate);
  }
  if (request.p99_seconds) {
    estimate.rate_within = core::RateWithin(queue, *request.p99_seconds, kPromised);
  }
  const double hours = kMillionTokens / (estimate.full.tokens_per_second * kHourSeconds);
  estimate.hour = CostOfRun(request.gpus, request.gpu, request.prices);
  estimate.million = CostOfRun(request.gpus * hours, request.gpu, request.prices);
  return estimate;
}

std::string ServingDocument(const ServingRequest& request, const ServingEstimate& estimate) {
  return PrintJson({{"params", request.model.parameters},
                    {"active_params", ActiveOfServed(request.model)},
                    {"gpus", request.gpus},
                    {"tp", request.tensor_parallel},
                    {"copies", request.copies},
                    {"gpu", request.gpu.name.empty() ? Json(nullptr) : Json(request.gpu.name)},
                    {"prompt", request.prompt},
                    {"output", request.output},
                    {"batch", request.batch},
                    {"batch_max", request.batch_most},
                    {"kv_bytes_per_token", estimate.kv_per_token.value()},
                    {"per_gpu_bytes",
                     {{"weights", estimate.weights.value()},
                      {"kv_cache", estimate.kv_cache.value()},
                      {"total", (estimate.weights + estimate.kv_cache).value()}}},
                    {"alone",
                     {{"first_token_seconds", estimate.first_token},
                      {"step_seconds", estimate.step_alone},
                      {"request_seconds", estimate.alone.request_seconds},
                      {"tokens_per_second", estimate.alone.tokens_per_second}}},
                    {"full",
                     {{"step_seconds", estimate.step_full},
                      {"request_seconds", estimate.full.request_seconds},
                      {"tokens_per_second", estimate.full.tokens_per_second},
                      {"requests_per_second", estimate.full.requests_per_second}}},
                    {"queue", QueueDocument(request, estimate)},
                    {"rate_within_p99", ToJson(estimate.rate_within)},
                    {"hour", CostDocument(estimate.hour)},
                    {"million_tokens", CostDocument(estimate.million)}});
}

std::string ServingPage(const ServingRequest& request, const ServingEstimate& estimate,
                        const Style& style) {
  Table parts({{.title = "PER GPU"}, {.title = "GB", .right = true}});
  parts.Add({{"weights"}, {GigabytesOf(estimate.weights)}});
  parts.Add({{"KV cache"}, {GigabytesOf(estimate.kv_cache)}});
  parts.Add({{"total"}, {GigabytesOf(estimate.weights + estimate.kv_cache)}});
  Table speeds({{.title = "AT ONCE"},
                {.title = "FIRST TOKEN", .right = true},
                {.title = "EACH MORE", .right = true},
                {.title = "REQUEST", .right = true},
                {.title = "TOKENS/S", .right = true},
                {.title = "REQUESTS/S", .right = true}});
  speeds.Add({{"1"},
              {SpanText(estimate.first_token)},
              {SpanText(estimate.step_alone)},
              {SpanText(estimate.alone.request_seconds)},
              {ShortNumber(estimate.alone.tokens_per_second)},
              {ShortNumber(estimate.alone.requests_per_second)}});
  speeds.Add({{absl::StrCat(std::uint64_t{request.batch} * request.copies)},
              {""},
              {SpanText(estimate.step_full)},
              {SpanText(estimate.full.request_seconds)},
              {ShortNumber(estimate.full.tokens_per_second)},
              {ShortNumber(estimate.full.requests_per_second)}});
  const std::string queue = QueueText(request, estimate);
  const std::string cost = CostText(estimate);
  return absl::StrCat(
      Counted(request.gpus, "GPU"), request.gpu.name.empty() ? "" : " ", request.gpu.name, ": ",
      request.copies == 1 ? std::string("1 copy") : absl::StrCat(request.copies, " copies"),
      " x tp ", request.tensor_parallel, ", each with ", Counted(request.batch, "sequence"), " of ",
      request.prompt, " + ", request.output, " tokens (", request.batch_most, " fit)\n\n",
      parts.Print(style), "\n", speeds.Print(style), queue.empty() ? "" : "\n", queue,
      cost.empty() ? "" : "\n", cost);
}

}  // namespace muster::cli
