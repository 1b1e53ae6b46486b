// Which generations stay: by number, as milestones, by age, by size; in a list and on a disk.

#include "checkpoint/advice/retention.h"

#include <gmock/gmock.h>
#include <rapidcheck.h>

#include <algorithm>

#include "checkpoint/muster_checkpoint.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kNow = 1'000'000'000;

// Generations `count` … 1, a minute apart, of 10 bytes each; the newest was written now.
std::vector<Aged> Minutes(std::uint64_t count) {
  std::vector<Aged> complete;
  for (std::uint64_t i = 0; i < count; ++i) {
    complete.push_back({count - i, kNow - i * 60'000, 10});
  }
  return complete;
}

TEST(RetentionTest, TheNewestSoManyStay) {
  EXPECT_THAT(Surplus(Minutes(5), {.keep = 2}, kNow), ElementsAre(3, 2, 1));
  EXPECT_THAT(Surplus(Minutes(2), {.keep = 2}, kNow), IsEmpty());
  EXPECT_THAT(Surplus({}, {}, kNow), IsEmpty());
}

TEST(RetentionTest, EveryKthIsAMilestone) {
  EXPECT_THAT(Surplus(Minutes(9), {.keep = 1, .milestone = 4}, kNow),
              ElementsAre(7, 6, 5, 3, 2, 1));
}

TEST(RetentionTest, NothingOlderThanTheAgeStaysButTheNewest) {
  EXPECT_THAT(Surplus(Minutes(6), {.keep = 9, .age_s = 120}, kNow), ElementsAre(3, 2, 1));
  EXPECT_THAT(Surplus(Minutes(4), {.keep = 1, .milestone = 1, .age_s = 61}, kNow),
              ElementsAre(2, 1));
  EXPECT_THAT(Surplus(Minutes(2), {.keep = 2, .age_s = 1}, kNow + 3'600'000), ElementsAre(1));
  EXPECT_THAT(Surplus(Minutes(3), {.keep = 3, .age_s = 1}, 0), IsEmpty()) << "the clock went back";
}

TEST(RetentionTest, NoMoreBytesStayThanTheDirectoryMayTakeButTheNewest) {
  EXPECT_THAT(Surplus(Minutes(5), {.keep = 9, .bytes = 30}, kNow), ElementsAre(2, 1));
  EXPECT_THAT(Surplus(Minutes(5), {.keep = 9, .bytes = 39}, kNow), ElementsAre(2, 1));
  EXPECT_THAT(Surplus(Minutes(3), {.keep = 9, .bytes = 5}, kNow), ElementsAre(2, 1));
}

TEST(RetentionTest, WhateverIsWantedTheNewestStaysAndTheRestIsWithinBounds) {
  EXPECT_TRUE(rc::check([] {
    std::vector<Aged> complete = Minutes(*rc::gen::inRange<std::uint64_t>(1, 30));
    for (Aged& each : complete) {
      each.bytes = *rc::gen::inRange<std::uint64_t>(0, 50);
    }
    Retention retention;
    retention.keep = *rc::gen::inRange<std::uint32_t>(1, 10);
    retention.milestone = *rc::gen::inRange<std::uint64_t>(0, 5);
    retention.age_s = *rc::gen::inRange(0, 900);
    retention.bytes = *rc::gen::inRange<std::uint64_t>(0, 200);
    const std::vector<std::uint64_t> gone = Surplus(complete, retention, kNow);
    std::uint64_t bytes = 0;
    for (const Aged& each : complete) {
      if (std::find(gone.begin(), gone.end(), each.number) == gone.end()) {
        bytes += each.bytes;
        RC_ASSERT(retention.age_s == 0 || &each == complete.data() ||
                  static_cast<double>(kNow - each.written_ms) <= retention.age_s * 1000);
      }
    }
    RC_ASSERT(std::find(gone.begin(), gone.end(), complete[0].number) == gone.end());
    RC_ASSERT(retention.bytes == 0 || bytes <= std::max(retention.bytes, complete[0].bytes));
  }));
}

class RetentionOnDisk : public StoreFiles {
 protected:
  std::vector<int> Left() {
    std::vector<int> left;
    for (int number = 1; number < 10; ++number) {
      if (fs::exists(Generation(number))) {
        left.push_back(number);
      }
    }
    return left;
  }
  // Saves `count` times with what C programs may ask for.
  void Save(int count, void (*change)(muster_checkpoint_options*)) {
    const std::string path = directory_.string();
    muster_checkpoint_options options{};
    options.directory = path.c_str();
    options.keep = 1;
    change(&options);
    muster_checkpoint* session = nullptr;
    std::vector<char> state(1000);
    ASSERT_EQ(muster_checkpoint_open(&options, &session, nullptr, 0), MUSTER_CHECKPOINT_OK);
    ASSERT_EQ(muster_checkpoint_protect(session, "state", state.data(), state.size()), 0);
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(muster_checkpoint_save(session), 0) << muster_checkpoint_error(session);
    }
    muster_checkpoint_close(session);
  }
};

TEST_F(RetentionOnDisk, MilestonesOutliveTheNewest) {
  Save(7, [](muster_checkpoint_options* options) { options->milestone = 3; });
  EXPECT_THAT(Left(), ElementsAre(3, 6, 7));
}

TEST_F(RetentionOnDisk, TheDirectoryTakesNoMoreThanItsQuota) {
  Save(5, [](muster_checkpoint_options* options) {
    options->keep = 9;
    options->bytes_max = 3000;  // a shard has its head besides
  });
  EXPECT_THAT(Left(), ElementsAre(4, 5));
}

TEST_F(RetentionOnDisk, WhatIsOldGoes) {
  Save(2, [](muster_checkpoint_options* options) { options->keep = 9; });
  usleep(30'000);
  Save(1, [](muster_checkpoint_options* options) {
    options->keep = 9;
    options->age_s = 0.01;
  });
  EXPECT_THAT(Left(), ElementsAre(3));
}

}  // namespace
}  // namespace muster::checkpoint
