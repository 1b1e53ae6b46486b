#include "cli/controller/query/job_query.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/controller/query/newest_job.h"
#include "cli/parse/begin_time.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

constexpr std::int64_t kSecondsOfDay = 86'400;

struct TimeUnit {
  const char* name;
  absl::Duration length;
};

// "2h", "90min", "3days".
absl::StatusOr<absl::Duration> ParseAge(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const absl::StatusOr<std::uint64_t> count = ParseDigits(text.substr(0, digits), kCountMax);
  const std::string_view unit = text.substr(digits);
  const TimeUnit units[] = {{"seconds", absl::Seconds(1)},
                            {"minutes", absl::Minutes(1)},
                            {"hours", absl::Hours(1)},
                            {"days", absl::Hours(24)},
                            {"weeks", absl::Hours(24 * 7)}};
  for (const TimeUnit& known : units) {
    if (count.ok() && !unit.empty() && std::string_view(known.name).rfind(unit, 0) == 0) {
      return known.length * static_cast<std::int64_t>(*count);
    }
  }
  return absl::InvalidArgumentError("");
}

Time FromAbsl(absl::Time time) {
  return Time(Duration(absl::ToUnixMillis(time)));
}

// "HH:MM[:SS]", the last such moment before `now`.
absl::StatusOr<absl::Time> ParseClock(const std::string& text, absl::Time now,
                                      absl::TimeZone zone) {
  const absl::CivilDay today(absl::ToCivilSecond(now, zone));
  absl::CivilSecond second;
  if (!absl::ParseLenientCivilTime(absl::StrCat(absl::FormatCivilTime(today), "T", text),
                                   &second)) {
    return absl::InvalidArgumentError("");
  }
  const absl::Time then = absl::FromCivil(second, zone);
  return then <= now ? then : absl::FromCivil(second - kSecondsOfDay, zone);
}

absl::StatusOr<absl::Time> ParseMoment(const std::string& text, absl::Time now,
                                       absl::TimeZone zone) {
  const absl::CivilDay today(absl::ToCivilSecond(now, zone));
  if (text == "now") {
    return now;
  }
  if (text == "today" || text == "midnight") {
    return absl::FromCivil(today, zone);
  }
  if (text == "yesterday") {
    return absl::FromCivil(today - 1, zone);
  }
  const absl::StatusOr<absl::Duration> age =
      ParseAge(text.rfind("now-", 0) == 0 ? text.substr(4) : text);
  if (age.ok()) {
    return now - *age;
  }
  absl::CivilSecond second;
  const bool dated = std::count(text.begin(), text.end(), '-') == 2;
  if (dated && absl::ParseLenientCivilTime(text, &second) && second.year() < kYearEnd) {
    return absl::FromCivil(second, zone);
  }
  if (text.find(':') == std::string::npos) {
    return absl::InvalidArgumentError("");
  }
  return ParseClock(text, now, zone);
}

}  // namespace

std::vector<Option> JobChoiceOptions() {
  const auto list = [](const char* name, char letter, const char* metavar, const char* text) {
    return Option{.name = name, .letter = letter, .metavar = metavar, .text = text};
  };
  return {
      list("me", 0, "", "Your own jobs only"),
      list("user", 'u', "NAMES", "Jobs of these users only"),
      list("account", 'A', "NAMES", "Jobs of these accounts only"),
      list("partition", 'p', "NAMES", "Jobs in these partitions only"),
      list("qos", 'q', "NAMES", "Jobs of these QOS only"),
      list("name", 'n', "NAMES", "Jobs of these names only"),
      list("nodelist", 'w', "NODES", "Jobs on any of these nodes only, like n1,n[3-5]"),
      list("reservation", 0, "NAME", "Jobs of this reservation only"),
      list("states", 't', "LIST", "Jobs in these states only, like PENDING or R (also --state)"),
  };
}

std::vector<Option> JobQueryOptions() {
  std::vector<Option> options = JobChoiceOptions();
  options.push_back({.name = "noheader", .letter = 0, .metavar = "", .text = "No line of titles"});
  return options;
}

absl::StatusOr<std::vector<std::string>> ParseStates(const std::string& text) {
  std::vector<std::string> states;
  for (const auto piece : absl::StrSplit(text, ',')) {
    const std::string name = absl::AsciiStrToUpper(piece);
    const auto known = std::find_if(
        kJobStateNames.begin(), kJobStateNames.end(),
        [&name](const JobStateName& state) { return name == state.name || name == state.code; });
    if (known == kJobStateNames.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--states: ", Quote(std::string(piece)),
                       " is not a job's state: use names like PENDING or codes like PD"));
    }
    states.emplace_back(known->name);
  }
  return states;
}

absl::StatusOr<Time> ParseSince(const std::string& text, Time now, absl::TimeZone zone) {
  const absl::StatusOr<absl::Time> moment =
      ParseMoment(text, absl::FromUnixMillis(now.time_since_epoch().count()), zone);
  if (!moment.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        Quote(text), " is not a time: use 2026-03-14, 2026-03-14T09:26, 09:26, yesterday or 2h"));
  }
  return std::max(FromAbsl(*moment), Time(Duration(1)));
}

absl::StatusOr<Time> ReadPast(const Invocation& invocation, const std::string& option, Time now,
                              Time unless_given) {
  if (!invocation.Has(option)) {
    return unless_given;
  }
  absl::StatusOr<Time> time = ParseSince(invocation.Value(option), now, absl::LocalTimeZone());
  return time.ok() ? time
                   : absl::InvalidArgumentError(
                         absl::StrCat("--", option, ": ", std::string(time.status().message())));
}

bool JobQuery::narrows() const {
  return !choice.users.empty() || !choice.accounts.empty() || !choice.partitions.empty() ||
         !choice.qos.empty() || !choice.names.empty() || !choice.states.empty() ||
         !choice.nodes.empty() || !choice.reservations.empty();
}

std::vector<JobView> Chosen(const JobQuery& query, std::vector<JobView> jobs) {
  std::erase_if(jobs, [&query](const JobView& job) { return !Chooses(query.choice, job); });
  return jobs;
}

absl::StatusOr<JobQuery> ReadJobQuery(Invocation& invocation) {
  JobQuery query;
  JobChoice& choice = query.choice;
  std::string states = invocation.Value("states");
  if (!invocation.Has("states") && ParseStates(invocation.Value("state")).ok()) {
    states = invocation.Value("state");
    invocation.values.erase("state");
  }
  if (!states.empty() || invocation.Has("states")) {
    ASSIGN_OR_RETURN(choice.states, ParseStates(states));
  }
  const auto names = [&invocation](const char* option) -> std::vector<std::string> {
    return absl::StrSplit(invocation.Value(option), ',', absl::SkipEmpty());
  };
  choice.users = names("user");
  if (invocation.Has("me")) {
    choice.users.push_back(absl::StrCat(geteuid()));
  }
  choice.accounts = names("account");
  choice.partitions = names("partition");
  choice.qos = names("qos");
  choice.names = names("name");
  choice.reservations = names("reservation");
  if (invocation.Has("nodelist")) {
    const absl::StatusOr<std::vector<std::string>> nodes = NodeNames(invocation.Value("nodelist"));
    if (!nodes.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--nodelist: ", std::string(nodes.status().message())));
    }
    choice.nodes = *nodes;
  }
  ASSIGN_OR_RETURN(invocation.arguments, WithNumbers(invocation));
  ASSIGN_OR_RETURN(query.selectors, ParseSelectors(invocation.arguments));
  choice.jobs = query.selectors;
  query.filter.states = choice.states;
  // The controller filters by one name; the rest is done here.
  if (choice.users.size() == 1 && !invocation.Has("me")) {
    query.filter.user = choice.users.front();
  }
  for (const JobSelector& selector : query.selectors) {
    query.filter.jobs.push_back(NamedId(selector));
  }
  return query;
}

std::vector<std::string> Missing(const std::vector<JobView>& jobs,
                                 const std::vector<JobSelector>& selectors) {
  std::vector<std::string> missing;
  for (const JobSelector& selector : selectors) {
    if (std::none_of(jobs.begin(), jobs.end(),
                     [&selector](const JobView& job) { return Names(selector, job); })) {
      missing.push_back(ToText(selector));
    }
  }
  return missing;
}

std::string ToText(const JobSelector& selector) {
  if (selector.component.has_value()) {
    return absl::StrCat(selector.job.value(), "+", *selector.component);
  }
  const std::string list = NumberList({selector.elements.begin(), selector.elements.end()});
  if (selector.elements.empty()) {
    return ToString(selector.job);
  }
  return selector.elements.size() == 1 ? absl::StrCat(selector.job.value(), "_", list)
                                       : absl::StrCat(selector.job.value(), "_[", list, "]");
}

}  // namespace muster::cli
