#include "daemon/store/rows/meta_rows.h"

#include <gtest/gtest.h>

#include "tests/unit/daemon/store/store_rig.h"

namespace muster::daemon {
namespace {

class MetaRowsTest : public StoreTest {
 protected:
  void SetUp() override {
    Open();
    auto database = LookInto(directory_.path());
    ASSERT_TRUE(database.ok()) << database.status();
    database_ = *std::move(database);
  }
  std::int64_t Number() { return ReadMeta(*database_, "some").value_or(-1); }
  std::unique_ptr<Database> database_;
};

TEST_F(MetaRowsTest, ANumberThatWasNeverPutIsNone) {
  EXPECT_EQ(Number(), 0);
}

TEST_F(MetaRowsTest, PuttingReplacesAndRaisingNeverLowers) {
  ASSERT_TRUE(PutMeta(*database_, "some", 7).ok());
  ASSERT_TRUE(RaiseMeta(*database_, "some", 5).ok());
  EXPECT_EQ(Number(), 7);
  ASSERT_TRUE(RaiseMeta(*database_, "some", 9).ok());
  EXPECT_EQ(Number(), 9);
  ASSERT_TRUE(PutMeta(*database_, "some", 2).ok());
  EXPECT_EQ(Number(), 2);
}

}  // namespace
}  // namespace muster::daemon
