#include "scheduler/base/text/named_values.h"

#include <gtest/gtest.h>

#include <cmath>

namespace muster {
namespace {

TEST(NamedValuesTest, WordsAreNamesAndNumbers) {
  const auto values = ParseNamedValues("loss=0.25 step=400\ttrain/lr=1e-4\n");
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(*values, (std::vector<NamedValue>{{"loss", 0.25}, {"step", 400}, {"train/lr", 1e-4}}));
  EXPECT_TRUE(std::isnan(ParseNamedValues("loss=nan")->at(0).value));
  EXPECT_TRUE(std::isinf(ParseNamedValues("loss=-inf")->at(0).value));
}

TEST(NamedValuesTest, WhatIsNoneIsNamed) {
  for (const char* wrong : {"loss", "loss=", "=1", "loss=0.3x", "1loss=3", "lo ss=3", "lo\x01ss=3",
                            "loss=1 loss=2", "", "   "}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseNamedValues(wrong).status())) << wrong;
  }
  EXPECT_NE(std::string(ParseNamedValues("ok=1 loss=x").status().message()).find("\"loss=x\""),
            std::string::npos);
}

TEST(NamedValuesTest, LengthAndNumberOfWordsAreBounded) {
  EXPECT_TRUE(IsValueName(std::string(kValueNameBytesMax, 'a')));
  EXPECT_FALSE(IsValueName(std::string(kValueNameBytesMax + 1, 'a')));
  std::string text;
  for (std::size_t i = 0; i < kNamedValuesMax; ++i) {
    text += "v" + std::to_string(i) + "=1 ";
  }
  EXPECT_EQ(ParseNamedValues(text)->size(), kNamedValuesMax);
  EXPECT_FALSE(ParseNamedValues(text + "more=1").ok());
  EXPECT_FALSE(ParseNamedValues("a=1" + std::string(kNamedValuesBytesMax, ' ')).ok());
}

}  // namespace
}  // namespace muster
