#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/controller/controller.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/progress_bar.h"
#include "cli/frame/verbs.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

constexpr Duration kKeep = std::chrono::hours(7 * 24);
constexpr Duration kLongestKeep = std::chrono::hours(366 * 24);

// What a file is about: entries of the journal, or times.
std::string StretchOf(const ArchiveFile& file, absl::TimeZone zone) {
  if (file.kind == "journal") {
    return absl::StrCat("entries ", file.first, " to ", file.last);
  }
  return file.kind == "jobs"
             ? absl::StrCat(Counted(file.jobs, "job"), " ended ", MomentText(file.from, zone), " to ",
                            MomentText(file.to, zone))
             : absl::StrCat("the state after entry ", file.last, ", of ", MomentText(file.from, zone));
}

absl::StatusOr<int> List(const Invocation& invocation, Connection& connection) {
  ASSIGN_OR_RETURN(const std::vector<ArchiveFile> files, connection.Call(ListArchive{}));
  if (invocation.Has("json")) {
    RETURN_IF_ERROR(WriteOut(PrintJson(Json{{"files", ToJson(files)}})));
    return 0;
  }
  Table table({{"FILE"}, {"KIND"}, {"SIZE"}, {"WHAT IT HOLDS"}});
  for (const ArchiveFile& file : files) {
    table.Add({{file.name}, {file.kind}, {BytesText(file.size.value())}, {StretchOf(file, absl::LocalTimeZone())}});
  }
  RETURN_IF_ERROR(WriteOut(table.Print(StyleFor(invocation.environment, STDOUT_FILENO))));
  return 0;
}

absl::StatusOr<Duration> ReadKeep(const Invocation& invocation) {
  if (!invocation.Has("keep")) {
    return kKeep;
  }
  const absl::StatusOr<Duration> read = ParseDuration(invocation.Value("keep"));
  if (!read.ok() || *read < std::chrono::seconds(1) || *read > kLongestKeep) {
    return absl::InvalidArgumentError(
        absl::StrCat("--keep: ", read.ok() ? "1s to 366d" : std::string(read.status().message())));
  }
  return *read;
}

absl::StatusOr<LoadedJobs> LoadFile(Connection& connection, const std::string& file,
                                    Duration keep) {
  LoadedJobs all;
  const SystemClock clock;
  ProgressBar bar(absl::StrCat("load ", file), "jobs", clock, STDERR_FILENO);
  do {
    ASSIGN_OR_RETURN(const LoadedJobs some, connection.Call(LoadArchive{file, keep, all.last}));
    all.loaded += some.loaded;
    all.present += some.present;
    all.last = some.last;
    bar.Show(-1, all.loaded + all.present);
  } while (all.last != JobId(0));
  bar.Wipe();
  return all;
}

absl::StatusOr<int> Load(const Invocation& invocation, Connection& connection, Duration keep) {
  Json documents = Json::array();
  for (std::size_t i = 1; i < invocation.arguments.size(); ++i) {
    const std::string& file = invocation.arguments[i];
    ASSIGN_OR_RETURN(const LoadedJobs jobs, LoadFile(connection, file, keep));
    if (invocation.Has("json")) {
      documents.push_back({{"file", file}, {"loaded", jobs.loaded}, {"present", jobs.present}});
      continue;
    }
    RETURN_IF_ERROR(WriteOut(absl::StrCat(
        file, ": ", Counted(jobs.loaded, "job"), " loaded",
        jobs.present > 0 ? absl::StrCat(", ", jobs.present, " were there already") : "", "\n")));
  }
  if (invocation.Has("json")) {
    RETURN_IF_ERROR(WriteOut(PrintJson(Json{{"files", std::move(documents)}})));
  }
  return 0;
}

absl::StatusOr<int> Archive(const Invocation& invocation) {
  const std::string& action = invocation.arguments.front();
  const bool load = action == "load";
  if (!load && action != "list") {
    return absl::InvalidArgumentError(absl::StrCat(action, ": expected list or load"));
  }
  if (load != (invocation.arguments.size() > 1)) {
    return absl::InvalidArgumentError(load ? "load needs a FILE that muster archive list names"
                                           : "list takes no further word");
  }
  if (!load && invocation.Has("keep")) {
    return absl::InvalidArgumentError("--keep goes with load");
  }
  ASSIGN_OR_RETURN(const Duration keep, ReadKeep(invocation));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  return load ? Load(invocation, *connection, keep) : List(invocation, *connection);
}

}  // namespace

Verb ArchiveVerb() {
  Verb verb;
  verb.name = "archive";
  verb.purpose = "Show what left the controller's store, and have ended jobs come back";
  verb.synopsis = "list|load [FILE…]";
  verb.forms = {"list", "load FILE… [--keep TIME]"};
  verb.examples = {"muster archive list",
                   "muster archive load jobs-1767222000000-1769900400000-48211.db.zst --keep 30d"};
  verb.remarks =
      "Jobs that were loaded are in history, show, report and sacct again until --keep is over.\n";
  verb.options = {{.name = "keep",
                   .letter = 0,
                   .metavar = "TIME",
                   .text = "With load: how long the jobs stay (default 7d)"},
                  JsonOption()};
  verb.arguments_min = 1;
  verb.arguments_max = 100;
  verb.run = Archive;
  return verb;
}

}  // namespace muster::cli
