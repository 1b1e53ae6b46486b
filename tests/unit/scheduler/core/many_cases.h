#pragma once

// Properties that are cheap enough to be tried on many more cases than RapidCheck's hundred.
//
// Header-only. Thread promise: one thread at a time. Invariant: RC_PARAMS still decides on the seed
// and the sizes.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>
#include <utility>

namespace muster::core::testing {

inline constexpr int kManyCases = 10'000;

template <class Property>
void HoldsInManyCases(Property&& property) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = kManyCases;
  const rc::detail::TestResult result = rc::detail::checkTestable(
      std::forward<Property>(property), rc::detail::TestMetadata(), params);
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  EXPECT_TRUE(result.template is<rc::detail::SuccessResult>()) << text.str();
}

}  // namespace muster::core::testing
