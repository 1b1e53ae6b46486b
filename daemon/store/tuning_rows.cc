#include "daemon/store/tuning_rows.h"

#include "scheduler/base/status.h"

namespace muster::daemon {

absl::StatusOr<std::vector<Tuning>> ReadTuningRows(Database& database, const std::string& kernel) {
  std::vector<Tuning> tunings;
  Statement rows(database,
                 "SELECT kernel, shape, type, architecture, version, choice, time FROM tunings "
                 "WHERE kernel = ? OR ? = '' ORDER BY time DESC LIMIT 1000");
  rows.Start(kernel, kernel);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return tunings;
    }
    tunings.push_back(Tuning{std::string(rows.Text(0)), std::string(rows.Text(1)),
                             std::string(rows.Text(2)), std::string(rows.Text(3)),
                             static_cast<std::uint32_t>(rows.Integer(4)), std::string(rows.Text(5)),
                             Time(Duration(rows.Integer(6)))});
  }
}

}  // namespace muster::daemon
