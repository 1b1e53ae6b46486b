#include "scheduler/core/state/apply/request_tokens.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace muster::core {
namespace {

TEST(RequestTokens, TheFirstThatATokenMadeStays) {
  RequestTokens tokens;
  tokens.Remember(TokenOwner{"a", JobId(1), StepId()});
  tokens.Remember(TokenOwner{"a", JobId(2), StepId()});
  tokens.Remember(TokenOwner{"", JobId(3), StepId()});
  ASSERT_NE(tokens.Find("a"), nullptr);
  EXPECT_EQ(tokens.Find("a")->job, JobId(1));
  EXPECT_EQ(tokens.Find("b"), nullptr);
  EXPECT_EQ(tokens.Find(""), nullptr);
}

TEST(RequestTokens, TheOldestGoesWhenThereAreTooMany) {
  RequestTokens tokens;
  for (std::size_t i = 0; i <= RequestTokens::kMax; ++i) {
    tokens.Remember(TokenOwner{absl::StrCat(i), JobId(i + 1), StepId()});
  }
  EXPECT_EQ(tokens.Find("0"), nullptr);
  EXPECT_NE(tokens.Find("1"), nullptr);
  EXPECT_NE(tokens.Find(absl::StrCat(RequestTokens::kMax)), nullptr);
}

TEST(RequestTokens, ACopyIsAStateOfItsOwn) {
  RequestTokens tokens;
  tokens.Remember(TokenOwner{"a", JobId(1), StepId()});
  RequestTokens copy = tokens;
  copy.Remember(TokenOwner{"b", JobId(2), StepId()});
  EXPECT_EQ(tokens.Find("b"), nullptr);
  EXPECT_NE(copy.Find("a"), nullptr);
}

}  // namespace
}  // namespace muster::core
