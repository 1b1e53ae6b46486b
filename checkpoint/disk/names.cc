#include "checkpoint/disk/names.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace muster::checkpoint {
namespace {

constexpr std::string_view kPrefix = "gen-";
constexpr std::size_t kDigits = 10;
constexpr std::string_view kArrival = ".from-";
constexpr std::string_view kWaiting = "flush-";
constexpr std::string_view kBegun = "flushing-";
constexpr int kHex = 16;
constexpr std::size_t kHexDigits = 16;
constexpr std::size_t kRemarkBytesMax = 255;

const char* EndingOf(GenerationState state) {
  switch (state) {
    case GenerationState::kComplete:
      return "";
    case GenerationState::kPartial:
      return ".tmp";
    case GenerationState::kSetAside:
      return ".bad";
    case GenerationState::kDoomed:
      return ".del";
  }
  return "";
}

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsNameCharacter(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' ||
         c == '-';
}

// `number` with zeros in front.
std::string Padded(std::uint64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

// Of kDigits digits that `text` begins with.
std::optional<std::uint64_t> ParsePadded(std::string_view text) {
  const std::string_view digits = text.substr(0, kDigits);
  if (digits.size() != kDigits || !std::all_of(digits.begin(), digits.end(), IsDigit)) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  for (const char digit : digits) {
    number = number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return number;
}

}  // namespace

std::string HexText(std::uint64_t number) {
  std::array<char, kHexDigits> digits{};
  for (std::size_t i = kHexDigits; i-- > 0; number >>= 4) {
    digits.at(i) = "0123456789abcdef"[number & 15];
  }
  return {digits.data(), digits.size()};
}

std::optional<std::uint64_t> ParseHex(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number, kHex);
  if (error != std::errc() || stop != text.data() + text.size() || HexText(number) != text) {
    return std::nullopt;
  }
  return number;
}

std::string ToText(const ArrivalName& name) {
  return std::string(kPrefix) + Padded(name.number, kDigits) + std::string(kArrival) +
         HexText(name.seal);
}

std::optional<ArrivalName> ParseArrivalName(std::string_view text) {
  if (text.size() != kPrefix.size() + kDigits + kArrival.size() + kHexDigits) {
    return std::nullopt;
  }
  const auto number = ParsePadded(text.substr(kPrefix.size()));
  const auto seal = ParseHex(text.substr(text.size() - kHexDigits));
  if (!number || !seal || ToText(ArrivalName{*number, *seal}) != text) {
    return std::nullopt;
  }
  return ArrivalName{*number, *seal};
}

std::string ToText(const FlushName& name) {
  return std::string(name.begun ? kBegun : kWaiting) + Padded(name.number, kDigits);
}

std::optional<FlushName> ParseFlushName(std::string_view text) {
  const bool begun = text.substr(0, kBegun.size()) == kBegun;
  const std::size_t prefix = begun ? kBegun.size() : kWaiting.size();
  const auto number = text.size() == prefix + kDigits ? ParsePadded(text.substr(prefix))
                                                      : std::optional<std::uint64_t>();
  if (!number || ToText(FlushName{*number, begun}) != text) {
    return std::nullopt;
  }
  return FlushName{*number, begun};
}

std::string ToText(const GenerationName& name) {
  return std::string(kPrefix) + Padded(name.number, kDigits) + EndingOf(name.state);
}

std::optional<GenerationName> ParseGenerationName(std::string_view text) {
  if (text.substr(0, kPrefix.size()) != kPrefix || text.size() < kPrefix.size() + kDigits) {
    return std::nullopt;
  }
  const auto number = ParsePadded(text.substr(kPrefix.size()));
  if (!number) {
    return std::nullopt;
  }
  GenerationName name{*number};
  const std::string_view ending = text.substr(kPrefix.size() + kDigits);
  for (const GenerationState state : {GenerationState::kComplete, GenerationState::kPartial,
                                      GenerationState::kSetAside, GenerationState::kDoomed}) {
    if (ending == EndingOf(state)) {
      name.state = state;
      return name;
    }
  }
  return std::nullopt;
}

std::string ShardName(std::uint32_t rank) {
  constexpr std::size_t kRankDigits = 6;
  return "shard-" + Padded(rank, kRankDigits);
}

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kNameBytesMax && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), IsNameCharacter);
}

bool IsRemark(std::string_view text) {
  return text.size() <= kRemarkBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace muster::checkpoint
