#include "scheduler/model/value/fingerprint.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scheduler/model/job/job_spec.h"

namespace muster {
namespace {

// The numbers were worked out apart from this code, from the description of FNV-1a.
TEST(Fingerprint, IsTheSameInEveryBuildAndOnEveryMachine) {
  JobSpec spec;
  spec.name = "golden";
  spec.request.tasks = 3;
  spec.request.memory_per_node = kGibibyte;
  spec.array = ArraySpec{{{0, 9, 3}}, 2};
  EXPECT_EQ(Fingerprint().value(), 0xcbf29ce484222325U);
  EXPECT_EQ(Fingerprint().Add(std::string("a")).value(), 0x529a4ddc8ff56bbfU)
      << std::hex << Fingerprint().Add(std::string("a")).value();
  EXPECT_EQ(Fingerprint().Add(spec).value(), 0xa319d06a582c11b8U)
      << std::hex << Fingerprint().Add(spec).value();
}

TEST(Fingerprint, KnowsWhereOneTextEndsAndTheNextBegins) {
  EXPECT_NE(Fingerprint().Add(std::string("ab")).Add(std::string("c")).value(),
            Fingerprint().Add(std::string("a")).Add(std::string("bc")).value());
}

TEST(Fingerprint, SeesEveryFieldOfARequest) {
  const std::uint64_t plain = Fingerprint().Add(ResourceRequest()).value();
  std::size_t changed = 0;
  ResourceRequest request;
  request.overcommit = true;
  changed += Fingerprint().Add(request).value() != plain ? 1 : 0;
  request = ResourceRequest();
  request.gpus_per_task.type = "a";
  changed += Fingerprint().Add(request).value() != plain ? 1 : 0;
  request = ResourceRequest();
  request.memory_per_cpu = Bytes(1);
  changed += Fingerprint().Add(request).value() != plain ? 1 : 0;
  EXPECT_EQ(changed, 3U);
}

struct Before {
  std::uint32_t nodes = 1;
  std::string name;
  static constexpr auto Fields(auto list) {
    return list(Field{"nodes", &Before::nodes}, Field{"name", &Before::name});
  }
};

struct After {
  std::uint32_t nodes = 1;
  std::uint32_t segment = 7;
  std::string name;
  static constexpr auto Fields(auto list) {
    return list(Field{"nodes", &After::nodes}, Field{"segment", &After::segment},
                Field{"name", &After::name});
  }
};

TEST(Fingerprint, OfWhatWasRecordedBeforeDoesNotChangeWithAFieldThatIsAdded) {
  EXPECT_EQ(Fingerprint().Add(Before{3, "a"}).value(), Fingerprint().Add(After{3, 7, "a"}).value());
  EXPECT_NE(Fingerprint().Add(Before{3, "a"}).value(), Fingerprint().Add(After{3, 8, "a"}).value());
  EXPECT_NE(Fingerprint().Add(Before{3, ""}).value(), Fingerprint().Add(After{1, 3, ""}).value());
}

TEST(Fingerprint, KnowsWhereOneValueEndsAndTheNextBegins) {
  using Pair = std::vector<Before>;
  EXPECT_NE(Fingerprint().Add(Pair{{3, "a"}, {1, ""}}).value(),
            Fingerprint().Add(Pair{{3, ""}, {1, "a"}}).value());
}

TEST(Fingerprint, TellsAnAbsentValueFromAZeroOne) {
  EXPECT_NE(Fingerprint().Add(std::optional<std::uint32_t>()).value(),
            Fingerprint().Add(std::optional<std::uint32_t>(0)).value());
}

}  // namespace
}  // namespace muster
