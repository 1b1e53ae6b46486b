#include "daemon/store/rows/health_rows.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/store/database/blob.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

absl::Status ReadNarrowLinks(Database& database, StateImage* image) {
  Statement rows(database,
                 "SELECT first, second, payload FROM narrow_links ORDER BY first, second");
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return absl::OkStatus();
    }
    NarrowLink link;
    const std::string where =
        absl::StrCat(database.path(), ": narrow link between ", std::string(rows.Text(0)), " and ",
                     std::string(rows.Text(1)));
    RETURN_IF_ERROR(Decode(rows.Bytes(2), where, &link));
    image->narrow_links.push_back(std::move(link));
  }
}

absl::Status ReadAlerts(Database& database, StateImage* image) {
  Statement rows(database, "SELECT rule, subject, payload FROM alerts ORDER BY rule, subject");
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return ReadNarrowLinks(database, image);
    }
    Alert alert;
    const std::string where = absl::StrCat(database.path(), ": alert ", std::string(rows.Text(0)),
                                           " of ", std::string(rows.Text(1)));
    RETURN_IF_ERROR(Decode(rows.Bytes(2), where, &alert));
    image->alerts.push_back(std::move(alert));
  }
}

absl::Status ReadPower(Database& database, StateImage* image) {
  Statement rows(database, "SELECT node, payload FROM node_power ORDER BY node");
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return ReadAlerts(database, image);
    }
    NodePower power;
    const std::string where = absl::StrCat(database.path(), ": power of node ", rows.Integer(0));
    RETURN_IF_ERROR(Decode(rows.Bytes(1), where, &power));
    image->power.push_back(std::move(power));
  }
}

absl::Status ReadTallies(Database& database, StateImage* image) {
  Statement rows(database,
                 "SELECT node, failures, exposure, faded, failed, losses FROM node_failures "
                 "ORDER BY node");
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return ReadPower(database, image);
    }
    image->tallies.push_back(FailureTally{NodeId(static_cast<std::uint32_t>(rows.Integer(0))),
                                          rows.Unsigned(1), Duration(rows.Integer(2)),
                                          Time(Duration(rows.Integer(3))),
                                          Time(Duration(rows.Integer(4))), rows.Unsigned(5)});
  }
}

}  // namespace

absl::Status ReadHealthState(Database& database, StateImage* image) {
  Statement rows(database, "SELECT node, payload FROM node_health ORDER BY node");
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return ReadTallies(database, image);
    }
    NodeHealth health;
    const std::string where = absl::StrCat(database.path(), ": health of node ", rows.Integer(0));
    RETURN_IF_ERROR(Decode(rows.Bytes(1), where, &health));
    image->health.push_back(std::move(health));
  }
}

absl::Status WritePower(const NodePower& power, Database& database) {
  Statement put(database,
                "INSERT INTO node_power VALUES (?, ?) "
                "ON CONFLICT (node) DO UPDATE SET payload = excluded.payload");
  std::string payload;
  Encode(power, &payload);
  return put.Run(power.node.value(), Blob{payload});
}

absl::Status WriteAlert(const Alert& alert, Database& database) {
  Statement put(database,
                "INSERT INTO alerts VALUES (?, ?, ?) "
                "ON CONFLICT (rule, subject) DO UPDATE SET payload = excluded.payload");
  std::string payload;
  Encode(alert, &payload);
  return put.Run(alert.rule, alert.subject, Blob{payload});
}

absl::Status EraseAlert(const Alert& alert, Database& database) {
  Statement erase(database, "DELETE FROM alerts WHERE rule = ? AND subject = ?");
  return erase.Run(alert.rule, alert.subject);
}

absl::Status WriteNarrowLink(const NarrowLink& link, Database& database) {
  Statement put(database,
                "INSERT INTO narrow_links VALUES (?, ?, ?) "
                "ON CONFLICT (first, second) DO UPDATE SET payload = excluded.payload");
  std::string payload;
  Encode(link, &payload);
  return put.Run(link.first, link.second, Blob{payload});
}

absl::Status EraseNarrowLink(const NarrowLink& link, Database& database) {
  Statement erase(database, "DELETE FROM narrow_links WHERE first = ? AND second = ?");
  return erase.Run(link.first, link.second);
}

absl::StatusOr<std::vector<HealthRecord>> ReadHealthHistory(Database& database, NodeId node,
                                                            std::uint32_t limit) {
  std::vector<HealthRecord> records;
  Statement rows(database,
                 "SELECT number, payload FROM health WHERE node = ? ORDER BY number DESC LIMIT ?");
  rows.Start(node.value(), limit);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      return records;
    }
    HealthRecord record;
    const std::string where =
        absl::StrCat(database.path(), ": check ", rows.Integer(0), " of node ", node.value());
    RETURN_IF_ERROR(Decode(rows.Bytes(1), where, &record));
    records.push_back(std::move(record));
  }
}

}  // namespace muster::daemon
