#pragma once

// Rows of the schema's tables as values, page by page, and tables copied from one database to
// another, whatever the engines.
//
// Thread promise: belongs to the threads of its databases; the caller holds the transactions.
// Invariants: (1) rows come in the order of their keys, each once; (2) no more than a page of them
// is in memory.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/store/database/database.h"
#include "daemon/store/database/schema.h"

namespace muster::daemon {

// A value of a row; text and bytes as they are, a number as its digits.
using ColumnValue = std::optional<std::string>;
using TableRow = std::vector<ColumnValue>;

// Which rows: a condition in SQL, and the values of its parameters. Empty: all.
struct RowFilter {
  std::string condition;
  std::vector<std::variant<std::int64_t, std::string>> values;
};

class TablePages {
 public:
  TablePages(Database& database, const TableOf& table, RowFilter filter = {});

  // Empty: there are no more.
  absl::StatusOr<std::vector<TableRow>> Next();

 private:
  [[nodiscard]] TableRow Read(const Statement& rows) const;

  const std::string kinds_;
  const RowFilter filter_;
  std::vector<std::size_t> keys_;  // places of the key's columns
  std::vector<ColumnValue> last_;  // the key of the last row
  Statement first_;
  Statement next_;
};

// Inserts those rows whose keys are not there.
absl::Status InsertMissing(Database& database, const TableOf& table,
                           const std::vector<TableRow>& rows);

// Copies the rows that pass the filter; returns how many. The target's have other keys.
absl::StatusOr<std::uint64_t> CopyTable(Database& from, Database& to, const TableOf& table,
                                        const RowFilter& filter = {});

}  // namespace muster::daemon
