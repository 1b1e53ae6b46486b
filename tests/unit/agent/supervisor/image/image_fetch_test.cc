#include "agent/supervisor/image/image_fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {
namespace {

using ::testing::HasSubstr;

TEST(ImageFetch, ItsWordsSayWhatWhereHowMuchAndHowLong) {
  const FetchAhead wanted =
      ReadFetchWords({"oci:/a:v1", "/cache/7", "1048576", "30"}, {"HOME=/h"}).value();
  EXPECT_EQ(wanted.image, "oci:/a:v1");
  EXPECT_EQ(wanted.cache, "/cache/7");
  EXPECT_EQ(wanted.cache_size, 1048576U);
  EXPECT_EQ(wanted.tools.patience, std::chrono::seconds(30));
  EXPECT_EQ(wanted.tools.environment, std::vector<std::string>{"HOME=/h"});
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {"a", "b", "c", "30"},
                                                {"a", "b", "1", "-1"},
                                                {"a", "b", "1"}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ReadFetchWords(words, {}).status()));
  }
}

TEST(ImageFetch, AnImageThatIsNotThereIsNamedAndLeavesNothing) {
  const TempDirectory directory;
  const FetchAhead wanted{"oci:/no/such", directory / "cache", 1 << 20, {}};
  EXPECT_THAT(std::string(Fetch(wanted).message()), HasSubstr("image oci:/no/such: "));
  EXPECT_TRUE(std::filesystem::is_empty(directory / "cache/images"));
}

}  // namespace
}  // namespace muster::agent
