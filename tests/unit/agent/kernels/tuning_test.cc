#include "agent/kernels/harness/tuning.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "agent/kernels/harness/kept_json.h"
#include "agent/kernels/harness/node_facts.h"

namespace muster::kernels {
namespace {

using Json = nlohmann::ordered_json;

const TuningKey kKey = {"gemm", "64x64x64", "float32", "a processor, AVX2, 2 threads"};

class TuningTest : public ::testing::Test {
 protected:
  TuningTest()
      : folder_(::testing::TempDir() + "/tuning_" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()),
        file_(folder_ + "/tuning.json") {
    std::filesystem::remove_all(folder_);
  }
  ~TuningTest() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
  std::string file_;
};

TEST_F(TuningTest, WhatWasKeptIsFoundByItsWholeKey) {
  EXPECT_EQ(FindTuning(kKey, file_, ""), std::nullopt);
  KeepTuning(kKey, file_, {{"rows", 66}});
  EXPECT_EQ(FindTuning(kKey, file_, ""), (Json{{"rows", 66}}));
  for (auto member :
       {&TuningKey::kernel, &TuningKey::shape, &TuningKey::type, &TuningKey::architecture}) {
    TuningKey other = kKey;
    other.*member += "x";
    EXPECT_EQ(FindTuning(other, file_, ""), std::nullopt) << other.*member;
  }
}

TEST_F(TuningTest, TheClustersWordCountsWhereTheNodeHasNone) {
  const std::string given = Json::array({TuningJson(kKey, {{"rows", 48}})}).dump();
  EXPECT_EQ(FindTuning(kKey, file_, given), (Json{{"rows", 48}}));
  KeepTuning(kKey, file_, {{"rows", 66}});
  EXPECT_EQ(FindTuning(kKey, file_, given), (Json{{"rows", 66}}));
}

TEST_F(TuningTest, ATuningOfAnotherVersionIsNotUsedAndGoesWhenTheNextIsKept) {
  Json old = TuningJson(kKey, {{"rows", 48}});
  old["version"] = kKernelsVersion + 1;
  EXPECT_EQ(FindTuning(kKey, file_, Json::array({old}).dump()), std::nullopt);
  StoreKept(file_, {{"gemm 64x64x64 float32 on it, kernels 0", {{"rows", 48}}}});
  KeepTuning(kKey, file_, {{"rows", 66}});
  EXPECT_EQ(LoadKept(file_).size(), 1U);
}

TEST_F(TuningTest, WhatIsNoTuningIsNone) {
  for (const char* text : {"", "{", "{}", "[3]", R"([{"kernel":3}])"}) {
    std::filesystem::create_directories(folder_);
    std::ofstream(file_) << text;
    EXPECT_EQ(FindTuning(kKey, file_, text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace muster::kernels
