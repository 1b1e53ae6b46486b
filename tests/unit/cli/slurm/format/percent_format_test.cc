#include "cli/slurm/format/percent_format.h"

#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

TEST(PercentFormat, AWidthAndADotAreOfTheFieldAndWhatFollowsIsBehindIt) {
  const PercentFormat format = ParsePercentFormat("%.18i %9P|%j");
  EXPECT_EQ(format.prefix, "");
  ASSERT_EQ(format.fields.size(), 3U);
  EXPECT_EQ(format.fields[0].letter, 'i');
  EXPECT_EQ(format.fields[0].slot, (Slot{.width = 18, .right = true, .suffix = " "}));
  EXPECT_EQ(format.fields[1].slot, (Slot{.width = 9, .right = false, .suffix = "|"}));
  EXPECT_EQ(format.fields[2].slot, Slot());
}

TEST(PercentFormat, WhatStandsBeforeTheFirstSignBeginsEachLine) {
  const PercentFormat format = ParsePercentFormat(" lead %i trail ");
  EXPECT_EQ(format.prefix, " lead ");
  ASSERT_EQ(format.fields.size(), 1U);
  EXPECT_EQ(format.fields[0].slot.suffix, " trail ");
  EXPECT_EQ(ParsePercentFormat("plain").prefix, "plain");
  EXPECT_TRUE(ParsePercentFormat("plain").fields.empty());
}

TEST(PercentFormat, ARunOfSignsCountsAsOne) {
  EXPECT_EQ(ParsePercentFormat("%%i %%%j"), ParsePercentFormat("%i %j"));
}

TEST(PercentFormat, ASignAtTheEndAsksForNothing) {
  EXPECT_EQ(ParsePercentFormat("%i%").fields.size(), 1U);
  EXPECT_EQ(ParsePercentFormat("%.5").fields.size(), 0U);
  EXPECT_EQ(ParsePercentFormat("").fields.size(), 0U);
}

TEST(PercentFormat, AWidthBeyondReasonIsBounded) {
  EXPECT_EQ(ParsePercentFormat("%99999999999999999999i").fields[0].slot.width, 4096U);
}

}  // namespace
}  // namespace muster::cli::slurm
