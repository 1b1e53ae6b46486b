#include "scheduler/core/place/estimate/serving_roofline.h"

#include <algorithm>
#include <limits>

#include "absl/numeric/int128.h"
#include "scheduler/base/status.h"

namespace muster::core {
namespace {

using Wide = absl::uint128;

constexpr double kOperationsForward = 2;  // of a parameter: a product and a sum

std::optional<Bytes> BytesOfBits(Wide bits) {
  const Wide bytes = (bits + 7) / 8;
  if (bytes > std::numeric_limits<std::uint64_t>::max()) {
    return std::nullopt;
  }
  return Bytes(absl::Uint128Low64(bytes));
}

double AsDouble(std::optional<Bytes> bytes) {
  MUSTER_CHECK(bytes.has_value());
  return static_cast<double>(bytes->value());
}

double ActiveOf(const ServedModel& model) {
  return static_cast<double>(model.experts ? ActiveParameters(model.parameters, *model.experts)
                                           : model.parameters);
}

// The weights that a step with `tokens` tokens reads.
double WeightsRead(const ServedModel& model, double tokens) {
  const double all = AsDouble(WeightBytes(model));
  if (!model.experts) {
    return all;
  }
  const double experts =
      static_cast<double>(ExpertParameters(*model.experts).value_or(0)) * model.weight_bits / 8;
  return all - experts * (1 - UsedExperts(*model.experts, tokens));
}

double Roofline(const ServedModel& model, const ServingGpus& gpus, double tokens, double bytes) {
  return std::max(kOperationsForward * ActiveOf(model) * tokens / (gpus.count * gpus.flops),
                  bytes / (gpus.count * gpus.bytes_per_second));
}

}  // namespace

std::optional<Bytes> WeightBytes(const ServedModel& model) {
  return BytesOfBits(Wide(model.parameters) * model.weight_bits);
}

std::optional<Bytes> KvBytesPerToken(const ServedModel& model) {
  Wide bits = Wide(2) * model.kv_bits;
  for (const std::uint64_t factor : {model.layers, model.kv_heads, model.head_size}) {
    bits *= factor;
    if (bits > std::numeric_limits<std::uint64_t>::max()) {
      return std::nullopt;
    }
  }
  return BytesOfBits(bits);
}

std::uint64_t SequencesThatFit(const ServedModel& model, Bytes memory, std::uint64_t context) {
  const std::optional<Bytes> weights = WeightBytes(model);
  const std::optional<Bytes> token = KvBytesPerToken(model);
  if (!weights || !token || *weights >= memory) {
    return 0;
  }
  const Wide sequence = std::max(Wide(1), Wide(token->value()) * context);
  return absl::Uint128Low64(Wide((memory - *weights).value()) / sequence);
}

double PrefillSeconds(const ServedModel& model, const ServingGpus& gpus, double prompt) {
  return Roofline(model, gpus, prompt, WeightsRead(model, prompt));
}

double DecodeSeconds(const ServedModel& model, const ServingGpus& gpus, double batch,
                     double context) {
  const double cache = batch * context * AsDouble(KvBytesPerToken(model));
  return Roofline(model, gpus, batch, WeightsRead(model, batch) + cache);
}

FullServing ServeFull(const ServedModel& model, const ServingGpus& gpus, double batch,
                      double prompt, double output) {
  // On average a sequence has written half of its output.
  const double step = DecodeSeconds(model, gpus, batch, prompt + output / 2);
  const double seconds = batch * PrefillSeconds(model, gpus, prompt) + output * step;
  return {seconds, batch / seconds, batch * output / seconds};
}

}  // namespace muster::core
