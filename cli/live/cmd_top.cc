#include <unistd.h>

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/query/newest_job.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/live/rank_sheet.h"
#include "cli/parse/selector.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/signals.h"

namespace muster::cli {
namespace {

constexpr std::chrono::milliseconds kPause{2000};
constexpr std::chrono::milliseconds kFirstPause{500};
constexpr const char* kHome = "\x1b[H";       // to the first line
constexpr const char* kClear = "\x1b[J";      // from here to the end of the screen
constexpr const char* kClearLine = "\x1b[K";  // to the end of the line

Json RankDocument(const std::vector<RankRow>& rows, const std::vector<std::string>& silent) {
  Json document = Json::object();
  document["ranks"] = Json::array();
  for (const RankRow& row : rows) {
    Json one = ToJson(row.use);
    one["cpu_percent"] = ToJson(row.cpu_percent);
    document["ranks"].push_back(std::move(one));
  }
  document["silent"] = ToJson(silent);
  return document;
}

// The page over the one before, without a flicker.
std::string OverTheLast(const std::string& page) {
  std::string drawn = kHome;
  for (const char c : page) {
    absl::StrAppend(&drawn, c == '\n' ? kClearLine : "", std::string(1, c));
  }
  return drawn + kClear;
}

absl::StatusOr<int> Top(const Invocation& invocation) {
  IgnoreBrokenPipes();
  ASSIGN_OR_RETURN(const std::vector<std::string> names, WithNumbers(invocation));
  ASSIGN_OR_RETURN(const JobSelector named, ParseSelector(names.front()));
  if (named.elements.size() > 1) {
    return absl::InvalidArgumentError("top shows one job: name the element, like 12_3");
  }
  ListRanks asked;
  asked.job = NamedId(named);
  if (!named.elements.empty()) {
    asked.array_index = named.elements.front();
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  const bool json = invocation.Has("json");
  const bool once = json || invocation.Has("once") || isatty(STDOUT_FILENO) == 0;
  ASSIGN_OR_RETURN(RankTable before, connection->Call(asked));
  std::this_thread::sleep_for(kFirstPause);
  while (true) {
    absl::StatusOr<RankTable> now = connection->Call(asked);
    const bool over =
        !once && (absl::IsNotFound(now.status()) || absl::IsFailedPrecondition(now.status()));
    if (over) {
      return 0;  // the job has ended
    }
    RETURN_IF_ERROR(now.status());
    const std::vector<RankRow> rows = CompareRanks(before, *now);
    const std::string page = PrintRanks(rows, now->silent, StyleFor(invocation.environment, 1));
    RETURN_IF_ERROR(WriteOut(json   ? PrintJson(RankDocument(rows, now->silent))
                             : once ? page
                                    : OverTheLast(page)));
    if (once) {
      return 0;
    }
    before = *std::move(now);
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

Verb TopVerb() {
  Verb verb;
  verb.name = "top";
  verb.purpose = "Show what the ranks of a running job do, again and again";
  verb.synopsis = "JOB";
  verb.examples = {"muster top last", "muster top --once 12", "muster top --json 12_3"};
  verb.remarks =
      "Each rank with its processes' state, threads, cores, memory and CPUs (100 is one CPU), and\n"
      "its GPUs where they are metered. Every two seconds on a terminal; once to a file.";
  verb.options = {{.name = "once", .letter = 0, .metavar = "", .text = "Show them once"},
                  JsonOption()};
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Top;
  return verb;
}

}  // namespace muster::cli
