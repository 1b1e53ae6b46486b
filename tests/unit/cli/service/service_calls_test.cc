#include "cli/service/service_calls.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

// What they do with a controller is tested in tests/integration/service_test.py.
TEST(ServiceCallsTest, WithoutAControllerEachSaysSo) {
  const TempDirectory directory;
  constexpr std::chrono::milliseconds kPatience{10};
  const auto connection = Connection::Open(ParseAddress("unix:" + (directory / "none")).value(),
                                           {.changing = kPatience, .reading = kPatience});
  ASSERT_TRUE(connection.ok());
  const Environment environment;
  const ServiceCalls calls = CallsOfService(**connection, environment, "web", "");
  ServiceReplica replica;
  replica.note.state = kReplicaReady;
  EXPECT_TRUE(absl::IsUnavailable(calls.find().status()));
  EXPECT_TRUE(absl::IsUnavailable(calls.ask({})));
  EXPECT_TRUE(absl::IsUnavailable(calls.leave({replica})));
  EXPECT_TRUE(absl::IsUnavailable(calls.cancel({replica})));
  EXPECT_TRUE(absl::IsUnavailable(calls.reported({replica}, ScaleRule()).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(calls.add(1).status())) << "there is nothing to submit";
}

}  // namespace
}  // namespace muster::cli
