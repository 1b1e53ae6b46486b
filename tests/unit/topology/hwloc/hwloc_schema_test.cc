#include "topology/hwloc/hwloc_schema.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::topology {
namespace {

std::string Rewritten(const std::string& xml) {
  const absl::StatusOr<std::string> out = ToHwloc2Schema(xml, "x.xml");
  EXPECT_TRUE(out.ok()) << out.status();
  return out.ok() ? *out : "";
}

TEST(HwlocSchema, OlderSchemasPassUnchanged) {
  for (const std::string xml :
       {"<topology>\n</topology>", "<topology version=\"2.0\"/>",
        "<topology version=\"2.0\"><object osdev_type=\"5\"/></topology>"}) {
    EXPECT_EQ(Rewritten(xml), xml);
  }
}

TEST(HwlocSchema, Schema3BecomesSchema2WithOneKindPerDevice) {
  EXPECT_EQ(Rewritten("<topology version=\"3.0\">"
                      "<object name=\"mlx5_0\" osdev_type=\"48\"/><object osdev_type=\"16\"/>"
                      "<object osdev_type=\"12\"/><object osdev_type=\"4\"/>"
                      "<object osdev_type=\"1\"/><object osdev_type=\"2\"/>"
                      "<object osdev_type='64'/></topology>"),
            "<topology version=\"2.0\">"
            "<object name=\"mlx5_0\" osdev_type=\"3\"/><object osdev_type=\"2\"/>"
            "<object osdev_type=\"5\"/><object osdev_type=\"1\"/>"
            "<object osdev_type=\"0\"/><object osdev_type=\"0\"/>"
            "<object osdev_type='4'/></topology>");
}

TEST(HwlocSchema, AVersionAfterTheTagIsNotItsVersion) {
  const std::string xml = "<topology><object version=\"3.0\" osdev_type=\"12\"/></topology>";
  EXPECT_EQ(Rewritten(xml), xml);
}

TEST(HwlocSchema, ANewerSchemaAndOtherFilesAreRefusedByName) {
  for (const std::string xml : {"<topology version=\"4.0\"/>", "", "hello", "<topology"}) {
    const absl::StatusOr<std::string> out = ToHwloc2Schema(xml, "x.xml");
    ASSERT_FALSE(out.ok()) << xml;
    EXPECT_EQ(out.status().message().find("x.xml: "), 0U);
  }
}

TEST(HwlocSchema, TornAttributesEndTheRewriteQuietly) {
  EXPECT_EQ(Rewritten("<topology version=\"3.0\"><object osdev_type=\"12"),
            "<topology version=\"2.0\"><object osdev_type=\"12");
  EXPECT_EQ(Rewritten("<topology version=\"3.0\"><object osdev_type="),
            "<topology version=\"2.0\"><object osdev_type=");
}

}  // namespace
}  // namespace muster::topology
