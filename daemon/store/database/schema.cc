#include "daemon/store/database/schema.h"

#include <algorithm>
#include <array>

#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

constexpr const char* kVersion1 = R"sql(
CREATE TABLE journal (
  version INTEGER PRIMARY KEY,
  time    INTEGER,
  kind    TEXT NOT NULL,
  job     INTEGER,
  payload BLOB NOT NULL
) STRICT;

CREATE TABLE submissions (
  first     INTEGER PRIMARY KEY,
  count     INTEGER NOT NULL CHECK (count >= 1),
  open      INTEGER NOT NULL CHECK (open BETWEEN 0 AND count),
  version   INTEGER NOT NULL,
  token     TEXT NOT NULL,
  submitted INTEGER NOT NULL,
  spec      BLOB NOT NULL
) STRICT;
CREATE INDEX submissions_open ON submissions (first) WHERE open > 0;
CREATE INDEX submissions_token ON submissions (token) WHERE token <> '';

CREATE TABLE programs (
  submission INTEGER PRIMARY KEY REFERENCES submissions (first),
  payload    BLOB NOT NULL
) STRICT;

CREATE TABLE jobs (
  id         INTEGER PRIMARY KEY,
  submission INTEGER NOT NULL REFERENCES submissions (first),
  payload    BLOB NOT NULL
) STRICT;

CREATE TABLE history (
  id            INTEGER PRIMARY KEY,
  submission    INTEGER NOT NULL REFERENCES submissions (first),
  array_index   INTEGER,
  "user"        TEXT NOT NULL,
  account       TEXT NOT NULL,
  name          TEXT NOT NULL,
  state         TEXT NOT NULL,
  submitted     INTEGER,
  started       INTEGER,
  ended         INTEGER NOT NULL,
  nodes         TEXT NOT NULL,
  cpus          INTEGER NOT NULL,
  memory        INTEGER NOT NULL,
  gpus          INTEGER NOT NULL,
  exit_code     INTEGER NOT NULL,
  exit_signal   INTEGER NOT NULL,
  user_cpu_ms   INTEGER NOT NULL,
  system_cpu_ms INTEGER NOT NULL,
  peak_memory   INTEGER NOT NULL,
  detail        BLOB NOT NULL
) STRICT;
CREATE INDEX history_ended ON history (ended);
CREATE INDEX history_user ON history ("user", ended);
CREATE INDEX history_submission ON history (submission, array_index);

CREATE TABLE attempts (
  job           INTEGER NOT NULL,
  number        INTEGER NOT NULL,
  started       INTEGER,
  ended         INTEGER,
  nodes         TEXT NOT NULL,
  cpus          INTEGER NOT NULL,
  memory        INTEGER NOT NULL,
  gpus          INTEGER NOT NULL,
  exit_code     INTEGER NOT NULL,
  exit_signal   INTEGER NOT NULL,
  cause         TEXT NOT NULL,
  user_cpu_ms   INTEGER NOT NULL,
  system_cpu_ms INTEGER NOT NULL,
  peak_memory   INTEGER NOT NULL,
  binding       TEXT NOT NULL,
  detail        BLOB NOT NULL,
  PRIMARY KEY (job, number)
) STRICT;

CREATE TABLE steps (
  job           INTEGER NOT NULL,
  attempt       INTEGER NOT NULL,
  step          INTEGER NOT NULL,
  version       INTEGER REFERENCES journal (version),
  token         TEXT NOT NULL DEFAULT '',
  name          TEXT NOT NULL DEFAULT '',
  started       INTEGER,
  ended         INTEGER,
  exit_code     INTEGER NOT NULL DEFAULT 0,
  exit_signal   INTEGER NOT NULL DEFAULT 0,
  user_cpu_ms   INTEGER NOT NULL DEFAULT 0,
  system_cpu_ms INTEGER NOT NULL DEFAULT 0,
  peak_memory   INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (job, attempt, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
  id      INTEGER PRIMARY KEY,
  name    TEXT NOT NULL,
  payload BLOB NOT NULL
) STRICT;

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
)sql";

// Policy: one row for each object (its last change) and for what was spent of a budget.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE policy (
  kind    TEXT NOT NULL,
  name    TEXT NOT NULL,
  payload BLOB NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_policy ON journal (version) WHERE kind = 'policy_changed';
)sql";

// Who was charged for an attempt, and its rate: receipts of usage.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE attempts ADD COLUMN "user" TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN account TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN billing INTEGER NOT NULL DEFAULT 0;
CREATE INDEX attempts_charged ON attempts ("user", ended) WHERE billing > 0;
)sql";

// For how long of its time an attempt was suspended, which is not charged.
constexpr const char* kVersion4 = R"sql(
ALTER TABLE attempts ADD COLUMN suspended INTEGER NOT NULL DEFAULT 0;
)sql";

// The cycles, so that each decision can be made again from the journal.
constexpr const char* kVersion5 = R"sql(
CREATE TABLE settings (
  hash    INTEGER PRIMARY KEY,
  payload BLOB NOT NULL
) STRICT;

CREATE TABLE passes (
  id       INTEGER PRIMARY KEY /* counted */,
  version  INTEGER NOT NULL,
  time     INTEGER NOT NULL,
  hash     INTEGER NOT NULL,
  follows  INTEGER NOT NULL,
  settings INTEGER NOT NULL REFERENCES settings (hash)
) STRICT;
)sql";

// The health of nodes: what the state holds of each, how often it failed jobs, and its checks.
constexpr const char* kVersion6 = R"sql(
CREATE TABLE node_health (
  node    INTEGER PRIMARY KEY,
  payload BLOB NOT NULL
) STRICT;

CREATE TABLE node_failures (
  node     INTEGER PRIMARY KEY,
  failures INTEGER NOT NULL,
  exposure INTEGER NOT NULL,
  faded    INTEGER NOT NULL,
  failed   INTEGER NOT NULL
) STRICT;

CREATE TABLE health (
  node    INTEGER NOT NULL,
  number  INTEGER NOT NULL,
  payload BLOB NOT NULL,
  PRIMARY KEY (node, number)
) STRICT, WITHOUT ROWID;
)sql";

// Block sizes of kernels that one node found, for those like it.
constexpr const char* kVersion7 = R"sql(
CREATE TABLE tunings (
  kernel       TEXT NOT NULL,
  shape        TEXT NOT NULL,
  type         TEXT NOT NULL,
  architecture TEXT NOT NULL,
  version      INTEGER NOT NULL,
  choice       TEXT NOT NULL,
  time         INTEGER NOT NULL,
  PRIMARY KEY (kernel, shape, type, architecture)
) STRICT, WITHOUT ROWID;
)sql";

// What a step waited for, what it had and whose failure its exit is.
constexpr const char* kVersion8 = R"sql(
ALTER TABLE steps ADD COLUMN queued INTEGER;
ALTER TABLE steps ADD COLUMN nodes TEXT NOT NULL DEFAULT '';
ALTER TABLE steps ADD COLUMN tasks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE steps ADD COLUMN cpus INTEGER NOT NULL DEFAULT 0;
ALTER TABLE steps ADD COLUMN gpus INTEGER NOT NULL DEFAULT 0;
ALTER TABLE steps ADD COLUMN open INTEGER NOT NULL DEFAULT 0;
ALTER TABLE steps ADD COLUMN text TEXT NOT NULL DEFAULT '';
ALTER TABLE steps ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
)sql";

// How many of a node's failures left nothing on it.
constexpr const char* kVersion9 = R"sql(
ALTER TABLE node_failures ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;
)sql";

// What people said of jobs by hand: all comments beside each other, for they are listed without the
// texts of other names, which may be long.
constexpr const char* kVersion10 = R"sql(
CREATE TABLE job_notes (
  name   TEXT NOT NULL,
  job    INTEGER NOT NULL,
  text   TEXT NOT NULL,
  "user" TEXT NOT NULL,
  time   INTEGER NOT NULL,
  PRIMARY KEY (name, job)
) STRICT, WITHOUT ROWID;
)sql";

// Environments and scripts apart from the rest of their programs, so that they are erased when
// their jobs end. Those of entries up to the last one that is there are taken out by and by.
constexpr const char* kVersion11 = R"sql(
ALTER TABLE programs ADD COLUMN secret BLOB;
ALTER TABLE steps ADD COLUMN secret BLOB;
INSERT INTO meta SELECT 'whole_entries', version FROM journal ORDER BY version DESC LIMIT 1;
)sql";

// Journal entries and ended jobs may go, and what is left must not be looked through for each of
// them: steps name their entries, and live jobs their submissions, without a constraint.
constexpr const char* kVersion12 = R"sql(
CREATE TABLE free_jobs (
  id         INTEGER PRIMARY KEY,
  submission INTEGER NOT NULL,
  payload    BLOB NOT NULL
) STRICT;
INSERT INTO free_jobs SELECT id, submission, payload FROM jobs;
DROP TABLE jobs;
ALTER TABLE free_jobs RENAME TO jobs;

CREATE TABLE free_steps (
  job           INTEGER NOT NULL,
  attempt       INTEGER NOT NULL,
  step          INTEGER NOT NULL,
  version       INTEGER,
  token         TEXT NOT NULL DEFAULT '',
  name          TEXT NOT NULL DEFAULT '',
  started       INTEGER,
  ended         INTEGER,
  exit_code     INTEGER NOT NULL DEFAULT 0,
  exit_signal   INTEGER NOT NULL DEFAULT 0,
  user_cpu_ms   INTEGER NOT NULL DEFAULT 0,
  system_cpu_ms INTEGER NOT NULL DEFAULT 0,
  peak_memory   INTEGER NOT NULL DEFAULT 0,
  queued        INTEGER,
  nodes         TEXT NOT NULL DEFAULT '',
  tasks         INTEGER NOT NULL DEFAULT 0,
  cpus          INTEGER NOT NULL DEFAULT 0,
  gpus          INTEGER NOT NULL DEFAULT 0,
  open          INTEGER NOT NULL DEFAULT 0,
  text          TEXT NOT NULL DEFAULT '',
  failed        INTEGER NOT NULL DEFAULT 0,
  secret        BLOB,
  PRIMARY KEY (job, attempt, step)
) STRICT, WITHOUT ROWID;
INSERT INTO free_steps SELECT job, attempt, step, version, token, name, started, ended, exit_code,
  exit_signal, user_cpu_ms, system_cpu_ms, peak_memory, queued, nodes, tasks, cpus, gpus, open,
  text, failed, secret FROM steps;
DROP TABLE steps;
ALTER TABLE free_steps RENAME TO steps;
)sql";

// Ended jobs that were loaded from the archive, and until when they stay.
constexpr const char* kVersion13 = R"sql(
CREATE TABLE loaded (
  submission INTEGER PRIMARY KEY,
  until      INTEGER NOT NULL
) STRICT;
)sql";

// Nodes that were switched off: what the state holds of each.
constexpr const char* kVersion14 = R"sql(
CREATE TABLE node_power (
  node    INTEGER PRIMARY KEY,
  payload BLOB NOT NULL
) STRICT;
)sql";

// The alerts that last.
constexpr const char* kVersion15 = R"sql(
CREATE TABLE alerts (
  rule    TEXT NOT NULL,
  subject TEXT NOT NULL,
  payload BLOB NOT NULL,
  PRIMARY KEY (rule, subject)
) STRICT, WITHOUT ROWID;
)sql";

// Attempts keep when they were suspended; a program that does not know of it would forget that.
constexpr const char* kVersion16 = R"sql(
UPDATE jobs SET payload = payload WHERE id < 0;
)sql";

// Nodes keep images; a program that does not know of it would forget that.
constexpr const char* kVersion17 = R"sql(
UPDATE nodes SET payload = payload WHERE id < 0;
)sql";

// Others use GPUs of nodes; a program that does not know of it would give these GPUs away.
constexpr const char* kVersion18 = R"sql(
UPDATE nodes SET payload = payload WHERE id < 0;
)sql";

// The narrow links between switches.
constexpr const char* kVersion19 = R"sql(
CREATE TABLE narrow_links (
  first   TEXT NOT NULL,
  second  TEXT NOT NULL,
  payload BLOB NOT NULL,
  PRIMARY KEY (first, second)
) STRICT, WITHOUT ROWID;
)sql";

constexpr std::array<Migration, 19> kMigrations = {{{1, kVersion1},
                                                    {2, kVersion2},
                                                    {3, kVersion3},
                                                    {4, kVersion4},
                                                    {5, kVersion5},
                                                    {6, kVersion6},
                                                    {7, kVersion7},
                                                    {8, kVersion8},
                                                    {9, kVersion9},
                                                    {10, kVersion10},
                                                    {11, kVersion11},
                                                    {12, kVersion12},
                                                    {13, kVersion13},
                                                    {14, kVersion14},
                                                    {15, kVersion15},
                                                    {16, kVersion16},
                                                    {17, kVersion17},
                                                    {18, kVersion18},
                                                    {19, kVersion19}}};

// A parent before those whose rows name it.
constexpr std::array<TableOf, 21> kTables = {{
    {"journal", "version, time, kind, job, payload", "iitib", "version"},
    {"submissions", "first, count, open, version, token, submitted, spec", "iiiitib", "first"},
    {"programs", "submission, payload, secret", "ibb", "submission"},
    {"jobs", "id, submission, payload", "iib", "id"},
    {"history",
     "id, submission, array_index, \"user\", account, name, state, submitted, started, ended, "
     "nodes, "
     "cpus, memory, gpus, exit_code, exit_signal, user_cpu_ms, system_cpu_ms, peak_memory, detail",
     "iiittttiiitiiiiiiiib", "id"},
    {"attempts",
     "job, number, started, ended, nodes, cpus, memory, gpus, exit_code, exit_signal, cause, "
     "user_cpu_ms, system_cpu_ms, peak_memory, binding, detail, \"user\", account, billing, "
     "suspended",
     "iiiitiiiiitiiitbttii", "job, number"},
    {"steps",
     "job, attempt, step, version, token, name, started, ended, exit_code, exit_signal, "
     "user_cpu_ms, system_cpu_ms, peak_memory, queued, nodes, tasks, cpus, gpus, open, text, "
     "failed, secret",
     "iiiittiiiiiiiitiiiitib", "job, attempt, step"},
    {"nodes", "id, name, payload", "itb", "id"},
    {"meta", "key, value", "ti", "key"},
    {"policy", "kind, name, payload", "ttb", "kind, name"},
    {"settings", "hash, payload", "ib", "hash"},
    {"passes", "id, version, time, hash, follows, settings", "iiiiii", "id"},
    {"node_health", "node, payload", "ib", "node"},
    {"node_failures", "node, failures, exposure, faded, failed, losses", "iiiiii", "node"},
    {"node_power", "node, payload", "ib", "node"},
    {"alerts", "rule, subject, payload", "ttb", "rule, subject"},
    {"narrow_links", "first, second, payload", "ttb", "first, second"},
    {"health", "node, number, payload", "iib", "node, number"},
    {"tunings", "kernel, shape, type, architecture, version, choice, time", "ttttiti",
     "kernel, shape, type, architecture"},
    {"job_notes", "name, job, text, \"user\", time", "titti", "name, job"},
    {"loaded", "submission, until", "ii", "submission"},
}};

}  // namespace

std::span<const Migration> Migrations() {
  return kMigrations;
}

std::span<const TableOf> Tables() {
  return kTables;
}

const TableOf& TableNamed(std::string_view name) {
  const auto* const found = std::find_if(
      kTables.begin(), kTables.end(), [name](const TableOf& table) { return name == table.name; });
  MUSTER_CHECK(found != kTables.end());
  return *found;
}

}  // namespace muster::daemon
