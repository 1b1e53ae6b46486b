#include "cli/drill/drill_page.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/page/quantity.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

std::optional<Duration> Since(Time from, Time to) {
  return from == kNoTime || to == kNoTime ? std::nullopt
                                          : std::optional(std::max(to - from, Duration(0)));
}

std::string StartText(const DrillFacts& facts) {
  const std::optional<Duration> waited = Since(facts.submitted, facts.started);
  if (!waited.has_value()) {
    return "it did not start";
  }
  std::string text = absl::StrCat("waited ", PreciseText(*waited));
  if (const std::optional<Duration> work = TimeToWork(facts)) {
    absl::StrAppend(&text, "; back at work ", PreciseText(*work), " after its submission");
  } else {
    absl::StrAppend(&text, "; it restored no checkpoint");
  }
  if (const auto saved = Since(facts.submitted, facts.first_checkpoint)) {
    absl::StrAppend(&text, "; its first checkpoint ", PreciseText(*saved), " after it");
  }
  return text;
}

std::string CheckpointLine(const DrillFacts& facts, const Style& style) {
  std::string text = absl::StrCat("generation ", facts.generation);
  if (facts.ranks > 0) {
    absl::StrAppend(&text, " of ", MomentText(facts.written, style.zone), ", ",
                    Counted(facts.ranks, "rank"), ", ", BytesText(facts.bytes));
  }
  return absl::StrCat(text, ", in ", facts.directory);
}

Paint PaintOf(DrillOutcome outcome) {
  return outcome == DrillOutcome::kRecovered ? Paint::kGreen
         : outcome == DrillOutcome::kFailed  ? Paint::kRed
                                             : Paint::kYellow;
}

std::string Lines(const DrillFacts& facts, const Style& style) {
  Table table({{.title = ""}, {.title = ""}});
  table.Add({{"job"}, {absl::StrCat(facts.original, " (", facts.name, ")")}});
  table.Add({{"checkpoint"}, {CheckpointLine(facts, style)}});
  if (!facts.drill.empty()) {
    table.Add({{"drill"},
               {absl::StrCat("job ", facts.drill,
                             facts.end.state.empty() ? "" : ", ended " + EndText(facts.end),
                             facts.copy.empty() ? "" : ", kept in " + facts.copy)}});
    table.Add({{"start"}, {StartText(facts)}});
    table.Add(
        {{"would be lost"},
         {absl::StrCat(PreciseText(facts.lost), " of work since generation ", facts.generation)}});
    table.Add({{"state"}, {StateText(facts)}});
  }
  return table.Print(style, false);
}

std::string Values(const DrillFacts& facts, const Style& style) {
  Table table({{.title = "REPORTED"},
               {.title = "ORIGINAL", .right = true},
               {.title = "DRILL", .right = true}});
  for (const DrillValue& value : facts.values) {
    table.Add({{value.name},
               {absl::StrFormat("%.6g", value.original)},
               {absl::StrFormat("%.6g", value.drill)}});
  }
  return facts.values.empty() ? "" : absl::StrCat("\n", table.Print(style));
}

std::string LastLines(const DrillFacts& facts, const DrillVerdict& verdict) {
  if (facts.last_lines.empty() || verdict.outcome == DrillOutcome::kRecovered) {
    return "";
  }
  std::string text = "\nthe drill's last lines:\n";
  for (const std::string& line : facts.last_lines) {
    absl::StrAppend(&text, "  ", Printable(line), "\n");
  }
  return text;
}

Json MaybeSeconds(std::optional<Duration> duration) {
  return ToJson(duration);
}

Json EndDocument(const DrillEnd& end) {
  return end.state.empty() ? Json(nullptr)
                           : Json{{"state", end.state},
                                  {"exit_code", end.exit.code},
                                  {"exit_signal", end.exit.signal}};
}

const char* WordFor(StateMatch match) {
  switch (match) {
    case StateMatch::kEqual:
      return "equal";
    case StateMatch::kDiffers:
      return "differs";
    case StateMatch::kOtherRanks:
    case StateMatch::kNotCompared:
      break;
  }
  return "not compared";
}

Json StateDocument(const DrillFacts& facts) {
  const StateComparison& states = facts.states;
  Json differing = Json::array();
  for (const RegionPrint& region : states.differing) {
    differing.push_back({{"rank", region.rank}, {"region", region.name}});
  }
  return {{"match", WordFor(states.match)},
          {"text", StateText(facts)},
          {"generation", states.generation == 0 ? Json(nullptr) : Json(states.generation)},
          {"regions", states.regions},
          {"differing", std::move(differing)}};
}

}  // namespace

std::string DrillPage(const DrillFacts& facts, const DrillVerdict& verdict, const Style& style) {
  return absl::StrCat(Lines(facts, style), Values(facts, style), LastLines(facts, verdict), "\n",
                      Painted(NameOf(verdict.outcome), PaintOf(verdict.outcome), style), ": ",
                      Printable(verdict.text), "\n");
}

Json DrillDocument(const DrillFacts& facts, const DrillVerdict& verdict) {
  Json values = Json::array();
  for (const DrillValue& value : facts.values) {
    values.push_back({{"name", value.name}, {"original", value.original}, {"drill", value.drill}});
  }
  return {{"verdict", NameOf(verdict.outcome)},
          {"text", verdict.text},
          {"recovered", verdict.outcome == DrillOutcome::kRecovered},
          {"job", facts.original},
          {"drill_job", facts.drill.empty() ? Json(nullptr) : Json(facts.drill)},
          {"checkpoint",
           {{"directory", facts.directory},
            {"generation", facts.generation},
            {"written", facts.ranks == 0 ? Json(nullptr) : ToJson(facts.written)},
            {"ranks", facts.ranks},
            {"bytes", facts.bytes},
            {"fault", facts.fault.empty() ? Json(nullptr) : Json(facts.fault)},
            {"fallback", ToJson(facts.fallback)}}},
          {"kept", facts.copy.empty() ? Json(nullptr) : Json(facts.copy)},
          {"restored", facts.restart > Duration(0)},
          {"waited_s", MaybeSeconds(Since(facts.submitted, facts.started))},
          {"back_at_work_s", MaybeSeconds(TimeToWork(facts))},
          {"first_checkpoint_s", MaybeSeconds(Since(facts.submitted, facts.first_checkpoint))},
          {"would_be_lost_s", ToJson(facts.lost)},
          {"end", EndDocument(facts.end)},
          {"original_end", EndDocument(facts.original_end)},
          {"state", StateDocument(facts)},
          {"values", std::move(values)}};
}

}  // namespace muster::cli
