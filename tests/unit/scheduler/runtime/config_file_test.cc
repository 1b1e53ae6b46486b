#include "scheduler/runtime/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "scheduler/runtime/file.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kSample = R"(# line 1
name = "east"
nodes = 12

[controller]
listen = "127.0.0.1:7077"
verbose = true
lease = "30s"
peers = ["a", "b"]

[partition.batch]
priority = 5
)";

ConfigFile Sample() {
  return ConfigFile::Parse(kSample, "muster.toml").value();
}
std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(ConfigFile, ReadsEveryType) {
  ConfigFile config = Sample();
  std::string text;
  int64_t number = 0;
  bool flag = false;
  milliseconds duration(0);
  std::vector<std::string> list;
  EXPECT_TRUE(config.ReadString("controller.listen", &text).ok());
  EXPECT_TRUE(config.ReadInteger("nodes", {.min = 1, .max = 12}, &number).ok());
  EXPECT_TRUE(config.ReadBool("controller.verbose", &flag).ok());
  EXPECT_TRUE(config.ReadDuration("controller.lease", &duration).ok());
  EXPECT_TRUE(config.ReadStrings("controller.peers", &list).ok());
  EXPECT_EQ(text, "127.0.0.1:7077");
  EXPECT_EQ(number, 12);
  EXPECT_TRUE(flag);
  EXPECT_EQ(duration, milliseconds(30'000));
  EXPECT_THAT(list, ElementsAre("a", "b"));
}

TEST(ConfigFile, AnAbsentKeyLeavesTheDefault) {
  ConfigFile config = Sample();
  std::string text = "default";
  int64_t number = 41;
  bool flag = true;
  milliseconds duration(9);
  std::vector<std::string> list = {"x"};
  EXPECT_TRUE(config.ReadString("absent", &text).ok());
  EXPECT_TRUE(config.ReadInteger("no.such.key", {}, &number).ok());
  EXPECT_TRUE(config.ReadBool("absent", &flag).ok());
  EXPECT_TRUE(config.ReadDuration("absent", &duration).ok());
  EXPECT_TRUE(config.ReadStrings("absent", &list).ok());
  EXPECT_EQ(text, "default");
  EXPECT_EQ(number, 41);
  EXPECT_TRUE(flag);
  EXPECT_EQ(duration, milliseconds(9));
  EXPECT_THAT(list, ElementsAre("x"));
}

TEST(ConfigFile, AWrongTypeIsToldWithFileLineAndKey) {
  ConfigFile config = Sample();
  int64_t number = 3;
  std::string text = "kept";
  bool flag = false;
  std::vector<std::string> list;
  EXPECT_EQ(Message(config.ReadInteger("name", {}, &number)),
            "muster.toml:2: name: expected a whole number");
  EXPECT_EQ(Message(config.ReadString("nodes", &text)),
            "muster.toml:3: nodes: expected a string in quotes");
  EXPECT_EQ(Message(config.ReadBool("controller.listen", &flag)),
            "muster.toml:6: controller.listen: expected true or false");
  EXPECT_THAT(Message(config.ReadStrings("controller.listen", &list)),
              HasSubstr("muster.toml:6: controller.listen: expected a list of strings"));
  EXPECT_EQ(number, 3);
  EXPECT_EQ(text, "kept");
}

TEST(ConfigFile, ANumberOutsideItsBoundsIsRefused) {
  ConfigFile config = Sample();
  int64_t number = 3;
  EXPECT_EQ(Message(config.ReadInteger("nodes", {.min = 1, .max = 11}, &number)),
            "muster.toml:3: nodes: 12 is outside 1 to 11");
  EXPECT_EQ(number, 3);
}

TEST(ConfigFile, DecimalsAreExactAndHaveNoMorePlacesThanThereAre) {
  const auto read = [](const std::string& text) -> std::string {
    ConfigFile config = ConfigFile::Parse("d = " + text, "f").value();
    std::uint64_t value = 7;
    const absl::Status status = config.ReadDecimal("d", 3, 2'000, &value);
    EXPECT_TRUE(status.ok() || value == 7);
    return status.ok() ? std::to_string(value) : Message(status);
  };
  EXPECT_EQ(read("0.1"), "100");
  EXPECT_EQ(read("0.001"), "1");
  EXPECT_EQ(read("1e-3"), "1");
  EXPECT_EQ(read("2"), "2000");
  EXPECT_EQ(read("\"1.25\""), "1250");
  for (const char* text :
       {"2.001", "0.0001", "-0.5", "inf", "nan", "\"\"", "\"x\"", "true", "[1]"}) {
    EXPECT_EQ(read(text), "f:1: d: expected a number from 0 to 2, with at most 3 decimals") << text;
  }
  ConfigFile empty = ConfigFile::Parse("", "f").value();
  std::uint64_t value = 7;
  EXPECT_TRUE(empty.ReadDecimal("d", 3, 2'000, &value).ok());
  EXPECT_EQ(value, 7U);
}

TEST(ConfigFile, SizesHaveAUnitOrAreBytesAndDoNotOverflow) {
  const auto size_of = [](const std::string& text) -> std::int64_t {
    ConfigFile config = ConfigFile::Parse("s = " + text, "f").value();
    std::uint64_t size = 7;
    return config.ReadSize("s", &size).ok() ? static_cast<std::int64_t>(size) : -1;
  };
  EXPECT_EQ(size_of("0"), 0);
  EXPECT_EQ(size_of("4096"), 4096);
  EXPECT_EQ(size_of("\"4096\""), 4096);
  EXPECT_EQ(size_of("\"3K\""), 3 << 10);
  EXPECT_EQ(size_of("\"20G\""), std::int64_t{20} << 30);
  EXPECT_EQ(size_of("\"1T\""), std::int64_t{1} << 40);
  for (const char* text :
       {"\"\"", "\"G\"", "-1", "\"-1G\"", "\"1.5G\"", "\"9999999999T\"", "[1, 2]"}) {
    EXPECT_EQ(size_of(text), -1) << text;
  }
}

TEST(ConfigFile, DurationsHaveAUnitAndDoNotOverflow) {
  const auto read = [](const std::string& value) -> int64_t {
    ConfigFile config = ConfigFile::Parse("d = " + value, "f").value();
    milliseconds duration(-1);
    EXPECT_TRUE(config.ReadDuration("d", &duration).ok() == (duration.count() >= 0)) << value;
    return duration.count();
  };
  EXPECT_EQ(read("\"250ms\""), 250);
  EXPECT_EQ(read("\"0s\""), 0);
  EXPECT_EQ(read("\"5m\""), 300'000);
  EXPECT_EQ(read("\"2h\""), 7'200'000);
  EXPECT_EQ(read("\"7d\""), 604'800'000);
  EXPECT_EQ(read("\"1.5h\""), 5'400'000);
  EXPECT_EQ(read("\"1h30m\""), 5'400'000);
  for (const char* bad : {"\"\"", "\"30\"", "\"s\"", "\"-1s\"", "\"0.0001s\"", "\"1:00\"", "30",
                          "\"5 parsecs\"", "\"9223372036854775807d\""}) {
    EXPECT_EQ(read(bad), -1) << bad;
  }
}

TEST(ConfigFile, AnUnreadKeyIsAnErrorAtItsLine) {
  ConfigFile config = Sample();
  std::string text;
  ASSERT_TRUE(config.ReadString("name", &text).ok());
  EXPECT_EQ(Message(config.RefuseUnknownKeys()), "muster.toml:3: nodes: unknown key");
  ConfigFile all = ConfigFile::Parse("name = \"x\"", "f").value();
  ASSERT_TRUE(all.ReadString("name", &text).ok());
  EXPECT_TRUE(all.RefuseUnknownKeys().ok());
}

TEST(ConfigFile, TablesCanBeListed) {
  const ConfigFile config = Sample();
  EXPECT_THAT(config.KeysUnder("partition"), ElementsAre("batch"));
  EXPECT_THAT(config.KeysUnder(""), ElementsAre("controller", "name", "nodes", "partition"));
  EXPECT_THAT(config.KeysUnder("absent"), ElementsAre());
  EXPECT_TRUE(config.Has("controller.lease"));
  EXPECT_FALSE(config.Has("controller.rent"));
}

TEST(ConfigFile, AValueThatIsSetStandsInPlaceOfTheFiles) {
  ConfigFile config = Sample();
  ASSERT_TRUE(config.Set("nodes", "14").ok());
  ASSERT_TRUE(config.Set("name", "7").ok()) << "a string stays one";
  ASSERT_TRUE(config.Set("controller.verbose", "false").ok());
  ASSERT_TRUE(config.Set("partition.new.label", "\"8\"").ok());
  int64_t nodes = 0;
  std::string name;
  std::string label;
  bool verbose = true;
  EXPECT_TRUE(config.ReadInteger("nodes", {}, &nodes).ok());
  EXPECT_TRUE(config.ReadString("name", &name).ok());
  EXPECT_TRUE(config.ReadBool("controller.verbose", &verbose).ok());
  EXPECT_TRUE(config.ReadString("partition.new.label", &label).ok());
  EXPECT_EQ(nodes, 14);
  EXPECT_EQ(name, "7");
  EXPECT_EQ(label, "8");
  EXPECT_FALSE(verbose);
  EXPECT_EQ(config.known().count("nodes"), 1U);
}

TEST(ConfigFile, AnErrorAboutAValueThatWasSetNamesNoLine) {
  ConfigFile config = Sample();
  ASSERT_TRUE(config.Set("nodes", "many").ok());
  int64_t nodes = 0;
  EXPECT_EQ(Message(config.ReadInteger("nodes", {}, &nodes)),
            "muster.toml: nodes: expected a whole number");
  EXPECT_THAT(Message(config.Set("partition.batch", "1")), HasSubstr("is a table"));
  EXPECT_THAT(Message(config.Set("name.of", "1")), HasSubstr("no table"));
  EXPECT_THAT(Message(config.Set("a..b", "1")), HasSubstr("no path"));
}

TEST(ConfigFile, ASyntaxErrorNamesItsLine) {
  const absl::Status status = ConfigFile::Parse("a = 1\nb = = 2\n", "muster.toml").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(Message(status), HasSubstr("muster.toml:2: "));
}

TEST(ConfigFile, IsLoadedFromAFileAndAMissingOneIsNotFound) {
  const TempDirectory directory;
  ASSERT_TRUE(WriteFileAtomically(directory / "m.toml", "a = 1\n").ok());
  EXPECT_TRUE(ConfigFile::Load(directory / "m.toml").value().Has("a"));
  EXPECT_TRUE(absl::IsNotFound(ConfigFile::Load(directory / "absent.toml").status()));
}

}  // namespace
}  // namespace muster
