#include "scheduler/core/state/apply/alert_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/model/change/alert.h"

namespace muster::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Alert Of(const char* rule, const char* subject, const char* text = "") {
  Alert alert;
  alert.rule = rule;
  alert.subject = subject;
  alert.text = text;
  return alert;
}

TEST(AlertTableTest, AnAlertLastsFromItsBeginToItsEndAndIsOneOfItsRuleAndSubject) {
  AlertTable table;
  table.Load({Of("NodeSilent", "n2")});
  table.Begin(Of("NodeSilent", "n1", "first"));
  table.Begin(Of("NodeSilent", "n1", "again"));
  EXPECT_THAT(
      table.all(),
      ElementsAre(Pair(AlertTable::Name("NodeSilent", "n1"), Of("NodeSilent", "n1", "again")),
                  Pair(AlertTable::Name("NodeSilent", "n2"), Of("NodeSilent", "n2"))));
  table.End(Of("NodeSilent", "n2", "whatever it said"));
  table.End(Of("NodeSilent", "n1"));
  table.End(Of("GpuXid", "n1"));
  EXPECT_THAT(table.all(), IsEmpty());
}

}  // namespace
}  // namespace muster::core
