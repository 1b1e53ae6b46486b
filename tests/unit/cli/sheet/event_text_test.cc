#include "cli/sheet/timeline/event_text.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(EventTextTest, SaysWhatHappenedToWhichJobAndWhy) {
  EXPECT_EQ(EventText(R"({"id":"7","time":"2026-01-01T10:00:00.500Z","type":"muster.job.ended",
                          "data":{"label":"7_2","name":"train","user":"ada","state":"FAILED",
                                  "exit_code":3,"text":"disk full"}})",
                      Style()),
            "2026-01-01 10:00:00  job 7_2 train (ada)  ended: FAILED, exit code 3, disk full\n");
  EXPECT_EQ(EventText(R"({"time":"2026-01-01T10:00:00Z","type":"muster.node.lost",
                          "data":{"node":"n1"}})",
                      Style()),
            "2026-01-01 10:00:00  node n1  lost\n");
  EXPECT_EQ(EventText(R"({"time":"2026-01-01T10:00:00Z","type":"muster.step.ended",
                          "data":{"label":"7","name":"x","user":"ada","step":2,"node":"n1"}})",
                      Style()),
            "2026-01-01 10:00:00  job 7 x (ada)  step ended: step 2, on n1\n");
}

TEST(EventTextTest, NamesCannotDriveTheTerminal) {
  const std::string line = EventText(
      R"({"time":"x","type":"muster.job.held","data":{"label":"7","name":"\u001b[2J\n","user":"a"}})",
      Style());
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(EventText("no json", Style()), "no json\n");
}

}  // namespace
}  // namespace muster::cli
