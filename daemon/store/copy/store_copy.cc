#include "daemon/store/copy/store_copy.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "daemon/store/database/engine.h"
#include "daemon/store/database/schema.h"
#include "daemon/store/database/table_rows.h"
#include "daemon/store/postgres/postgres_engine.h"
#include "daemon/store/sqlite/sqlite_engine.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::daemon {
namespace {

constexpr const char* kSqlite = "sqlite:";
constexpr std::size_t kSqliteBytes = 7;
// Another may lead after a copy that was cut off; one that goes on is fenced off then.
constexpr std::chrono::minutes kWhileCopying{10};

// One end of a copy, held so that no controller begins to work on it.
struct End {
  std::optional<LockFile> lock;  // of a directory
  std::string directory;
  std::unique_ptr<StoreEngine> engine;
};

std::string DirectoryOf(const std::string& place) {
  const std::string said = place.substr(kSqliteBytes);
  return access((said + "/state.db").c_str(), F_OK) == 0 ? said : said + "/controller";
}

absl::StatusOr<End> OpenEnd(const std::string& place, const std::string& cluster, bool source) {
  End end;
  if (absl::StartsWith(place, kSqlite)) {
    end.directory = DirectoryOf(place);
    if (source && access((end.directory + "/state.db").c_str(), F_OK) != 0) {
      return absl::NotFoundError(
          absl::StrCat(place, ": no state.db there; name the state directory of a controller"));
    }
    RETURN_IF_ERROR(source ? absl::OkStatus() : EnsurePrivateDirectory(place.substr(kSqliteBytes)));
    RETURN_IF_ERROR(EnsurePrivateDirectory(end.directory));
    ASSIGN_OR_RETURN(end.lock, LockFile::Take(end.directory + "/lock"));
    ASSIGN_OR_RETURN(end.engine, SqliteEngine::Open(end.directory));
    return end;
  }
  if (!IsPostgresUrl(place)) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": not a store: write sqlite:DIR or postgresql://…"));
  }
  ASSIGN_OR_RETURN(const PostgresPlace database, ReadPostgresUrl(place));
  ASSIGN_OR_RETURN(end.engine, PostgresEngine::Open(database, cluster));
  ASSIGN_OR_RETURN(const bool taken, end.engine->leadership()->TryTake("muster store copy", "",
                                                                       kWhileCopying, false));
  if (!taken) {
    ASSIGN_OR_RETURN(const LeaderRow row, end.engine->leadership()->Read());
    return absl::FailedPreconditionError(
        absl::StrCat(database.text, ": ", row.holder, " leads there: stop all controllers first"));
  }
  return end;
}

absl::Status Release(End& end) {
  return end.engine->leadership() == nullptr ? absl::OkStatus()
                                             : end.engine->leadership()->Release("");
}

// As both engines keep it: PostgreSQL's texts have no NUL.
void Normalise(const std::string& kinds, TableRow* row) {
  for (std::size_t i = 0; i < row->size(); ++i) {
    if (kinds[i] == 't' && (*row)[i].has_value()) {
      (*row)[i] = absl::StrReplaceAll(*(*row)[i], {{std::string(1, '\0'), "\xEF\xBF\xBD"}});
    }
  }
}

absl::Status CompareTable(Database& from, Database& to, const TableOf& table) {
  TablePages ours(from, table);
  TablePages theirs(to, table);
  std::uint64_t number = 0;
  while (true) {
    ASSIGN_OR_RETURN(std::vector<TableRow> left, ours.Next());
    ASSIGN_OR_RETURN(std::vector<TableRow> right, theirs.Next());
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
      ++number;
      const bool both = i < left.size() && i < right.size();
      if (both) {
        Normalise(table.kinds, &left[i]);
        Normalise(table.kinds, &right[i]);
      }
      if (!both || left[i] != right[i]) {
        return absl::DataLossError(absl::StrCat(to.path(), ": row ", number, " of ", table.name,
                                                " is not that of ", from.path(),
                                                "; empty the target and copy again"));
      }
    }
    if (left.empty()) {
      return absl::OkStatus();
    }
  }
}

absl::Status CheckEmpty(Database& database) {
  for (const TableOf& table : Tables()) {
    ASSIGN_OR_RETURN(const std::int64_t rows,
                     database.ReadInteger(absl::StrCat("SELECT count(*) FROM (SELECT 1 FROM ",
                                                       table.name, " LIMIT 1) AS found")));
    if (rows != 0) {
      return absl::FailedPreconditionError(absl::StrCat(database.path(), ": holds rows already (",
                                                        table.name, "): name an empty store"));
    }
  }
  return absl::OkStatus();
}

// What the supervisors of running attempts know one another by.
absl::Status CopyKey(End& from, End& to) {
  std::string key;
  if (from.engine->leadership() != nullptr) {
    ASSIGN_OR_RETURN(key, from.engine->leadership()->AgreeOnKey(""));
  } else if (const absl::StatusOr<std::string> file = ReadFile(from.directory + "/job.key");
             file.ok()) {
    key = absl::BytesToHexString(*file);
  }
  if (key.empty()) {
    return absl::OkStatus();
  }
  return to.engine->leadership() != nullptr
             ? to.engine->leadership()->AgreeOnKey(key).status()
             : WriteFileAtomically(to.directory + "/job.key", absl::HexStringToBytes(key));
}

// The list of tokens that count, as text; their key follows from the cluster's secret. False when
// they have a key of their own that does not go along.
absl::StatusOr<bool> CopyTokens(End& from, End& to) {
  absl::StatusOr<std::string> list = from.engine->leadership() != nullptr
                                         ? from.engine->leadership()->ReadTokens()
                                         : ReadFile(from.directory + "/tokens.json");
  if (absl::IsNotFound(list.status()) || (list.ok() && list->empty())) {
    return true;
  }
  RETURN_IF_ERROR(list.status());
  if (from.engine->leadership() == nullptr) {
    const absl::StatusOr<std::string> key = ReadFile(from.directory + "/token.key");
    if (key.ok() && to.engine->leadership() != nullptr) {
      return false;
    }
    RETURN_IF_ERROR(key.ok() ? WriteFileAtomically(to.directory + "/token.key", *key)
                             : absl::OkStatus());
  }
  RETURN_IF_ERROR(to.engine->leadership() != nullptr
                      ? to.engine->leadership()->WriteTokens(*list)
                      : WriteFileAtomically(to.directory + "/tokens.json", *list));
  return true;
}

absl::StatusOr<CopyReport> CopyRows(StoreEngine& from, StoreEngine& to) {
  CopyReport report;
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> reader, from.OpenReader());
  Transaction snapshot(*reader);
  RETURN_IF_ERROR(snapshot.Begin(Transaction::Kind::kRead));
  {
    Transaction transaction(to.writer());
    RETURN_IF_ERROR(transaction.Begin(Transaction::Kind::kWrite));
    RETURN_IF_ERROR(to.Fence());
    for (const TableOf& table : Tables()) {
      ASSIGN_OR_RETURN(const std::uint64_t rows, CopyTable(*reader, to.writer(), table));
      report.tables.emplace_back(table.name, rows);
    }
    RETURN_IF_ERROR(transaction.Commit());
  }
  RETURN_IF_ERROR(to.CountOn());
  for (const TableOf& table : Tables()) {
    RETURN_IF_ERROR(CompareTable(*reader, to.writer(), table));
  }
  return report;
}

// Everything, from a store to an empty one.
absl::StatusOr<CopyReport> CopyAll(End& from, End& to) {
  RETURN_IF_ERROR(CheckEmpty(to.engine->writer()));
  ASSIGN_OR_RETURN(CopyReport report, CopyRows(*from.engine, *to.engine));
  RETURN_IF_ERROR(CopyKey(from, to));
  ASSIGN_OR_RETURN(const bool tokens, CopyTokens(from, to));
  report.tokens_stay = !tokens;
  return report;
}

}  // namespace

absl::StatusOr<CopyReport> CopyStore(const CopyRequest& request) {
  if (request.from == request.to) {
    return absl::InvalidArgumentError("--from and --to name the same store");
  }
  ASSIGN_OR_RETURN(End from, OpenEnd(request.from, request.cluster, true));
  absl::StatusOr<End> to = OpenEnd(request.to, request.cluster, false);
  absl::StatusOr<CopyReport> report = CopyReport();
  if (!to.ok()) {
    report = to.status();
  } else {
    report = CopyAll(from, *to);
    const absl::Status released = Release(*to);
    report = report.ok() && !released.ok() ? released : std::move(report);
  }
  const absl::Status released = Release(from);
  return report.ok() && !released.ok() ? absl::StatusOr<CopyReport>(released) : report;
}

}  // namespace muster::daemon
