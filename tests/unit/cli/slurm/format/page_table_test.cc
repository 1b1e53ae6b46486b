#include "cli/slurm/format/page_table.h"

#include <gtest/gtest.h>

namespace muster::cli::slurm {
namespace {

const std::vector<PageColumn> kColumns = {{"JobID", -12}, {"State", 10}};

TEST(PageTable, AlignedColumnsHaveARuleAndMarkWhatTheyCut) {
  EXPECT_EQ(PageHead(kColumns, {}), "JobID             State \n------------ ---------- \n");
  EXPECT_EQ(PageLine(kColumns, {"5", "CANCELLED by 1002"}, {}), "5            CANCELLED+ \n");
  EXPECT_EQ(PageHead(kColumns, {.header = false}), "");
}

TEST(PageTable, ATitleIsCutWithoutAMark) {
  EXPECT_EQ(PageHead(std::vector<PageColumn>{{"JobID", 4}}, {}), "JobI \n---- \n");
}

TEST(PageTable, DelimitersStandBetweenAndOnlyTheOldFormHasOneAtTheEnd) {
  EXPECT_EQ(PageLine(kColumns, {"5", "RUNNING"}, {.parsable = true}), "5|RUNNING\n");
  EXPECT_EQ(PageLine(kColumns, {"5", "RUNNING"},
                     {.parsable = true, .ends_with_delimiter = true, .delimiter = ","}),
            "5,RUNNING,\n");
  EXPECT_EQ(PageHead(kColumns, {.parsable = true}), "JobID|State\n");
}

}  // namespace
}  // namespace muster::cli::slurm
