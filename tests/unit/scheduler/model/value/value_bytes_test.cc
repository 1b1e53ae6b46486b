#include "scheduler/model/value/value_bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>
#include <tuple>

#include "scheduler/model/plan/plan.h"

namespace muster {
namespace {

Plan APlan() {
  Plan plan;
  plan.version = Version(77);
  plan.hash = std::numeric_limits<std::uint64_t>::max();
  plan.wake = Time(Duration(-5));
  PlannedStart start;
  start.job = JobId(3);
  start.partition = "long";
  NodeAllocation part;
  part.node = NodeId(9);
  part.cpus = CpuSet::Of({0, 1, 2, 64});
  part.memory = kGibibyte;
  start.allocation.nodes = {part, part};
  plan.starts = {start};
  plan.reservations = {{JobId(4), Time(Duration(1'700'000'000'000)), {{NodeId(1), 2}}}};
  LeftWaiting left;
  left.job = JobId(5);
  left.reason.name = "a";
  left.reason.holders = {JobId(3)};
  plan.waiting = {left};
  plan.drops = {{JobId(6), JobState::kFailed, "because"}};
  return plan;
}

TEST(ValueBytes, APlanComesBackAsItWas) {
  ValueWriter writer;
  writer.Put(APlan());
  ValueReader reader(writer.bytes());
  Plan back;
  reader.Get(back);
  EXPECT_TRUE(reader.AtEnd());
  EXPECT_EQ(back, APlan());
}

TEST(ValueBytes, NumbersAndContainersComeBackAsTheyWere) {
  const bool holds =
      rc::check([](std::int64_t a, std::uint32_t b, double c, const std::string& d,
                   const std::vector<std::int32_t>& e, const std::map<int, std::string>& f) {
        ValueWriter writer;
        const std::optional<std::int64_t> none;
        const std::optional<std::int64_t> some = a;
        writer.Put(a);
        writer.Put(b);
        writer.Put(c);
        writer.Put(d);
        writer.Put(e);
        writer.Put(f);
        writer.Put(none);
        writer.Put(some);
        ValueReader reader(writer.bytes());
        std::int64_t a2 = 0;
        std::uint32_t b2 = 0;
        double c2 = 0;
        std::string d2;
        std::vector<std::int32_t> e2;
        std::map<int, std::string> f2;
        std::optional<std::int64_t> none2 = 1;
        std::optional<std::int64_t> some2;
        reader.Get(a2);
        reader.Get(b2);
        reader.Get(c2);
        reader.Get(d2);
        reader.Get(e2);
        reader.Get(f2);
        reader.Get(none2);
        reader.Get(some2);
        RC_ASSERT(reader.AtEnd());
        RC_ASSERT(std::tie(a, b, d, e, f) == std::tie(a2, b2, d2, e2, f2));
        RC_ASSERT(std::memcmp(&c, &c2, sizeof c) == 0);
        RC_ASSERT(!none2.has_value() && some2 == a);
      });
  EXPECT_TRUE(holds);
}

TEST(ValueBytes, BytesThatAreCutOffOrDamagedAreReadWithoutHarm) {
  ValueWriter writer;
  writer.Put(APlan());
  const std::string whole = writer.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    ValueReader reader(std::string_view(whole).substr(0, size));
    Plan back;
    reader.Get(back);
    EXPECT_FALSE(reader.ok()) << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ '\xff');
    ValueReader reader(damaged);
    Plan back;
    reader.Get(back);
    EXPECT_FALSE(reader.AtEnd() && back == APlan()) << at;
  }
}

}  // namespace
}  // namespace muster
