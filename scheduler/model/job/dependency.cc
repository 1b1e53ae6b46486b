#include "scheduler/model/job/dependency.h"

#include <chrono>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

const char* Name(DependencyKind kind) {
  switch (kind) {
    case DependencyKind::kAfter:
      return "after";
    case DependencyKind::kAfterAny:
      return "afterany";
    case DependencyKind::kAfterOk:
      return "afterok";
    case DependencyKind::kAfterNotOk:
      return "afternotok";
    case DependencyKind::kAfterCorr:
      return "aftercorr";
    case DependencyKind::kSingleton:
      return "singleton";
  }
  return "";
}

}  // namespace

std::string ToText(const DependencyTerm& term) {
  std::string text = Name(term.kind);
  if (term.kind == DependencyKind::kSingleton) {
    return text;
  }
  absl::StrAppend(&text, ":", term.job.value());
  if (term.element.has_value()) {
    absl::StrAppend(&text, "_", *term.element);
  }
  if (term.delay > Duration(0)) {
    absl::StrAppend(&text, "+", std::chrono::floor<std::chrono::minutes>(term.delay).count());
  }
  return text;
}

std::string ToText(const Dependency& dependency) {
  std::string text;
  for (const DependencyTerm& term : dependency.terms) {
    absl::StrAppend(&text, text.empty() ? "" : dependency.any ? "?" : ",", ToText(term));
  }
  return text;
}

}  // namespace muster
