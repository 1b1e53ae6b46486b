#include "cli/parse/request/dependency.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "absl/strings/str_cat.h"
#include "cli/parse/array.h"
#include "cli/parse/selector.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::uint64_t kMinutesMax = std::uint64_t{366} * 24 * 60;

struct NamedKind {
  std::string_view name;
  DependencyKind kind;
};
constexpr std::array<NamedKind, 5> kKinds = {{
    {"after", DependencyKind::kAfter},
    {"afterany", DependencyKind::kAfterAny},
    {"afterok", DependencyKind::kAfterOk},
    {"afternotok", DependencyKind::kAfterNotOk},
    {"aftercorr", DependencyKind::kAfterCorr},
}};

// The text in front of the next `separator`, which goes too; all of it when there is none.
std::string_view TakePiece(std::string_view* text, char separator) {
  const std::size_t end = text->find(separator);
  const std::string_view piece = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return piece;
}

// "12", "12_3", and for kAfter "12+5".
absl::StatusOr<DependencyTerm> ParseTarget(DependencyKind kind, std::string_view text) {
  DependencyTerm term;
  term.kind = kind;
  const std::size_t plus = text.find('+');
  if (plus != std::string_view::npos) {
    if (kind != DependencyKind::kAfter) {
      return absl::InvalidArgumentError("");
    }
    ASSIGN_OR_RETURN(const std::uint64_t minutes, ParseDigits(text.substr(plus + 1), kMinutesMax));
    term.delay = std::chrono::minutes(minutes);
    text = text.substr(0, plus);
  }
  const std::size_t underscore = text.find('_');
  ASSIGN_OR_RETURN(term.job, ParseJobId(text.substr(0, underscore)));
  if (underscore != std::string_view::npos) {
    ASSIGN_OR_RETURN(const std::uint64_t element,
                     ParseDigits(text.substr(underscore + 1), kArrayIndexMax));
    term.element = static_cast<std::uint32_t>(element);
  }
  return term;
}

// "afterok:12:13" or "singleton", as terms.
absl::Status ParseTerms(std::string_view text, std::vector<DependencyTerm>* terms) {
  if (text == "singleton") {
    DependencyTerm alone;
    alone.kind = DependencyKind::kSingleton;
    terms->push_back(alone);
    return absl::OkStatus();
  }
  const bool ends_open = !text.empty() && text.back() == ':';
  const std::string_view name = TakePiece(&text, ':');
  const auto* kind = std::find_if(kKinds.begin(), kKinds.end(),
                                  [name](const NamedKind& known) { return known.name == name; });
  if (kind == kKinds.end() || text.empty() || ends_open) {
    return absl::InvalidArgumentError("");
  }
  while (!text.empty()) {
    ASSIGN_OR_RETURN(const DependencyTerm term, ParseTarget(kind->kind, TakePiece(&text, ':')));
    terms->push_back(term);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Dependency> ParseDependency(std::string_view text) {
  const auto refuse = [text] {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text),
                     " is not a dependency: use terms like afterok:12:13, after:14+5, "
                     "afterany:15_3 or singleton, all joined by , (all) or by ? (any)"));
  };
  Dependency dependency;
  dependency.any = text.find('?') != std::string_view::npos;
  const char separator = dependency.any ? '?' : ',';
  if (text.empty() || text.back() == separator) {
    return refuse();
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    if (!ParseTerms(TakePiece(&rest, separator), &dependency.terms).ok()) {
      return refuse();
    }
    if (dependency.terms.size() > kDependencyTermsMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          Quote(text), " has more than ", kDependencyTermsMax, " terms: depend on an array"));
    }
  }
  dependency.any = dependency.any && dependency.terms.size() > 1;
  return dependency;
}

}  // namespace muster::cli
