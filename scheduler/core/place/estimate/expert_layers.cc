#include "scheduler/core/place/estimate/expert_layers.h"

#include <cmath>
#include <limits>

#include "absl/numeric/int128.h"
#include "scheduler/base/status.h"

namespace muster::core {
namespace {

constexpr std::uint64_t kMatricesOfAnExpert = 3;

}  // namespace

std::optional<std::uint64_t> ExpertParameters(const ExpertShape& shape) {
  absl::uint128 product = kMatricesOfAnExpert;
  for (const std::uint64_t factor : {shape.layers, shape.experts, shape.hidden, shape.inner}) {
    product *= factor;
    if (product > std::numeric_limits<std::uint64_t>::max()) {
      return std::nullopt;
    }
  }
  return absl::Uint128Low64(product);
}

std::uint64_t ActiveParameters(std::uint64_t parameters, const ExpertShape& shape) {
  const std::uint64_t experts = ExpertParameters(shape).value_or(parameters);
  MUSTER_CHECK(experts <= parameters && shape.active <= shape.experts && shape.experts > 0);
  const absl::uint128 used =
      (absl::uint128(experts) * shape.active + shape.experts - 1) / shape.experts;
  return parameters - experts + absl::Uint128Low64(used);
}

double UsedExperts(const ExpertShape& shape, double tokens) {
  const double part = static_cast<double>(shape.active) / static_cast<double>(shape.experts);
  return 1 - std::pow(1 - part, tokens);
}

}  // namespace muster::core
