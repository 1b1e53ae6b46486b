// A program that compiles the precompiled headers of the tests, and does nothing else.
#include <gtest/gtest.h>

TEST(Headers, Compile) {}
