#include "cli/checkpoint/checkpoint_interval.h"

#include <unistd.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "checkpoint/advice/interval.h"
#include "cli/checkpoint/checkpoint_levels.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/page/table.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"

namespace muster::cli {
namespace {

using checkpoint::Advice;
using checkpoint::FailureModel;
using checkpoint::IntervalBounds;
using checkpoint::IntervalError;
using checkpoint::Recommendation;

struct Question {
  FailureModel model;
  IntervalBounds bounds;
  std::optional<double> remaining_s;
  bool ends_at_limit = false;
};

struct Formula {
  const char* title;
  const char* key;
  const char* overhead_key;
  checkpoint::Interval (*interval)(const FailureModel&);
};

constexpr std::array<Formula, 4> kFormulas = {{
    {"Young", "young_s", "young_overhead", checkpoint::Young},
    {"Daly, first order", "daly1_s", "daly1_overhead", checkpoint::DalyFirstOrder},
    {"Daly, higher order", "daly_s", "overhead", checkpoint::DalyHigherOrder},
    {"exact optimum", "exact_s", "exact_overhead", checkpoint::Optimum},
}};

// One formula's interval and what it costs; nothing where there is no such number.
struct Answer {
  std::optional<double> interval_s;
  std::optional<double> overhead;  // expected time over the time without failures, minus 1
};

double Seconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1000;
}

absl::StatusOr<double> SecondsOf(const Invocation& invocation, const std::string& name,
                                 std::optional<double> otherwise) {
  if (!invocation.Has(name)) {
    if (otherwise) {
      return *otherwise;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": name it, like --", name, name == "mtbf" ? " 24h" : " 5m"));
  }
  const std::string text = invocation.Value(name);
  if (name == "mtbf" &&
      (absl::EqualsIgnoreCase(text, "infinite") || absl::EqualsIgnoreCase(text, "unlimited"))) {
    return std::numeric_limits<double>::infinity();
  }
  const absl::StatusOr<Duration> duration = ParseDuration(text);
  if (!duration.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, ": ", std::string(duration.status().message())));
  }
  return Seconds(*duration);
}

absl::StatusOr<Question> ReadQuestion(const Invocation& invocation) {
  Question question;
  const IntervalBounds usual;
  ASSIGN_OR_RETURN(question.model.cost_s, SecondsOf(invocation, "cost", std::nullopt));
  ASSIGN_OR_RETURN(question.model.mtbf_s, SecondsOf(invocation, "mtbf", std::nullopt));
  ASSIGN_OR_RETURN(question.model.restart_s, SecondsOf(invocation, "restart", 0.0));
  ASSIGN_OR_RETURN(question.bounds.min_s, SecondsOf(invocation, "min-interval", usual.min_s));
  ASSIGN_OR_RETURN(question.bounds.max_s, SecondsOf(invocation, "max-interval", usual.max_s));
  if (invocation.Has("remaining")) {
    ASSIGN_OR_RETURN(question.remaining_s, SecondsOf(invocation, "remaining", 0.0));
  }
  question.ends_at_limit = invocation.Has("at-limit");
  if (question.bounds.min_s <= 0 || question.bounds.max_s < question.bounds.min_s) {
    return absl::InvalidArgumentError(
        "--min-interval: use more than 0 and no more than --max-interval");
  }
  if (question.ends_at_limit && !question.remaining_s) {
    return absl::InvalidArgumentError("--at-limit: name the time left, too: --remaining D");
  }
  return question;
}

std::optional<double> OverheadAt(const FailureModel& model, double interval_s) {
  const checkpoint::Interval ratio = checkpoint::ExpectedRatio(model, interval_s);
  return ratio ? std::optional(ratio.value - 1) : std::nullopt;
}

// `fallback_s` stands where the interval goes to 0 with the cost, for the overhead.
Answer Ask(const Formula& formula, const FailureModel& model, double fallback_s) {
  const checkpoint::Interval interval = formula.interval(model);
  switch (interval.error) {
    case IntervalError::kNone:
      return {interval.value, OverheadAt(model, interval.value)};
    case IntervalError::kFreeOfCost:
      return {0.0, OverheadAt(model, fallback_s)};
    case IntervalError::kNoFailures:
      return {std::nullopt, 0.0};
    default:
      return {};
  }
}

const char* NameOf(Advice advice) {
  switch (advice) {
    case Advice::kEvery:
      return "every";
    case Advice::kAtEndOnly:
      return "at-end-only";
    case Advice::kSkip:
      return "skip";
    case Advice::kHopeless:
      return "hopeless";
  }
  return "unknown";
}

Json OrNull(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

// JSON has no infinity.
Json Finite(double number) {
  return number < std::numeric_limits<double>::infinity() ? Json(number) : Json(nullptr);
}

std::string IntervalDocument(const Question& question, const Recommendation& recommendation) {
  Json document = {{"cost_s", question.model.cost_s},
                   {"mtbf_s", Finite(question.model.mtbf_s)},
                   {"restart_s", question.model.restart_s}};
  for (const Formula& formula : kFormulas) {
    const Answer answer = Ask(formula, question.model, recommendation.interval_s);
    document[formula.key] = OrNull(answer.interval_s);
    document[formula.overhead_key] = OrNull(answer.overhead);
  }
  document["advice"] = NameOf(recommendation.advice);
  document["interval_s"] =
      recommendation.advice == Advice::kEvery ? Json(recommendation.interval_s) : Json(nullptr);
  document["clamped"] = recommendation.clamped;
  return PrintJson(document);
}

// "1:56:41.42".
std::string WorkText(double interval_s) {
  constexpr double kMillisecondsPerSecond = 1000;
  const Duration rounded(std::llround(interval_s * kMillisecondsPerSecond));
  return PreciseText(rounded);
}

std::string PercentText(const std::optional<double>& share) {
  return share ? absl::StrFormat("%.3f %%", 100 * *share) : "no end";
}

std::string Page(const Question& question, const Recommendation& recommendation,
                 const Style& style) {
  Table table({{.title = "FORMULA"},
               {.title = "WORK BETWEEN", .right = true},
               {.title = "SECONDS", .right = true},
               {.title = "OVERHEAD", .right = true}});
  for (const Formula& formula : kFormulas) {
    const Answer answer = Ask(formula, question.model, recommendation.interval_s);
    table.Add({{formula.title},
               {answer.interval_s ? WorkText(*answer.interval_s) : "never"},
               {answer.interval_s ? absl::StrFormat("%.3f", *answer.interval_s) : "-"},
               {PercentText(answer.overhead)}});
  }
  const std::string advice =
      recommendation.advice == Advice::kEvery
          ? absl::StrCat("checkpoint after each ", WorkText(recommendation.interval_s), " of work",
                         recommendation.clamped ? " (a bound stands in place of the optimum)" : "")
          : checkpoint::Text(recommendation.advice);
  return absl::StrCat(table.Print(style), "\n", advice, "\n");
}

}  // namespace

std::vector<Option> CheckpointIntervalOptions() {
  return {{.name = "cost",
           .letter = 0,
           .metavar = "D",
           .text = "interval: how long the job stands still for a checkpoint"},
          {.name = "mtbf",
           .letter = 0,
           .metavar = "D",
           .text = "interval: mean time between failures of the whole job, all of its nodes "
                   "together, or infinite"},
          {.name = "restart",
           .letter = 0,
           .metavar = "D",
           .text = "interval: from a failure to work again (0)"},
          {.name = "min-interval",
           .letter = 0,
           .metavar = "D",
           .text = "interval: never advise less than this (1s)"},
          {.name = "max-interval",
           .letter = 0,
           .metavar = "D",
           .text = "interval: never advise more than this; 7 days otherwise"},
          {.name = "remaining",
           .letter = 0,
           .metavar = "D",
           .text = "interval: the job has this long left"},
          {.name = "level",
           .letter = 0,
           .metavar = "D/D",
           .text = "interval: a level's cost and time between failures that need it; once for each",
           .joined_by = ' '},
          {.name = "at-limit",
           .letter = 0,
           .metavar = "",
           .text = "interval: the limit ends the job before its work is done"}};
}

absl::StatusOr<int> CheckpointInterval(const Invocation& invocation) {
  if (invocation.Has("level")) {
    return CheckpointLevels(invocation);
  }
  ASSIGN_OR_RETURN(const Question question, ReadQuestion(invocation));
  const Recommendation recommendation =
      question.remaining_s ? checkpoint::RecommendFor(question.model, question.bounds,
                                                      *question.remaining_s, question.ends_at_limit)
                           : checkpoint::Recommend(question.model, question.bounds);
  if (recommendation.advice == Advice::kHopeless) {
    return absl::FailedPreconditionError(absl::StrCat("--mtbf ", invocation.Value("mtbf"), ": ",
                                                      checkpoint::Text(recommendation.advice),
                                                      ": use fewer or better nodes"));
  }
  RETURN_IF_ERROR(WriteOut(
      invocation.Has("json")
          ? IntervalDocument(question, recommendation)
          : Page(question, recommendation, StyleFor(invocation.environment, STDOUT_FILENO))));
  return 0;
}

}  // namespace muster::cli
