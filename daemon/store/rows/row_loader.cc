#include "daemon/store/rows/row_loader.h"

#include "scheduler/base/status.h"

namespace muster::daemon {

absl::Status LoadRows(Database& database, const Loads& loads) {
  for (const Loads::Rows& each : loads.rows) {
    RETURN_IF_ERROR(InsertMissing(database, *each.table, each.rows));
  }
  Statement put(database,
                "INSERT INTO loaded VALUES (?, ?) "
                "ON CONFLICT (submission) DO UPDATE SET until = excluded.until");
  for (const JobId submission : loads.submissions) {
    RETURN_IF_ERROR(put.Run(submission.value(), loads.until.time_since_epoch().count()));
  }
  return absl::OkStatus();
}

}  // namespace muster::daemon
