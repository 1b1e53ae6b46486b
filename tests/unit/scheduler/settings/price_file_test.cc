#include "scheduler/settings/price_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "scheduler/model/settings/prices.h"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

absl::StatusOr<Prices> Read(const std::string& text) {
  auto file = ConfigFile::Parse(text, "muster.toml");
  EXPECT_TRUE(file.ok()) << file.status();
  Prices prices;
  absl::Status read = ReadPrices(*file, prices);
  read = read.ok() ? file->RefuseUnknownKeys() : read;
  return read.ok() ? absl::StatusOr<Prices>(prices) : read;
}

std::string Refusal(const std::string& text) {
  return std::string(Read(text).status().message());
}

TEST(PriceFileTest, ASiteWithoutPricesHasNone) {
  EXPECT_EQ(Read("").value(), Prices());
}

TEST(PriceFileTest, PricesAreReadExactly) {
  const Prices prices =
      Read(
          "[price]\ncurrency = \"EUR\"\ncpu_hour = 0.1\ngpu_hour = 2\nmemory_gib_hour = 0.000001\n"
          "node_hour = \"0.25\"\nbilling_hour = 1e-2\nkwh = 0.30\n")
          .value();
  EXPECT_EQ(prices.currency, "EUR");
  ASSERT_THAT(prices.steps, SizeIs(1));
  EXPECT_EQ(prices.steps[0], (PriceStep{kNoTime, 100'000, 2'000'000, 1, 250'000, 10'000, 300'000}));
}

TEST(PriceFileTest, FromADayOnAPriceIsAnotherAndTheOthersStay) {
  const Prices prices = Read(
                            "[price.2027-07-01]\ncpu_hour = 3\n[price]\ncurrency = \"€\"\n"
                            "cpu_hour = 1\nkwh = 7\n[price.2027-01-01]\ncpu_hour = 2\n")
                            .value();
  ASSERT_THAT(prices.steps, SizeIs(3));
  EXPECT_EQ(prices.steps[0].since, kNoTime);
  const absl::Time january =
      absl::FromCivil(absl::CivilSecond(2027, 1, 1, 0, 0, 0), absl::LocalTimeZone());
  EXPECT_EQ(prices.steps[1].since, Time(Duration(absl::ToUnixMillis(january))));
  EXPECT_EQ(prices.steps[1].cpu_hour, 2 * kCostUnit);
  EXPECT_EQ(prices.steps[2].cpu_hour, 3 * kCostUnit);
  EXPECT_EQ(prices.steps[2].kwh, 7 * kCostUnit);
}

TEST(PriceFileTest, WhatIsNoPriceIsSaidWithItsLine) {
  const std::string head = "[price]\ncurrency = \"EUR\"\n";
  for (const char* number : {"-1", "0.0000001", "1000000001", "nan", "\"much\"", "true", "[1]"}) {
    EXPECT_EQ(
        Refusal(head + "cpu_hour = " + number),
        "muster.toml:3: price.cpu_hour: expected a number from 0 to 1000000000, with at most 6 "
        "decimals")
        << number;
  }
  EXPECT_THAT(Refusal(head + "gpuhour = 1"), HasSubstr("muster.toml:3: price.gpuhour"));
  EXPECT_THAT(Refusal("[price]\ncpu_hour = 1"), HasSubstr("muster.toml:1: price: needs currency"));
  EXPECT_THAT(Refusal("[price]\ncurrency = \"so much money\""),
              HasSubstr("muster.toml:2: price.currency: needs currency"));
  EXPECT_THAT(Refusal("[price]\ncurrency = 3"), HasSubstr("muster.toml:2: price.currency"));
  for (const char* day : {"2027-02-30", "2027-1-1", "march", "2027"}) {
    EXPECT_THAT(Refusal(head + "[price." + day + "]\nkwh = 1"), HasSubstr("is no day")) << day;
  }
  EXPECT_THAT(Refusal(head + "[price.2027-01-01]\nwatt = 1"),
              HasSubstr("muster.toml:4: price.2027-01-01.watt"));
}

}  // namespace
}  // namespace muster
