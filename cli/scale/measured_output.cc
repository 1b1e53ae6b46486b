#include "cli/scale/measured_output.h"

#include <re2/re2.h>

#include <cmath>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

// Rank 10 comes after rank 9, and 1.0, of another component, after both.
bool IsLower(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

}  // namespace

absl::StatusOr<MeasuredOutput> MeasuredOutput::Find(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  const auto compiled = std::make_shared<const RE2>(pattern, options);
  if (!compiled->ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(pattern), " is no regular expression: ", compiled->error()));
  }
  return MeasuredOutput(compiled);
}

void MeasuredOutput::Take(const std::string& rank, std::string_view bytes) {
  RankLines& lines = ranks_[rank];
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    lines.open += piece.substr(0, kLineBytesMax - lines.open.size());
    if (end == std::string_view::npos) {
      return;
    }
    Match(&lines);
    bytes.remove_prefix(end + 1);
  }
}

void MeasuredOutput::Match(RankLines* lines) const {
  std::string found;
  bool matched = false;
  if (pattern_->NumberOfCapturingGroups() > 0) {
    matched = RE2::PartialMatch(lines->open, *pattern_, &found);
  } else {
    re2::StringPiece whole;
    matched = pattern_->Match(lines->open, 0, lines->open.size(), RE2::UNANCHORED, &whole, 1);
    found = std::string(whole.data(), whole.size());
  }
  lines->open.clear();
  if (matched) {
    lines->found = std::move(found);
    lines->matched = true;
  }
}

absl::StatusOr<double> MeasuredOutput::Finish() {
  std::map<std::string, RankLines> ranks = std::exchange(ranks_, {});
  const std::pair<const std::string, RankLines>* lowest = nullptr;
  for (auto& entry : ranks) {
    if (!entry.second.open.empty()) {
      Match(&entry.second);
    }
    if (entry.second.matched && (lowest == nullptr || IsLower(entry.first, lowest->first))) {
      lowest = &entry;
    }
  }
  if (lowest == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("--measure: no line of its standard output matches ",
                     Quote(pattern_->pattern()), ": look at what it prints with muster run"));
  }
  double value = 0;
  const std::string& found = lowest->second.found;
  if (!absl::SimpleAtod(std::string(absl::StripAsciiWhitespace(found)), &value) ||
      !std::isfinite(value) || value <= 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("--measure: ", Quote(found), " of rank ", lowest->first,
                     " is no number above 0: put the number, and nothing else, in parentheses"));
  }
  return value;
}

}  // namespace muster::cli
