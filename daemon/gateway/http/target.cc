#include "daemon/gateway/http/target.h"

#include <algorithm>
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

// The length of the sequence that begins at `at`, by the table of well-formed byte sequences
// (Unicode 15, table 3-7); 0: there is none.
std::size_t SequenceAt(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    return follows(1) ? 2 : 0;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned least = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned most = first == 0xED ? 0x9F : 0xBF;
    return byte(1) >= least && byte(1) <= most && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned least = first == 0xF0 ? 0x90 : 0x80;
    const unsigned most = first == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= least && byte(1) <= most && follows(2) && follows(3) ? 4 : 0;
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
