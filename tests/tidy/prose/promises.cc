#include "tests/tidy/prose/promises.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace muster::tidy {
namespace {

constexpr std::array<std::string_view, 20> kEmptyPromises = {
    "a pure function",
    "a pure function of its arguments",
    "any thread",
    "constant",
    "constants",
    "everything here is safe from any thread",
    "no shared state",
    "no sharing",
    "plain functions",
    "plain value",
    "plain values",
    "pure",
    "pure function",
    "pure functions",
    "pure functions of a file",
    "pure functions of its arguments",
    "pure functions of their arguments",
    "safe from any thread",
    "the functions are safe from any thread",
    "values",
};

// The first comment of a header as one line; paragraphs, too, are parted by a space.
std::string OpeningOf(const Source& source) {
  const size_t start = source.comments.find("//");
  std::string opening;
  bool blank = true;
  for (size_t at = start; at < source.comments.size(); ++at) {
    const char c = source.comments[at];
    if (c == '\n' && source.text.compare(at + 1, 2, "//") != 0) {
      break;
    }
    const bool gap = c == '\n' || c == ' ' || c == '/';
    if (!gap || !blank) {
      opening += gap ? ' ' : c;
    }
    blank = gap;
  }
  return opening + " ";
}

bool IsEmptyPromise(std::string_view promise) {
  while (!promise.empty()) {
    promise.remove_prefix(promise.starts_with("and ") ? 4 : 0);
    const std::string_view part = promise.substr(
        0, std::min({promise.find("; "), promise.find(", "), promise.find(" and ")}));
    if (std::find(kEmptyPromises.begin(), kEmptyPromises.end(), part) == kEmptyPromises.end()) {
      return false;
    }
    promise.remove_prefix(part.size());
    promise.remove_prefix(std::min(promise.find_first_not_of(";, "), promise.size()));
  }
  return true;
}

}  // namespace

std::vector<Finding> CheckThreadPromises(const Source& source) {
  constexpr std::string_view kMark = "Thread promise: ";
  if (!IsHeader(source)) {
    return {};
  }
  const std::string opening = OpeningOf(source);
  const size_t at = opening.find(kMark);
  if (at == std::string::npos) {
    return {};
  }
  const std::string_view rest = std::string_view(opening).substr(at + kMark.size());
  if (!IsEmptyPromise(rest.substr(0, rest.find(". ")))) {
    return {};
  }
  return {{source.path, 0,
           "promises of threads what every header does that says nothing of them. Remove the "
           "sentence: one that names a thread, an owner or a lock is then seen"}};
}

}  // namespace muster::tidy
