#pragma once

// The tables of a store, as numbered steps that each take a database one version further. The only
// description of them: PostgreSQL's words are made of these, which are SQLite's.
//
// A step that was released is never edited: a change of the schema is a further step, and its
// columns come to Tables(). Invariant: Tables() says what all steps together make.
//
// The tables, version 1 (times are UTC milliseconds, NULL for "never"; payloads are the
// wire's messages):
//
//   journal      one row an event; kind is the wire's field name. A job_submitted lacks spec and
//                program: they are in the next two tables. From meta's 'journal_begins' on versions
//                have no gap; before, there are the entries that live jobs need, and changes of
//                policy.
//   submissions  one row a submission of `count` jobs with ids first, first+1, …; open counts those
//                that have not ended. An element with neither a jobs nor a history row is a job as
//                it was submitted, so an array of any size costs one row.
//   programs     what runs: large, and read at a launch only; secret: the environment and the
//   script,
//                of a submission with all its components, empty once all its jobs have ended
//   jobs         live jobs that differ from what was submitted
//   history      jobs that ended; detail is a JobDetail without attempts
//   attempts     attempts that ended; detail is an AttemptView
//   steps        version names the step_started or step_queued entry that has its program; NULL for
//                the step that a run job begins with; open: nodes that have not said that it ended;
//                secret: as in programs, of that entry
//   nodes        every node that ever registered
//   meta         'epoch': the newest controller's; 'whole_entries': up to which version entries may
//                be from before version 11, their secrets and their programs' within the payloads;
//                'next_job', 'next_node': ids below were given out; 'journal_begins': the first
//                version of the journal (none: 1)
//   loaded       submissions whose jobs came back from the archive, and until when they stay

#include <cstdint>
#include <span>
#include <string_view>

namespace muster::daemon {

struct Migration {
  std::int64_t version;
  const char* sql;
};

// The steps that this program knows, ascending from 1.
std::span<const Migration> Migrations();

struct TableOf {
  const char* name;
  const char* columns;  // by commas, in their order
  const char* kinds;    // of each: i integer, t text, b bytes
  const char* key;      // the columns of its primary key, by commas
};

// A table whose rows others name comes before theirs.
std::span<const TableOf> Tables();
// REQUIRES: there is one of that name.
const TableOf& TableNamed(std::string_view name);

}  // namespace muster::daemon
