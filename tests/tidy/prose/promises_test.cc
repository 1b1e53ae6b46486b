#include "tests/tidy/prose/promises.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::tidy {
namespace {

size_t Found(const std::string& promise) {
  return CheckThreadPromises(
             MakeSource("a.h",
                        "#pragma once\n\n// What.\n//\n// More. " + promise +
                            " Invariants: (1) it holds.\n\nint a;  // Thread promise: pure.\n"))
      .size();
}

TEST(ThreadPromises, ThoseOfEveryHeaderAreFound) {
  EXPECT_EQ(Found("Thread promise: pure."), 1U);
  EXPECT_EQ(Found("Thread\n// promise: plain\n// values."), 1U);
  EXPECT_EQ(Found("Thread promise: pure functions of their arguments."), 1U);
  EXPECT_EQ(Found("Thread promise: plain values and pure functions."), 1U);
  EXPECT_EQ(Found("Thread promise: values, no sharing; safe from any thread."), 1U);
  EXPECT_EQ(CheckThreadPromises(MakeSource("a.h", "#pragma once\n\n// A. Thread promise: pure.\n"))
                .size(),
            1U);
}

TEST(ThreadPromises, ThoseThatNameAThreadOrALockMayStand) {
  EXPECT_EQ(Found("Thread promise: the loop's thread."), 0U);
  EXPECT_EQ(Found("Thread promise: safe from any thread; each call blocks its own."), 0U);
  EXPECT_EQ(Found("Thread promise: plain values, moved from one thread to the other."), 0U);
  EXPECT_EQ(Found("It is pure."), 0U);
  EXPECT_TRUE(
      CheckThreadPromises(MakeSource("a.cc", "// A. Thread promise: pure.\nint a;\n")).empty());
  EXPECT_TRUE(CheckThreadPromises(MakeSource("a.h", "#pragma once\nint a;\n")).empty());
}

}  // namespace
}  // namespace muster::tidy
