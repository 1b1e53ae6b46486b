#include "cli/service/terms/service_terms.h"

#include <chrono>
#include <map>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr const char* kMetricKey = "metric";
constexpr const char* kTargetKey = "target";

// Enough digits that it is read back as it was.
std::string ExactText(double number) {
  return absl::StrFormat("%.17g", number);
}

// The words KEY=VALUE of a text, by key; a later version's keys are passed over.
class TermWords {
 public:
  // False: a word is no KEY=VALUE.
  bool Read(const std::string& text) {
    for (const std::string& word : SplitWords(text)) {
      const std::size_t equals = word.find('=');
      if (equals == std::string::npos) {
        return false;
      }
      values_[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return true;
  }
  [[nodiscard]] bool Has(const char* key) const { return values_.count(key) != 0; }
  [[nodiscard]] std::string Text(const char* key) const {
    return Has(key) ? values_.at(key) : std::string();
  }
  [[nodiscard]] std::uint64_t Number(const char* key, std::uint64_t otherwise) const {
    const absl::StatusOr<std::uint64_t> number = ParseDigits(Text(key), INT64_MAX);
    return number.ok() ? *number : otherwise;
  }
  [[nodiscard]] std::uint32_t Count(const char* key, std::uint32_t otherwise) const {
    const absl::StatusOr<std::uint64_t> number = ParseDigits(Text(key), UINT32_MAX);
    return number.ok() ? static_cast<std::uint32_t>(*number) : otherwise;
  }
  [[nodiscard]] Duration Time(const char* key, Duration otherwise) const {
    return Duration(
        static_cast<Duration::rep>(Number(key, static_cast<std::uint64_t>(otherwise.count()))));
  }

 private:
  std::map<std::string, std::string> values_;
};

std::optional<ScaleRule> RuleOf(const TermWords& words) {
  ScaleRule rule;
  rule.metric = words.Text(kMetricKey);
  rule.least = words.Count("min", 0);
  rule.most = words.Count("max", 0);
  rule.window = words.Time("window", rule.window);
  rule.settle = words.Time("settle", rule.settle);
  const bool good = absl::SimpleAtod(words.Text(kTargetKey), &rule.target) && rule.target > 0 &&
                    rule.least >= 1 && rule.most >= rule.least;
  return good ? std::optional(rule) : std::nullopt;
}

}  // namespace

std::uint32_t MostMeant(const ServiceTerms& terms, Time now) {
  return terms.replicas + (now < terms.further_until ? terms.further : 0);
}

std::string TermsText(const ServiceTerms& terms) {
  std::string text = absl::StrCat("change=", terms.change, " replicas=", terms.replicas,
                                  " rolling=", terms.rolling);
  if (terms.further > 0) {
    absl::StrAppend(&text, " further=", terms.further,
                    " until=", terms.further_until.time_since_epoch().count());
  }
  if (terms.rule.has_value()) {
    absl::StrAppend(&text, " min=", terms.rule->least, " max=", terms.rule->most, " ", kMetricKey,
                    "=", terms.rule->metric, " ", kTargetKey, "=", ExactText(terms.rule->target),
                    " window=", terms.rule->window.count(), " settle=", terms.rule->settle.count());
  }
  return text;
}

std::optional<ServiceTerms> ReadTerms(const std::string& text) {
  TermWords words;
  if (!words.Read(text) || !words.Has("change") || !words.Has("replicas")) {
    return std::nullopt;
  }
  ServiceTerms terms;
  terms.change = words.Number("change", 0);
  terms.replicas = words.Count("replicas", 0);
  terms.rolling = words.Count("rolling", 1);
  terms.further = words.Count("further", 0);
  terms.further_until = terms.further == 0 ? kNoTime : Time(words.Time("until", Duration(0)));
  if (words.Has(kMetricKey)) {
    terms.rule = RuleOf(words);
  }
  return terms;
}

std::string RuleText(const ServiceTerms& terms) {
  return terms.rule.has_value() ? absl::StrCat(terms.rule->least, "-", terms.rule->most, " by ",
                                               terms.rule->metric, "/", terms.rule->target)
                                : "";
}

}  // namespace muster::cli
