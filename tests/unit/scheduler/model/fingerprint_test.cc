#include "scheduler/model/fingerprint.h"

#include <gtest/gtest.h>

#include "scheduler/model/job_spec.h"

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
  EXPECT_EQ(Fingerprint().Add(spec).value(), 0x4d44bf7081b3cd1cU)
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

TEST(Fingerprint, TellsAnAbsentValueFromAZeroOne) {
  EXPECT_NE(Fingerprint().Add(std::optional<std::uint32_t>()).value(),
            Fingerprint().Add(std::optional<std::uint32_t>(0)).value());
}

}  // namespace
}  // namespace muster
