#include "daemon/gateway/http/target.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <utility>

namespace muster::daemon::http {
namespace {

constexpr std::size_t kQueryPairsMax = 64;

int HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// With %XX as its byte and, in a query, + as a blank.
std::optional<std::string> Decode(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return std::nullopt;
      }
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    } else {
      decoded.push_back(plus_is_blank && text[i] == '+' ? ' ' : text[i]);
    }
  }
  return IsCleanText(decoded) ? std::optional(std::move(decoded)) : std::nullopt;
}

// A row of the table of well-formed byte sequences (Unicode 15, table 3-7): the first bytes, how
// long the sequence is, and what its second byte may be.
struct Sequences {
  unsigned first;
  unsigned last;
  std::size_t length;
  unsigned second_least;
  unsigned second_most;
};
constexpr std::array<Sequences, 9> kSequences = {{
    {0x00, 0x7F, 1, 0x80, 0xBF},
    {0xC2, 0xDF, 2, 0x80, 0xBF},
    {0xE0, 0xE0, 3, 0xA0, 0xBF},
    {0xE1, 0xEC, 3, 0x80, 0xBF},
    {0xED, 0xED, 3, 0x80, 0x9F},
    {0xEE, 0xEF, 3, 0x80, 0xBF},
    {0xF0, 0xF0, 4, 0x90, 0xBF},
    {0xF1, 0xF3, 4, 0x80, 0xBF},
    {0xF4, 0xF4, 4, 0x80, 0x8F},
}};

// The length of the sequence that begins at `at`; 0: there is none.
std::size_t SequenceAt(std::string_view text, std::size_t at) {
  const auto is_within = [&](std::size_t i, unsigned least, unsigned most) {
    const unsigned byte = at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
    return byte >= least && byte <= most;
  };
  for (const Sequences& row : kSequences) {
    if (!is_within(0, row.first, row.last)) {
      continue;
    }
    const bool whole = (row.length < 2 || is_within(1, row.second_least, row.second_most)) &&
                       (row.length < 3 || is_within(2, 0x80, 0xBF)) &&
                       (row.length < 4 || is_within(3, 0x80, 0xBF));
    return whole ? row.length : 0;
  }
  return 0;
}

bool IsControl(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  const bool c1 = byte == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0;
  return byte < 0x20 || byte == 0x7F || c1;
}

absl::Status ReadQuery(std::string_view query, Pairs& pairs) {
  while (!query.empty()) {
    const std::string_view piece = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), piece.size() + 1));
    if (piece.empty()) {
      continue;
    }
    const std::size_t equals = std::min(piece.find('='), piece.size());
    const std::optional<std::string> name = Decode(piece.substr(0, equals), true);
    const std::optional<std::string> value =
        Decode(piece.substr(std::min(piece.size(), equals + 1)), true);
    if (!name.has_value() || name->empty() || !value.has_value()) {
      return absl::InvalidArgumentError("the query is not NAME=VALUE&… in UTF-8, with % as %25");
    }
    if (pairs.size() == kQueryPairsMax) {
      return absl::InvalidArgumentError("the query has more than 64 values");
    }
    pairs.emplace_back(*name, *value);
  }
  return absl::OkStatus();
}

}  // namespace

bool IsCleanText(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = SequenceAt(text, at);
    if (length == 0 || IsControl(text, at)) {
      return false;
    }
    at += length;
  }
  return true;
}

absl::Status ReadTarget(std::string_view target, Request& request) {
  if (target.empty() || target.front() != '/' || target.size() > kTargetBytesMax) {
    return absl::InvalidArgumentError("the request does not name a path of at most 4096 bytes");
  }
  const std::size_t question = std::min(target.find('?'), target.size());
  std::optional<std::string> path = Decode(target.substr(0, question), false);
  if (!path.has_value()) {
    return absl::InvalidArgumentError("the path is not UTF-8, or has a % that is none of %XX");
  }
  request.path = *std::move(path);
  return ReadQuery(target.substr(std::min(target.size(), question + 1)), request.query);
}

std::string ReadBearer(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  const bool fits =
      authorization.size() > kScheme.size() &&
      std::equal(kScheme.begin(), kScheme.end(), authorization.begin(), [](char a, char b) {
        return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
      });
  if (!fits) {
    return "";
  }
  const std::string_view token = authorization.substr(kScheme.size());
  const bool good = std::all_of(token.begin(), token.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' || c == '_';
  });
  return good ? std::string(token) : "";
}

}  // namespace muster::daemon::http
