#include <unistd.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/controller/streams/event_watch.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/parse/selector.h"
#include "cli/sheet/timeline/event_text.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

absl::StatusOr<EventQuery> ReadQuery(const Invocation& invocation) {
  EventQuery query;
  query.follow = invocation.Has("follow");
  query.user = invocation.Value("user");
  if (invocation.Has("from")) {
    const absl::StatusOr<std::uint64_t> from = ParseDigits(
        invocation.Value("from"), std::uint64_t{std::numeric_limits<std::int64_t>::max()});
    if (!from.ok() || *from == 0) {
      return absl::InvalidArgumentError(absl::StrCat("--from: ", Quote(invocation.Value("from")),
                                                     " is not an event's number: 1 or more"));
    }
    query.from = *from;
  }
  if (invocation.Has("job")) {
    ASSIGN_OR_RETURN(query.job, ParseJobId(invocation.Value("job")));
  }
  return query;
}

absl::StatusOr<int> Events(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const EventQuery query, ReadQuery(invocation));
  ASSIGN_OR_RETURN(const Address address, AddressOf(invocation));
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  const bool json = invocation.Has("json");
  absl::Status written = absl::OkStatus();
  const absl::Status read =
      ReadEvents(address, query, {.tell = [&style, &written, json](const EventLine& event) {
                   written = WriteOut(json ? event.json + "\n" : EventText(event.json, style));
                   return written.ok();
                 }});
  RETURN_IF_ERROR(read);
  RETURN_IF_ERROR(written);
  return 0;
}

}  // namespace

Verb EventsVerb() {
  Verb verb;
  verb.name = "events";
  verb.purpose = "Tell what happened to jobs and nodes, and what happens";
  verb.examples = {"muster events --follow", "muster events --follow --json --from 4711",
                   "muster events --job 12"};
  verb.remarks =
      "With --json each line is an event of CloudEvents 1.0, whose id is its number. A reader "
      "that\n"
      "was interrupted misses nothing: the number after the last one is where --from goes on.\n";
  verb.options = {
      {.name = "follow", .letter = 'f', .metavar = "", .text = "Wait for those to come"},
      {.name = "from",
       .letter = 0,
       .metavar = "N",
       .text = "Begin at event N (default: now with --follow, else the last thousand)"},
      {.name = "job", .letter = 'j', .metavar = "JOB", .text = "Of this job, or array, alone"},
      {.name = "user", .letter = 'u', .metavar = "USER", .text = "Of this user's jobs alone"},
      JsonOption()};
  verb.run = Events;
  return verb;
}

}  // namespace muster::cli
