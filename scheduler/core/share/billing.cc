#include "scheduler/core/share/billing.h"

#include <algorithm>
#include <array>
#include <string>

#include "absl/numeric/int128.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/decimal.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/units.h"

namespace muster::core {
namespace {

constexpr int kWeightDecimals = 6;
constexpr std::uint64_t kWeightMax = 1'000'000'000'000'000;  // a thousand million
constexpr std::size_t kNameBytesMax = 255;
constexpr std::uint32_t kMebibyteBits = 20;
constexpr std::array<std::string_view, 7> kPlainNames = {"cpu",     "mem",  "node", "energy",
                                                         "billing", "vmem", "pages"};
constexpr std::array<std::string_view, 5> kNamedKinds = {"gres", "license", "bb", "fs", "ic"};
constexpr std::string_view kUnits = "KMGTP";  // 2^10, 2^20, … bytes

absl::Status Fault(std::string_view item, const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::CEscape(std::string(item.substr(0, kNameBytesMax))), "\" ", text));
}

std::string Lower(std::string_view text) {
  return absl::AsciiStrToLower(std::string(text));
}

// The kind before the slash, in lower case.
std::string KindOf(std::string_view tres) {
  return Lower(tres.substr(0, tres.find('/')));
}

bool IsInBytes(const std::string& kind) {
  return kind == "mem" || kind == "bb";
}

// The name as we write it, or "" when it is none.
std::string ReadName(std::string_view text) {
  const std::string kind = KindOf(text);
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    return Contains(kPlainNames, kind) ? kind : "";
  }
  const std::string name(text.substr(slash + 1));
  const bool good = Contains(kNamedKinds, kind) && !name.empty() && name.size() <= kNameBytesMax &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return absl::ascii_isgraph(static_cast<unsigned char>(c));
                    });
  return good ? absl::StrCat(kind, "/", name) : "";
}

absl::StatusOr<TresWeight> ReadWeight(std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos) {
    return Fault(item, "is not a weight: use NAME=WEIGHT, such as CPU=1.0");
  }
  TresWeight weight;
  weight.tres = ReadName(item.substr(0, equals));
  if (weight.tres.empty()) {
    return Fault(item.substr(0, equals),
                 "is not a resource: use cpu, mem, node, energy, gres/NAME, license/NAME, bb/NAME "
                 "or fs/NAME");
  }
  std::string_view number = item.substr(equals + 1);
  const std::string kind = KindOf(weight.tres);
  weight.unit_bits = kind == "mem" ? kMebibyteBits : 0;
  const std::size_t unit =
      number.empty() ? std::string::npos
                     : kUnits.find(absl::ascii_toupper(static_cast<unsigned char>(number.back())));
  if (unit != std::string::npos) {
    if (!IsInBytes(kind)) {
      return Fault(item, "has a unit, but is not in bytes: leave the letter out");
    }
    weight.unit_bits = static_cast<std::uint32_t>(10 * (unit + 1));
    number.remove_suffix(1);
  }
  const std::optional<absl::uint128> value =
      ParseDecimal(number, kWeightDecimals, kWeightMax, Rounding::kRefuse);
  if (!value) {
    return Fault(item,
                 "has no good weight: use a decimal number from 0 to 1000000000, with six "
                 "decimals at most, such as 0.25");
  }
  weight.weight = absl::Uint128Low64(*value);
  return weight;
}

// What `amount` costs by the weights of its name, in millionths. One term is below 2^114.
absl::uint128 Weighted(const TresAmount& amount, const std::vector<TresWeight>& weights) {
  absl::uint128 cost = 0;
  for (const TresWeight& weight : weights) {
    if (weight.tres == amount.tres) {
      cost += (absl::uint128(weight.weight) * amount.amount) >> static_cast<int>(weight.unit_bits);
    }
  }
  return cost;
}

bool IsLargestOnly(const std::string& tres, BillingRule rule) {
  const std::string kind = KindOf(tres);
  return rule != BillingRule::kSum && (kind == "cpu" || kind == "mem" || kind == "node" ||
                                       (kind == "gres" && rule == BillingRule::kMaxTres));
}

}  // namespace

absl::StatusOr<std::vector<TresWeight>> ParseTresWeights(std::string_view text) {
  std::vector<TresWeight> weights;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    ASSIGN_OR_RETURN(TresWeight weight, ReadWeight(text.substr(0, comma)));
    for (const TresWeight& other : weights) {
      if (other.tres == weight.tres) {
        return Fault(weight.tres, "has two weights: leave one of them out");
      }
    }
    weights.push_back(std::move(weight));
    if (comma + 1 == text.size()) {
      return Fault(text, "ends in a comma: leave it out");
    }
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return weights;
}

BillingRate Billing(const std::vector<TresAmount>& amounts, const std::vector<TresWeight>& weights,
                    BillingRule rule) {
  const absl::uint128 most = kBillingRateMax.value();
  absl::uint128 sum = 0;
  absl::uint128 largest = 0;
  for (const TresAmount& amount : amounts) {
    const absl::uint128 cost = std::min(Weighted(amount, weights), most);
    if (IsLargestOnly(amount.tres, rule)) {
      largest = std::max(largest, cost);
    } else {
      sum = std::min(sum + cost, most);
    }
  }
  return BillingRate(absl::Uint128Low64(std::min(sum + largest, most)));
}

BillingRate BillingOf(const TresUse& held, std::uint32_t usage_factor,
                      const PriorityConfig& config) {
  // With parts of GPUs everything is reckoned in thousandths.
  const bool parts = std::any_of(held.gpus.begin(), held.gpus.end(), [](const auto& model) {
    return model.second % kWholeGpu.value() != 0;
  });
  const std::uint64_t unit = parts ? kWholeGpu.value() : 1;
  const std::uint64_t gpu_unit = kWholeGpu.value() / unit;
  std::vector<TresAmount> amounts = {
      {"cpu", held.cpus * unit}, {"mem", held.memory * unit}, {"node", held.nodes * unit}};
  std::uint64_t gpus = 0;
  for (const auto& [model, thousandths] : held.gpus) {
    const std::uint64_t count = thousandths / gpu_unit;
    gpus += count;
    if (!model.empty()) {
      amounts.push_back({"gres/gpu:" + model, count});
    }
  }
  amounts.push_back({"gres/gpu", gpus});
  const BillingRate rate = Billing(amounts, config.billing, config.billing_rule);
  const absl::uint128 scaled = absl::uint128(rate.value()) * usage_factor / 1000 / unit;
  return BillingRate(
      static_cast<std::uint64_t>(std::min<absl::uint128>(scaled, kBillingRateMax.value())));
}

}  // namespace muster::core
