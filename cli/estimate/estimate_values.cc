#include "cli/estimate/estimate_values.h"

#include <optional>

#include "cli/parse/number.h"
#include "cli/parse/scaled_number.h"
#include "scheduler/base/decimal.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr std::uint32_t kUsualActive = 2;
constexpr int kAmountDecimals = 6;
constexpr double kAmountUnit = 1e6;
constexpr std::uint64_t kAmountMost = 1'000'000'000'000'000'000;

absl::Status CheckExperts(const Invocation& invocation) {
  if (!invocation.Has("experts")) {
    for (const char* name : {"experts-active", "expert-size", "expert-layers", "ep"}) {
      if (invocation.Has(name)) {
        return absl::InvalidArgumentError(absl::StrCat("--", name, ": it goes with --experts"));
      }
    }
    return absl::OkStatus();
  }
  for (const char* name : {"expert-size", "hidden", "layers"}) {
    if (!invocation.Has(name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--", name, ": --experts needs --expert-size, --hidden and --layers: name it, too"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status OptionError(const std::string& name, const absl::Status& status) {
  return absl::InvalidArgumentError(absl::StrCat("--", name, ": ", std::string(status.message())));
}

absl::StatusOr<std::uint32_t> CountOf(const Invocation& invocation, const std::string& name,
                                      std::uint32_t otherwise) {
  if (!invocation.Has(name)) {
    return otherwise;
  }
  const absl::StatusOr<std::uint32_t> count = ParseCount(invocation.Value(name));
  return count.ok() ? count : OptionError(name, count.status());
}

absl::StatusOr<std::uint64_t> ScaledOf(const Invocation& invocation, const std::string& name) {
  const absl::StatusOr<std::uint64_t> number = ParseScaledNumber(invocation.Value(name));
  return number.ok() ? number : OptionError(name, number.status());
}

absl::StatusOr<double> BandwidthOf(const Invocation& invocation, const std::string& name) {
  const absl::StatusOr<std::uint64_t> rate = ParseBandwidth(invocation.Value(name));
  if (!rate.ok()) {
    return OptionError(name, rate.status());
  }
  return static_cast<double>(*rate);
}

absl::StatusOr<double> AmountOf(const Invocation& invocation, const std::string& name) {
  const std::optional<absl::uint128> amount =
      ParseDecimal(invocation.Value(name), kAmountDecimals, kAmountMost, Rounding::kRefuse);
  if (!amount) {
    return absl::InvalidArgumentError(absl::StrCat("--", name, ": ", Quote(invocation.Value(name)),
                                                   " is not an amount: use a number such as 2.5"));
  }
  return static_cast<double>(*amount) / kAmountUnit;
}

absl::StatusOr<double> PartOf(const Invocation& invocation, const std::string& name,
                              double otherwise) {
  if (!invocation.Has(name)) {
    return otherwise;
  }
  const absl::StatusOr<double> part = AmountOf(invocation, name);
  if (!part.ok() || *part <= 0 || *part > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": ", Quote(invocation.Value(name)),
                     " is not a part: use a number above 0 and up to 1, such as 0.4"));
  }
  return *part;
}

absl::StatusOr<std::uint64_t> ParametersOf(const Invocation& invocation) {
  if (!invocation.Has("params")) {
    return absl::InvalidArgumentError("--params: name it, like --params 7e9");
  }
  return ScaledOf(invocation, "params");
}

absl::StatusOr<std::optional<core::ExpertShape>> ExpertsOf(const Invocation& invocation,
                                                           std::uint64_t parameters) {
  RETURN_IF_ERROR(CheckExperts(invocation));
  if (!invocation.Has("experts")) {
    return std::optional<core::ExpertShape>();
  }
  core::ExpertShape shape;
  ASSIGN_OR_RETURN(shape.experts, CountOf(invocation, "experts", 1));
  ASSIGN_OR_RETURN(shape.active, CountOf(invocation, "experts-active", kUsualActive));
  ASSIGN_OR_RETURN(shape.hidden, CountOf(invocation, "hidden", 1));
  ASSIGN_OR_RETURN(shape.inner, CountOf(invocation, "expert-size", 1));
  ASSIGN_OR_RETURN(const std::uint32_t layers, CountOf(invocation, "layers", 1));
  ASSIGN_OR_RETURN(shape.layers, CountOf(invocation, "expert-layers", layers));
  if (shape.active > shape.experts) {
    return absl::InvalidArgumentError(absl::StrCat("--experts-active: ", shape.active, " of ",
                                                   shape.experts, " experts: use no more"));
  }
  if (shape.layers > layers) {
    return absl::InvalidArgumentError(
        absl::StrCat("--expert-layers: ", shape.layers, " of ", layers, " layers: use no more"));
  }
  const std::optional<std::uint64_t> held = core::ExpertParameters(shape);
  if (!held || *held > parameters) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--experts: they hold ", held ? absl::StrCat(*held) : std::string("more than 2^64"),
        " parameters, --params says ", parameters, " in all: use figures of one model"));
  }
  return std::optional(shape);
}

}  // namespace muster::cli
