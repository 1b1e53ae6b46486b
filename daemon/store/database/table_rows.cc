#include "daemon/store/database/table_rows.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

constexpr std::int64_t kPageRows = 1000;

std::string FirstSql(const TableOf& table, const std::string& condition) {
  return absl::StrCat("SELECT ", table.columns, " FROM ", table.name,
                      condition.empty() ? "" : " WHERE ", condition, " ORDER BY ", table.key,
                      " LIMIT ?");
}

std::string NextSql(const TableOf& table, const std::string& condition) {
  const std::vector<std::string> key = absl::StrSplit(table.key, ", ");
  const std::vector<const char*> marks(key.size(), "?");
  return absl::StrCat("SELECT ", table.columns, " FROM ", table.name, " WHERE (", table.key,
                      ") > (", absl::StrJoin(marks, ", "), ")", condition.empty() ? "" : " AND (",
                      condition, condition.empty() ? "" : ")", " ORDER BY ", table.key, " LIMIT ?");
}

std::string InsertSql(const TableOf& table) {
  const std::vector<const char*> marks(std::string_view(table.kinds).size(), "?");
  return absl::StrCat("INSERT INTO ", table.name, " (", table.columns, ") VALUES (",
                      absl::StrJoin(marks, ", "), ")");
}

absl::Status Insert(Statement& insert, const std::string& kinds, const TableRow& row) {
  insert.Reset();
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int index = static_cast<int>(i) + 1;
    if (kinds[i] == 'i') {
      insert.Bind(index, row[i].has_value() ? std::optional(std::int64_t{std::stoll(*row[i])})
                                            : std::nullopt);
    } else if (kinds[i] == 't') {
      insert.Bind(index, row[i].value_or(""));
    } else {
      insert.Bind(index, Blob{*row[i]});
    }
  }
  return insert.Execute();
}

}  // namespace

TablePages::TablePages(Database& database, const TableOf& table, RowFilter filter)
    : kinds_(table.kinds),
      filter_(std::move(filter)),
      first_(database, FirstSql(table, filter_.condition)),
      next_(database, NextSql(table, filter_.condition)) {
  const std::vector<std::string> columns = absl::StrSplit(table.columns, ", ");
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(table.key, ", "))) {
    keys_.push_back(static_cast<std::size_t>(std::find(columns.begin(), columns.end(), name) -
                                             columns.begin()));
  }
}

absl::StatusOr<std::vector<TableRow>> TablePages::Next() {
  Statement& rows = last_.empty() ? first_ : next_;
  rows.Reset();
  int index = 0;
  for (std::size_t i = 0; i < last_.size(); ++i) {
    const std::string& value = *last_[i];
    if (kinds_[keys_[i]] == 'i') {
      rows.Bind(++index, std::int64_t{std::stoll(value)});
    } else {
      rows.Bind(++index, value);
    }
  }
  for (const auto& value : filter_.values) {
    std::visit([&](const auto& held) { rows.Bind(++index, held); }, value);
  }
  rows.Bind(++index, kPageRows);
  std::vector<TableRow> page;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) {
      break;
    }
    page.push_back(Read(rows));
  }
  if (!page.empty()) {
    last_.clear();
    for (const std::size_t key : keys_) {
      last_.push_back(page.back()[key]);
    }
  }
  return page;
}

TableRow TablePages::Read(const Statement& rows) const {
  TableRow row(kinds_.size());
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    const int column = static_cast<int>(i);
    if (rows.IsNull(column) && kinds_[i] != 'b') {
      continue;  // bytes that are not there are none
    }
    row[i] = kinds_[i] == 'i'   ? std::to_string(rows.Integer(column))
             : kinds_[i] == 't' ? std::string(rows.Text(column))
                                : std::string(rows.Bytes(column));
  }
  return row;
}

absl::Status InsertMissing(Database& database, const TableOf& table,
                           const std::vector<TableRow>& rows) {
  Statement insert(database, absl::StrCat(InsertSql(table), " ON CONFLICT DO NOTHING"));
  for (const TableRow& row : rows) {
    RETURN_IF_ERROR(Insert(insert, table.kinds, row));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::uint64_t> CopyTable(Database& from, Database& to, const TableOf& table,
                                        const RowFilter& filter) {
  TablePages pages(from, table, filter);
  const std::string kinds = table.kinds;
  Statement insert(to, InsertSql(table));
  Statement settle(to, "SELECT 1");  // hears what became of the rows sent until then
  std::uint64_t copied = 0;
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<TableRow> page, pages.Next());
    if (page.empty()) {
      return copied;
    }
    for (const TableRow& row : page) {
      RETURN_IF_ERROR(Insert(insert, kinds, row));
    }
    RETURN_IF_ERROR(settle.Next().status());
    settle.Reset();
    copied += page.size();
  }
}

}  // namespace muster::daemon
