#include "cli/dev/session_visit.h"

#include <gtest/gtest.h>

#include <csignal>

#include "cli/controller/address.h"
#include "scheduler/runtime/signals.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::cli {
namespace {

// Where no controller is; tests/integration/dev_test.py visits sessions.
TEST(SessionVisitTest, SaysThatThereIsNoController) {
  const TempDirectory directory;
  const absl::StatusOr<Address> address = ParseAddress("unix:" + directory.path() + "/none");
  ASSERT_TRUE(address.ok()) << address.status();
  const absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Open(*address);
  ASSERT_TRUE(connection.ok()) << connection.status();
  const absl::StatusOr<UniqueFd> signals = BlockSignals({SIGUSR2});
  const absl::Status started = AwaitStart(**connection, JobId(1), *signals, /*takes_back=*/true);
  EXPECT_EQ(started.code(), absl::StatusCode::kUnavailable) << started;
}

}  // namespace
}  // namespace muster::cli
