#include "scheduler/settings/price_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr int kPriceDecimals = 6;
constexpr std::uint64_t kPriceMax = 1'000'000'000 * kCostUnit;
constexpr std::size_t kCurrencyBytesMax = 8;

constexpr std::array<std::pair<const char*, std::uint64_t PriceStep::*>, 6> kPriceKeys = {
    {{"cpu_hour", &PriceStep::cpu_hour},
     {"gpu_hour", &PriceStep::gpu_hour},
     {"memory_gib_hour", &PriceStep::memory_gib_hour},
     {"node_hour", &PriceStep::node_hour},
     {"billing_hour", &PriceStep::billing_hour},
     {"kwh", &PriceStep::kwh}}};

absl::Status ReadStep(ConfigFile& file, const std::string& table, PriceStep& step) {
  for (const auto& [name, member] : kPriceKeys) {
    RETURN_IF_ERROR(file.ReadDecimal(absl::StrCat(table, ".", name), kPriceDecimals, kPriceMax,
                                     &(step.*member)));
  }
  return absl::OkStatus();
}

absl::Status ReadCurrency(ConfigFile& file, Prices& prices) {
  const std::string key = "price.currency";
  RETURN_IF_ERROR(file.ReadString(key, &prices.currency));
  const bool good = !prices.currency.empty() && prices.currency.size() <= kCurrencyBytesMax &&
                    std::none_of(prices.currency.begin(), prices.currency.end(), [](char c) {
                      const auto byte = static_cast<unsigned char>(c);
                      return absl::ascii_isspace(byte) || absl::ascii_iscntrl(byte);
                    });
  return good ? absl::OkStatus()
              : file.ErrorAt(file.Has(key) ? key : "price",
                             "needs currency, a word of at most 8 bytes, such as \"EUR\"");
}

}  // namespace

absl::Status ReadPrices(ConfigFile& file, Prices& prices) {
  if (!file.Has("price")) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(ReadCurrency(file, prices));
  prices.steps = {PriceStep()};
  RETURN_IF_ERROR(ReadStep(file, "price", prices.steps.back()));
  // In the order of their names, which is that of the days.
  for (const std::string& day : file.KeysUnder("price")) {
    const std::string table = absl::StrCat("price.", day);
    if (file.KeysUnder(table).empty()) {
      continue;  // a key: one that there is not is refused with all others
    }
    absl::CivilDay begins;
    if (day.size() != sizeof("2027-01-01") - 1 || !absl::ParseCivilTime(day, &begins)) {
      return file.ErrorAt(table, "is no day: write it as in [price.2027-01-01]");
    }
    PriceStep step = prices.steps.back();
    step.since = Time(Duration(
        absl::ToUnixMillis(absl::FromCivil(absl::CivilSecond(begins), absl::LocalTimeZone()))));
    RETURN_IF_ERROR(ReadStep(file, table, step));
    prices.steps.push_back(step);
  }
  return absl::OkStatus();
}

}  // namespace muster
