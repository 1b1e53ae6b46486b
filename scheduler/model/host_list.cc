#include "scheduler/model/host_list.h"

#include <algorithm>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr std::size_t kDigitsMax = 9;

std::vector<std::string> CommaParts(const std::string& text) {
  return absl::StrSplit(text, ',');
}

absl::Status Bad(const std::string& piece, const char* mend) {
  return absl::InvalidArgumentError(
      absl::StrCat("\"", absl::CHexEscape(piece.substr(0, 80)), "\" ", mend));
}

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
}

bool IsName(const std::string& text) {
  return std::all_of(text.begin(), text.end(), IsNameCharacter);
}

bool IsNumber(const std::string& text) {
  return !text.empty() && text.size() <= kDigitsMax &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
}

// Commas outside brackets part the list.
std::vector<std::string> Pieces(const std::string& text) {
  std::vector<std::string> pieces(1);
  bool inside = false;
  for (const char c : text) {
    inside = c == '[' || (inside && c != ']');
    if (c == ',' && !inside) {
      pieces.emplace_back();
    } else {
      pieces.back() += c;
    }
  }
  return pieces;
}

// The numbers of "1-8" with their zeros in front.
absl::Status ExpandRange(const std::string& piece, const std::string& range,
                         std::vector<std::string>* numbers) {
  const std::vector<std::string> ends = absl::StrSplit(range, absl::MaxSplits('-', 1));
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  if (!IsNumber(ends.front()) || !IsNumber(ends.back()) ||
      !absl::SimpleAtoi(ends.front(), &first) || !absl::SimpleAtoi(ends.back(), &last) ||
      first > last) {
    return Bad(piece, "is not a host list: write NAME[FIRST-LAST,…]");
  }
  if (last - first >= kHostListMax) {
    return Bad(piece, "names too many nodes");
  }
  for (std::uint32_t number = first; number <= last; ++number) {
    numbers->push_back(absl::StrFormat("%0*u", static_cast<int>(ends.front().size()), number));
  }
  return absl::OkStatus();
}

absl::Status ExpandPiece(const std::string& piece, std::vector<std::string>* names) {
  const std::size_t open = piece.find('[');
  if (open == std::string::npos) {
    if (piece.empty() || !IsName(piece)) {
      return Bad(piece, "is not a node's name");
    }
    names->push_back(piece);
    return absl::OkStatus();
  }
  const std::size_t close = piece.find(']', open);
  if (close == std::string::npos) {
    return Bad(piece, "is not a host list: a bracket is open");
  }
  const std::string before = piece.substr(0, open);
  const std::string after = piece.substr(close + 1);
  if (!IsName(before) || !IsName(after)) {
    return Bad(piece, "is not a host list: one bracket, names around it");
  }
  std::vector<std::string> numbers;
  for (const std::string& range : CommaParts(piece.substr(open + 1, close - open - 1))) {
    RETURN_IF_ERROR(ExpandRange(piece, range, &numbers));
    if (numbers.size() > kHostListMax) {
      return Bad(piece, "names too many nodes");
    }
  }
  for (const std::string& number : numbers) {
    names->push_back(absl::StrCat(before, number, after));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandHostList(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& piece : Pieces(text)) {
    RETURN_IF_ERROR(ExpandPiece(piece, &names));
    if (names.size() > kHostListMax) {
      return Bad(piece, "makes more than 65536 nodes");
    }
  }
  std::set<std::string> seen;
  names.erase(std::remove_if(names.begin(), names.end(),
                             [&](const std::string& name) { return !seen.insert(name).second; }),
              names.end());
  return names;
}

}  // namespace muster
