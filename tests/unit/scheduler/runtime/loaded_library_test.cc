#include "scheduler/runtime/loaded_library.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

using Cosine = double(double);

TEST(LoadedLibrary, ItsEntryPointsCanBeCalled) {
  LoadedLibrary library("libm.so.6");
  ASSERT_TRUE(library.loaded());
  Cosine* cosine = nullptr;
  library.Need("cos", cosine);
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
  EXPECT_EQ(library.missing(), "");
}

TEST(LoadedLibrary, WhatItHasNotIsNamedOnlyWhereItIsNeeded) {
  LoadedLibrary library("libm.so.6");
  Cosine* none = nullptr;
  library.Find("no_such_function", none);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(library.missing(), "");
  library.Need("no_such_function", none);
  EXPECT_EQ(library.missing(), "no_such_function");
}

TEST(LoadedLibrary, AMissingLibraryIsNoEnd) {
  EXPECT_FALSE(LoadedLibrary("libmuster-nothing.so.0").loaded());
}

}  // namespace
}  // namespace muster
