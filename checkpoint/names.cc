#include "checkpoint/names.h"

#include <algorithm>

namespace muster::checkpoint {
namespace {

constexpr std::string_view kPrefix = "gen-";
constexpr std::size_t kDigits = 10;
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

}  // namespace

std::string ToText(const GenerationName& name) {
  return std::string(kPrefix) + Padded(name.number, kDigits) + EndingOf(name.state);
}

std::optional<GenerationName> ParseGenerationName(std::string_view text) {
  if (text.substr(0, kPrefix.size()) != kPrefix || text.size() < kPrefix.size() + kDigits) {
    return std::nullopt;
  }
  const std::string_view digits = text.substr(kPrefix.size(), kDigits);
  if (!std::all_of(digits.begin(), digits.end(), IsDigit)) {
    return std::nullopt;
  }
  GenerationName name;
  for (const char digit : digits) {
    name.number = name.number * 10 + static_cast<std::uint64_t>(digit - '0');
  }
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
