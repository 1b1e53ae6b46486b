#include "cli/drill/drilled_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cli/drill/generation_print.h"
#include "tests/unit/checkpoint/store_files.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

// A directory of job 12's checkpoints, and another for its drill.
class DrilledCheckpointTest : public checkpoint::StoreFiles {
 protected:
  void SetUp() override {
    StoreFiles::SetUp();
    copy_ = directory_ / "copy";
    from_ = directory_ / "from";
    std::filesystem::create_directory(copy_);
    std::filesystem::create_directory(from_);
  }
  [[nodiscard]] static checkpoint::Store At(const std::filesystem::path& path) {
    return checkpoint::Store::Open(checkpoint::Disk::Real(), path.string()).value;
  }
  void Write(const std::string& content, const std::string& job = "12") const {
    checkpoint::Store store = At(from_);
    ASSERT_FALSE(WriteGeneration(&store, content, 9, job).failed());
  }
  void Damage(const std::string& generation) const {
    std::fstream file(from_ / generation / "shard-000001",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('!');
  }
  // Every file and its bytes.
  [[nodiscard]] std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(from_)) {
      if (entry.is_regular_file()) {
        std::ostringstream bytes;
        bytes << std::ifstream(entry.path(), std::ios::binary).rdbuf();
        files[entry.path()] = bytes.str();
      }
    }
    return files;
  }

  std::filesystem::path from_;
  std::filesystem::path copy_;
};

TEST_F(DrilledCheckpointTest, TheNewestOfTheJobIsChosenUnlessOneIsNamed) {
  Write("a");
  Write("b");
  Write("c", "99");
  Write("d", "solver");
  EXPECT_EQ(ChooseGeneration(At(from_), "12", std::nullopt)->number, 4U) << "a name of its own";
  std::filesystem::remove_all(from_ / "gen-0000000004");
  EXPECT_EQ(ChooseGeneration(At(from_), "12", std::nullopt)->number, 2U) << "not job 99's";
  EXPECT_EQ(ChooseGeneration(At(from_), "12", 1)->number, 1U);
  EXPECT_THAT(std::string(ChooseGeneration(At(from_), "12", 3).status().message()),
              HasSubstr("it has 2, 1"));
  EXPECT_THAT(std::string(ChooseGeneration(At(from_), "7", std::nullopt).status().message()),
              HasSubstr("no complete generation"));
}

TEST_F(DrilledCheckpointTest, ADamagedOneIsToldWithTheOneBefore) {
  Write("a");
  Write("b");
  Damage("gen-0000000002");
  const auto chosen = ChooseGeneration(At(from_), "12", std::nullopt);
  ASSERT_TRUE(chosen.ok());
  EXPECT_EQ(chosen->number, 2U);
  EXPECT_THAT(chosen->fault, HasSubstr("shard-000001"));
  EXPECT_EQ(chosen->fallback, 1U);
  Damage("gen-0000000001");
  EXPECT_EQ(ChooseGeneration(At(from_), "12", std::nullopt)->fallback, std::nullopt);
}

TEST_F(DrilledCheckpointTest, TheCopyIsTheOtherJobsAndTheOriginalIsUntouched) {
  Write("a");
  Write("bc");
  const auto before = Contents();
  const auto chosen = ChooseGeneration(At(from_), "12", std::nullopt);
  ASSERT_TRUE(chosen.ok());
  EXPECT_TRUE(
      CopyGeneration(At(from_), chosen->manifest, NameOfCopy("12", "12", "15"), copy_).ok());
  EXPECT_EQ(Contents(), before);
  std::vector<std::string> passed;
  const auto found = At(copy_).ChooseForRestart("15", &passed);
  ASSERT_TRUE(found.ok()) << found.error.text;
  EXPECT_EQ(found.value.generation, 2U);
  EXPECT_FALSE(At(copy_).ChooseForRestart("12", &passed).ok());
  const auto original = PrintOf(At(from_), 2);
  const auto copied = PrintOf(At(copy_), 2);
  ASSERT_TRUE(original.ok() && copied.ok());
  EXPECT_EQ(CompareStates(original.value, copied.value).match, StateMatch::kEqual);
  EXPECT_EQ(CompareStates(original.value, PrintOf(At(from_), 1).value).match, StateMatch::kDiffers);
}

TEST(DrilledCheckpointName, AProgramsOwnNameStays) {
  EXPECT_EQ(NameOfCopy("12", "12", "15"), "15");
  EXPECT_EQ(NameOfCopy("solver", "12", "15"), "solver");
}

}  // namespace
}  // namespace muster::cli
