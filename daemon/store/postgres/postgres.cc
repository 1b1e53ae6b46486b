#include "daemon/store/postgres/postgres.h"

#include <endian.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr Oid kInt8 = 20;
constexpr Oid kText = 25;
constexpr Oid kBytea = 17;
constexpr milliseconds kConnectWithin{5'000};
constexpr milliseconds kSilence{15'000};
// The session's own settings. An acknowledged commit is on the disk, whatever the site's default
// is.
constexpr const char* kSession =
    "SELECT set_config('synchronous_commit', CASE WHEN current_setting('synchronous_commit') = "
    "'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false), "
    "set_config('lock_timeout', '10s', false), set_config('statement_timeout', '0', false), "
    "set_config('default_transaction_isolation', 'read committed', false), "
    "set_config('standard_conforming_strings', 'on', false)";

// The first line of what libpq says; those after it guess at causes.
std::string OneLine(const char* text) {
  const std::string said(absl::StripAsciiWhitespace(text == nullptr ? "" : text));
  return absl::StrReplaceAll(said.substr(0, said.find('\n')),
                             {{"FATAL:  ", ""}, {"ERROR:  ", ""}, {"\t", " "}});
}

struct Mend {
  const char* state;  // what the SQLSTATE begins with
  absl::StatusCode code;
  const char* mend;
};

// A longer beginning stands before the shorter one.
constexpr Mend kMends[] = {
    {"22012", absl::StatusCode::kFailedPrecondition, "another controller leads"},
    {"25006", absl::StatusCode::kUnavailable,
     "it is read-only: name the primary, or make it writable"},
    {"42501", absl::StatusCode::kUnavailable,
     "give the role the rights: make it the owner of the database"},
    {"53", absl::StatusCode::kResourceExhausted, "make room on the database's machine"},
    {"08", absl::StatusCode::kUnavailable, "look at the database's log"},
    {"28", absl::StatusCode::kUnavailable,
     "correct the user, its passfile or service, or the server's pg_hba.conf"},
    {"3D000", absl::StatusCode::kUnavailable, "make the database with createdb"},
    {"40", absl::StatusCode::kUnavailable, "it is tried again"},
    {"55P03", absl::StatusCode::kUnavailable, "another session holds it"},
    {"57", absl::StatusCode::kUnavailable, "look at the database's log"},
    {"58", absl::StatusCode::kUnavailable, "look at the database's log"},
    {"XX001", absl::StatusCode::kDataLoss, "restore the database from a backup"},
    {"XX002", absl::StatusCode::kDataLoss, "restore the database from a backup"},
};

}  // namespace

// One statement. It is prepared by name when it runs for the second time on one connection, so what
// runs once leaves nothing there. Numbers travel as eight bytes, texts and bytes as they are; a NUL
// byte, which no text of PostgreSQL's can hold, becomes U+FFFD.
class PostgresQuery final : public Query {
 public:
  PostgresQuery(PostgresDatabase& database, const std::string& sql);
  PostgresQuery(const PostgresQuery&) = delete;
  PostgresQuery& operator=(const PostgresQuery&) = delete;
  ~PostgresQuery() override;

  void BindInteger(int index, std::optional<std::int64_t> value) override;
  void BindText(int index, std::string_view value) override;
  void BindBytes(int index, std::string_view value) override;
  absl::Status Run() override;
  absl::StatusOr<bool> Next() override;
  void Reset() override;
  [[nodiscard]] std::optional<int> parameters() const override {
    return static_cast<int>(values_.size());
  }
  [[nodiscard]] bool IsNull(int column) const override;
  [[nodiscard]] std::int64_t Integer(int column) const override;
  [[nodiscard]] std::string_view Text(int column) const override { return Bytes(column); }
  [[nodiscard]] std::string_view Bytes(int column) const override;

 private:
  struct Value {
    unsigned type = 0;  // 0: NULL
    std::array<char, 8> number = {};
    std::string text;
    std::string_view bytes;
  };
  absl::Status Send();

  PostgresDatabase& database_;
  std::string sql_;  // with $1, $2, …
  std::vector<Value> values_;
  std::uint64_t runs_ = 0;  // on the connection of that generation
  std::uint64_t generation_ = 0;
  std::string name_;  // by which it is prepared there; empty: it is not
  PostgresResult rows_;
  int row_ = -1;
};

void PostgresResultDeleter::operator()(pg_result* result) const {
  PQclear(result);
}

PostgresDatabase::PostgresDatabase(PostgresPlace place, std::string purpose)
    : Database(place.text),
      place_(std::move(place)),
      purpose_(std::move(purpose)),
      silence_(kSilence) {}

absl::StatusOr<std::unique_ptr<PostgresDatabase>> PostgresDatabase::Open(
    const PostgresPlace& place, const std::string& purpose) {
  std::unique_ptr<PostgresDatabase> database(new PostgresDatabase(place, purpose));
  RETURN_IF_ERROR(database->Connect());
  return database;
}

PostgresDatabase::~PostgresDatabase() {
  Disconnect();
}

void PostgresDatabase::Disconnect() {
  PQfinish(connection_);
  connection_ = nullptr;
  over_.clear();
  pending_ = 0;
  pipeline_ = false;
}

absl::Status PostgresDatabase::Lost(const std::string& why) {
  Disconnect();
  return absl::UnavailableError(absl::StrCat(path(), ": ", why,
                                             "; start the database, or correct the URL of the "
                                             "store"));
}

absl::Status PostgresDatabase::Connect() {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  const auto add = [&](const char* keyword, const char* value) {
    keywords.push_back(keyword);
    values.push_back(value);
  };
  for (const auto& [keyword, value] : place_.settings) {
    add(keyword.c_str(), value.c_str());
  }
  add("application_name", purpose_.c_str());
  add("client_encoding", "UTF8");
  add(nullptr, nullptr);
  Disconnect();
  ++generation_;
  connection_ = PQconnectStartParams(keywords.data(), values.data(), 0);
  if (connection_ == nullptr || PQstatus(connection_) == CONNECTION_BAD) {
    return Lost(OneLine(PQerrorMessage(connection_)));
  }
  PQsetNoticeProcessor(
      connection_, [](void*, const char*) {}, nullptr);
  const auto give_up = steady_clock::now() + kConnectWithin;
  PostgresPollingStatusType want = PGRES_POLLING_WRITING;
  while (want != PGRES_POLLING_OK) {
    const auto left = std::chrono::duration_cast<milliseconds>(give_up - steady_clock::now());
    pollfd waits{PQsocket(connection_),
                 static_cast<short>(want == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
    const int found = left.count() <= 0 ? 0 : poll(&waits, 1, static_cast<int>(left.count()));
    if (found == 0) {
      return Lost(absl::StrCat("no answer within ", kConnectWithin.count() / 1000, " s"));
    }
    want = found < 0 && errno == EINTR ? want : PQconnectPoll(connection_);
    if (want == PGRES_POLLING_FAILED) {
      return Lost(OneLine(PQerrorMessage(connection_)));
    }
  }
  PQsetnonblocking(connection_, 1);
  return CheckServer();
}

absl::Status PostgresDatabase::CheckServer() {
  const auto says = [this](const char* name) {
    const char* value = PQparameterStatus(connection_, name);
    return std::string(value == nullptr ? "" : value);
  };
  if (says("server_encoding") != "UTF8") {
    const std::string encoding = says("server_encoding");
    Disconnect();
    return absl::FailedPreconditionError(
        absl::StrCat(path(), ": its encoding is ", encoding,
                     ", Muster's texts are UTF-8: make the database with createdb --encoding=UTF8 "
                     "--template=template0"));
  }
  if (says("in_hot_standby") == "on" || says("default_transaction_read_only") == "on") {
    const bool standby = says("in_hot_standby") == "on";
    Disconnect();
    return absl::UnavailableError(absl::StrCat(
        path(), ": is read-only",
        standby ? ", a standby: name the primary, or both with target_session_attrs=read-write"
                : ": set default_transaction_read_only to off for this role and database"));
  }
  return Execute(kSession);
}

absl::Status PostgresDatabase::Ready() {
  if (connection_ != nullptr) {
    // A connection that the server has closed says so by now.
    pollfd waits{PQsocket(connection_), POLLIN, 0};
    while (connection_ != nullptr && poll(&waits, 1, 0) > 0) {
      if (PQconsumeInput(connection_) == 0 || PQstatus(connection_) == CONNECTION_BAD) {
        Disconnect();
      }
    }
  }
  if (connection_ == nullptr) {
    RETURN_IF_ERROR(Connect());
  }
  while (!over_.empty()) {
    const std::string name = over_.back();
    over_.pop_back();
    RETURN_IF_ERROR(Execute("DEALLOCATE " + name));
  }
  return absl::OkStatus();
}

absl::Status PostgresDatabase::AwaitInput() {
  auto give_up = steady_clock::now() + silence_;
  while (true) {
    const int left_to_send = PQflush(connection_);
    if (left_to_send < 0) {
      return Lost(OneLine(PQerrorMessage(connection_)));
    }
    if (PQisBusy(connection_) == 0) {
      return absl::OkStatus();
    }
    const auto left = std::chrono::duration_cast<milliseconds>(give_up - steady_clock::now());
    pollfd waits{PQsocket(connection_),
                 static_cast<short>(POLLIN | (left_to_send == 1 ? POLLOUT : 0)), 0};
    const int found = left.count() <= 0 ? 0 : poll(&waits, 1, static_cast<int>(left.count()));
    if (found == 0) {
      return Lost(absl::StrCat("no answer within ", silence_.count(), " ms"));
    }
    if (found > 0 && (waits.revents & (POLLIN | POLLERR | POLLHUP)) != 0) {
      if (PQconsumeInput(connection_) == 0) {
        return Lost(OneLine(PQerrorMessage(connection_)));
      }
      give_up = steady_clock::now() + silence_;
    }
  }
}

absl::StatusOr<PostgresResult> PostgresDatabase::NextResult() {
  if (connection_ == nullptr) {
    return absl::UnavailableError(absl::StrCat(path(), ": the connection is gone"));
  }
  RETURN_IF_ERROR(AwaitInput());
  PostgresResult result(PQgetResult(connection_));
  if (PQstatus(connection_) == CONNECTION_BAD) {
    return Lost(OneLine(result != nullptr ? PQresultErrorMessage(result.get())
                                          : PQerrorMessage(connection_)));
  }
  return result;
}

absl::Status PostgresDatabase::ErrorOf(const pg_result* result) const {
  const ExecStatusType status = PQresultStatus(result);
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_PIPELINE_SYNC) {
    return absl::OkStatus();
  }
  if (status == PGRES_PIPELINE_ABORTED) {
    return absl::AbortedError(absl::StrCat(path(), ": not done, for something before it failed"));
  }
  const char* const field = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const std::string state(field == nullptr ? "" : field);
  const std::string what =
      absl::StrCat(path(), ": ", OneLine(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY)));
  for (const Mend& mend : kMends) {
    if (absl::StartsWith(state, mend.state)) {
      return {mend.code, absl::StrCat(what, "; ", mend.mend)};
    }
  }
  return absl::InternalError(absl::StrCat(what, " (SQLSTATE ", state, ")"));
}

absl::Status PostgresDatabase::Sent(int taken) {
  if (taken != 1) {
    return Lost(OneLine(PQerrorMessage(connection_)));
  }
  pending_ += pipeline_ ? 1 : 0;
  return absl::OkStatus();
}

absl::Status PostgresDatabase::Drain(std::size_t keep) {
  absl::Status first;
  for (; pending_ > keep; --pending_) {
    ASSIGN_OR_RETURN(PostgresResult result, NextResult());
    absl::Status status = ErrorOf(result.get());
    // What the server says when it ends the session comes after a statement's own result.
    while (result != nullptr) {
      ASSIGN_OR_RETURN(result, NextResult());
      status = status.ok() && result != nullptr ? ErrorOf(result.get()) : status;
    }
    first = first.ok() ? status : first;
  }
  return first;
}

absl::StatusOr<PostgresResult> PostgresDatabase::TakeOnly() {
  absl::Status before;
  if (pipeline_) {
    PQsendFlushRequest(connection_);
    before = Drain(1);
    pending_ -= connection_ == nullptr ? 0 : 1;
  }
  ASSIGN_OR_RETURN(PostgresResult result, NextResult());
  const absl::Status status = ErrorOf(result.get());
  while (true) {
    ASSIGN_OR_RETURN(const PostgresResult end, NextResult());
    if (end == nullptr) {
      break;
    }
  }
  RETURN_IF_ERROR(before);
  RETURN_IF_ERROR(status);
  return result;
}

absl::Status PostgresDatabase::Execute(const std::string& sql) {
  MUSTER_CHECK(!pipeline_);
  if (connection_ == nullptr) {
    return absl::UnavailableError(absl::StrCat(path(), ": the connection is gone"));
  }
  RETURN_IF_ERROR(Sent(PQsendQuery(connection_, sql.c_str())));
  absl::Status first;
  while (true) {
    ASSIGN_OR_RETURN(const PostgresResult result, NextResult());
    if (result == nullptr) {
      return first;
    }
    first = first.ok() ? ErrorOf(result.get()) : first;
  }
}

PostgresQuery::PostgresQuery(PostgresDatabase& database, const std::string& sql)
    : database_(database) {
  bool quoted = false;
  for (const char c : sql) {
    quoted = quoted != (c == '\'');
    if (c == '?' && !quoted) {
      values_.emplace_back();
      absl::StrAppend(&sql_, "$", values_.size());
    } else {
      sql_ += c;
    }
  }
}

PostgresQuery::~PostgresQuery() {
  if (!name_.empty() && generation_ == database_.generation() && database_.connection_ != nullptr) {
    database_.over_.push_back(name_);
  }
}

void PostgresQuery::BindInteger(int index, std::optional<std::int64_t> value) {
  Value& slot = values_[static_cast<std::size_t>(index) - 1];
  slot.type = kInt8;
  slot.bytes = {};
  if (value.has_value()) {
    const std::uint64_t ordered = htobe64(static_cast<std::uint64_t>(*value));
    std::memcpy(slot.number.data(), &ordered, sizeof(ordered));
    slot.bytes = {slot.number.data(), slot.number.size()};
  }
}

void PostgresQuery::BindText(int index, std::string_view value) {
  Value& slot = values_[static_cast<std::size_t>(index) - 1];
  slot.type = kText;
  slot.text.assign(value.data() == nullptr ? "" : value.data(), value.size());
  if (slot.text.find('\0') != std::string::npos) {
    slot.text = absl::StrReplaceAll(slot.text, {{std::string(1, '\0'), "\xEF\xBF\xBD"}});
  }
  slot.bytes = slot.text;
}

void PostgresQuery::BindBytes(int index, std::string_view value) {
  Value& slot = values_[static_cast<std::size_t>(index) - 1];
  slot.type = kBytea;
  slot.bytes = value.data() == nullptr ? std::string_view("") : value;
}

absl::Status PostgresQuery::Send() {
  if (!database_.transaction_) {
    RETURN_IF_ERROR(database_.Ready());
  } else if (database_.connection_ == nullptr) {
    return absl::UnavailableError(absl::StrCat(database_.path(), ": the connection is gone"));
  }
  if (generation_ != database_.generation()) {
    generation_ = database_.generation();
    runs_ = 0;
    name_.clear();
  }
  const std::size_t count = values_.size();
  std::vector<Oid> types(count);
  std::vector<const char*> values(count);
  std::vector<int> lengths(count);
  const std::vector<int> formats(count, 1);
  for (std::size_t i = 0; i < count; ++i) {
    types[i] = values_[i].type;
    values[i] = values_[i].bytes.data();
    lengths[i] = static_cast<int>(values_[i].bytes.size());
  }
  PGconn* const connection = database_.connection_;
  const int many = static_cast<int>(count);
  if (runs_++ == 0) {
    return database_.Sent(PQsendQueryParams(connection, sql_.c_str(), many, types.data(),
                                            values.data(), lengths.data(), formats.data(), 1));
  }
  if (name_.empty()) {
    const std::string name = absl::StrCat("s", ++database_.names_);
    RETURN_IF_ERROR(
        database_.Sent(PQsendPrepare(connection, name.c_str(), sql_.c_str(), many, types.data())));
    if (!database_.pipeline_) {
      RETURN_IF_ERROR(database_.TakeOnly().status());
    }
    name_ = name;  // a pipeline that fails ends its connection
  }
  return database_.Sent(PQsendQueryPrepared(connection, name_.c_str(), many, values.data(),
                                            lengths.data(), formats.data(), 1));
}

absl::Status PostgresQuery::Run() {
  Reset();
  RETURN_IF_ERROR(Send());
  return database_.pipeline_ ? absl::OkStatus() : database_.TakeOnly().status();
}

absl::StatusOr<bool> PostgresQuery::Next() {
  if (rows_ == nullptr) {
    RETURN_IF_ERROR(Send());
    ASSIGN_OR_RETURN(rows_, database_.TakeOnly());
    row_ = -1;
  }
  if (++row_ < PQntuples(rows_.get())) {
    return true;
  }
  Reset();
  return false;
}

void PostgresQuery::Reset() {
  rows_.reset();
  row_ = -1;
}

bool PostgresQuery::IsNull(int column) const {
  return PQgetisnull(rows_.get(), row_, column) != 0;
}

std::int64_t PostgresQuery::Integer(int column) const {
  const std::string_view bytes = Bytes(column);
  if (bytes.size() == sizeof(std::uint64_t)) {
    std::uint64_t ordered = 0;
    std::memcpy(&ordered, bytes.data(), sizeof(ordered));
    return static_cast<std::int64_t>(be64toh(ordered));
  }
  if (bytes.size() == sizeof(std::uint32_t)) {
    std::uint32_t ordered = 0;
    std::memcpy(&ordered, bytes.data(), sizeof(ordered));
    return static_cast<std::int32_t>(be32toh(ordered));
  }
  MUSTER_CHECK(bytes.size() <= 1);  // NULL, or a truth value
  return bytes.empty() ? 0 : bytes.front();
}

std::string_view PostgresQuery::Bytes(int column) const {
  return {PQgetvalue(rows_.get(), row_, column),
          static_cast<std::size_t>(PQgetlength(rows_.get(), row_, column))};
}

std::unique_ptr<Query> PostgresDatabase::Prepare(const std::string& sql) {
  return std::make_unique<PostgresQuery>(*this, sql);
}

absl::Status PostgresDatabase::Begin(Kind kind) {
  RETURN_IF_ERROR(Ready());
  if (kind == Kind::kRead) {
    RETURN_IF_ERROR(Execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
    transaction_ = true;
    return absl::OkStatus();
  }
  if (PQenterPipelineMode(connection_) != 1) {  // the server has ended the session meanwhile
    return Lost(OneLine(PQerrorMessage(connection_)));
  }
  pipeline_ = true;
  RETURN_IF_ERROR(
      Sent(PQsendQueryParams(connection_, "BEGIN", 0, nullptr, nullptr, nullptr, nullptr, 1)));
  transaction_ = true;
  return absl::OkStatus();
}

absl::Status PostgresDatabase::Commit() {
  if (connection_ == nullptr) {
    return absl::UnavailableError(absl::StrCat(path(), ": the connection is gone"));
  }
  if (!pipeline_) {
    RETURN_IF_ERROR(Execute("COMMIT"));
    transaction_ = false;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(
      Sent(PQsendQueryParams(connection_, "COMMIT", 0, nullptr, nullptr, nullptr, nullptr, 1)));
  if (PQpipelineSync(connection_) != 1) {
    return Lost(OneLine(PQerrorMessage(connection_)));
  }
  absl::Status status = Drain(0);
  if (connection_ == nullptr) {
    return status;
  }
  ASSIGN_OR_RETURN(const PostgresResult sync, NextResult());
  pipeline_ = PQexitPipelineMode(connection_) != 1;
  if (pipeline_) {
    return Lost("the pipeline does not end");
  }
  if (!status.ok()) {
    Disconnect();  // of what was prepared on the way, nobody knows what is there
    return status;
  }
  transaction_ = false;
  ++transactions_;
  return absl::OkStatus();
}

void PostgresDatabase::Rollback() {
  transaction_ = false;
  if (pipeline_) {
    Disconnect();  // what was sent is undone with the session
  }
  if (connection_ != nullptr && PQtransactionStatus(connection_) != PQTRANS_IDLE) {
    if (!Execute("ROLLBACK").ok()) {
      Disconnect();
    }
  }
}

absl::StatusOr<bool> PostgresDatabase::AwaitNotification(milliseconds most) {
  RETURN_IF_ERROR(Ready());
  const auto give_up = steady_clock::now() + most;
  bool came = false;
  while (true) {
    if (PQconsumeInput(connection_) == 0) {
      return Lost(OneLine(PQerrorMessage(connection_)));
    }
    while (PGnotify* notice = PQnotifies(connection_)) {
      came = true;
      PQfreemem(notice);
    }
    const auto left = std::chrono::ceil<milliseconds>(give_up - steady_clock::now());
    if (came || left.count() <= 0) {
      return came;
    }
    pollfd waits{PQsocket(connection_), POLLIN, 0};
    poll(&waits, 1, static_cast<int>(left.count()));
  }
}

}  // namespace muster::daemon
