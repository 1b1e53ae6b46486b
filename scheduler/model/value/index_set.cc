#include "scheduler/model/value/index_set.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr std::uint32_t kWordBits = 64;

absl::StatusOr<std::uint32_t> ParseIndex(std::string_view text, std::string_view list) {
  std::uint32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || text.empty() || value >= Bits::kLimit) {
    return absl::InvalidArgumentError(absl::StrCat("bad index \"", std::string(text),
                                                   "\" in list \"", std::string(list),
                                                   "\": write it like 0-3,8"));
  }
  return value;
}

// The first index from there on that is a member, or is none; past all words where there is none.
std::size_t NextFrom(const std::vector<std::uint64_t>& words, std::size_t index, bool member) {
  for (std::size_t word = index / kWordBits; word < words.size(); ++word) {
    std::uint64_t wanted = member ? words[word] : ~words[word];
    if (word == index / kWordBits) {
      wanted &= ~std::uint64_t{0} << (index % kWordBits);
    }
    if (wanted != 0) {
      return word * kWordBits + static_cast<std::size_t>(std::countr_zero(wanted));
    }
  }
  return std::max(index, words.size() * kWordBits);
}

}  // namespace

void Bits::Insert(std::uint32_t index) {
  MUSTER_CHECK(index < kLimit);
  const std::size_t word = index / kWordBits;
  if (word >= words_.size()) {
    words_.resize(word + 1);
  }
  words_[word] |= std::uint64_t{1} << (index % kWordBits);
}

void Bits::Erase(std::uint32_t index) {
  const std::size_t word = index / kWordBits;
  if (word < words_.size()) {
    words_[word] &= ~(std::uint64_t{1} << (index % kWordBits));
    Trim();
  }
}

bool Bits::Contains(std::uint32_t index) const {
  const std::size_t word = index / kWordBits;
  return word < words_.size() && ((words_[word] >> (index % kWordBits)) & 1U) != 0;
}

std::uint32_t Bits::Count() const {
  std::uint32_t count = 0;
  for (std::uint64_t word : words_) {
    count += static_cast<std::uint32_t>(std::popcount(word));
  }
  return count;
}

std::uint32_t Bits::First() const {
  MUSTER_CHECK(!words_.empty());
  std::uint32_t index = 0;
  for (std::uint64_t word : words_) {
    if (word != 0) {
      return index + static_cast<std::uint32_t>(std::countr_zero(word));
    }
    index += kWordBits;
  }
  return index;
}

std::vector<std::uint32_t> Bits::Members() const {
  std::vector<std::uint32_t> members;
  members.reserve(Count());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (std::uint64_t word = words_[i]; word != 0; word &= word - 1) {
      members.push_back(static_cast<std::uint32_t>(i * kWordBits) +
                        static_cast<std::uint32_t>(std::countr_zero(word)));
    }
  }
  return members;
}

std::string Bits::ToList() const {
  std::string list;
  const auto append = [&list](std::size_t number) {
    std::array<char, 8> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), number);
    list.append(digits.begin(), end.ptr);
  };
  const std::size_t limit = words_.size() * kWordBits;
  for (std::size_t first = NextFrom(words_, 0, true); first < limit;) {
    const std::size_t end = NextFrom(words_, first, false);
    if (!list.empty()) {
      list.push_back(',');
    }
    append(first);
    if (end > first + 1) {
      list.push_back('-');
      append(end - 1);
    }
    first = NextFrom(words_, end, true);
  }
  return list;
}

absl::StatusOr<Bits> Bits::Parse(std::string_view list) {
  Bits bits;
  std::string_view rest = list;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view piece = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (comma != std::string_view::npos && rest.empty()) {
      return ParseIndex("", list).status();
    }
    const std::size_t dash = piece.find('-');
    ASSIGN_OR_RETURN(const std::uint32_t low, ParseIndex(piece.substr(0, dash), list));
    std::uint32_t high = low;
    if (dash != std::string_view::npos) {
      ASSIGN_OR_RETURN(high, ParseIndex(piece.substr(dash + 1), list));
    }
    if (high < low) {
      return absl::InvalidArgumentError(
          absl::StrCat("range \"", std::string(piece), "\" runs backwards"));
    }
    for (std::uint32_t index = low; index <= high; ++index) {
      bits.Insert(index);
    }
  }
  return bits;
}

void Bits::Unite(const Bits& other) {
  words_.resize(std::max(words_.size(), other.words_.size()));
  for (std::size_t i = 0; i < other.words_.size(); ++i) {
    words_[i] |= other.words_[i];
  }
}

void Bits::Intersect(const Bits& other) {
  words_.resize(std::min(words_.size(), other.words_.size()));
  for (std::size_t i = 0; i < words_.size(); ++i) {
    words_[i] &= other.words_[i];
  }
  Trim();
}

void Bits::Subtract(const Bits& other) {
  for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) {
    words_[i] &= ~other.words_[i];
  }
  Trim();
}

bool Bits::Includes(const Bits& other) const {
  if (other.words_.size() > words_.size()) {
    return false;
  }
  for (std::size_t i = 0; i < other.words_.size(); ++i) {
    if ((other.words_[i] & ~words_[i]) != 0) {
      return false;
    }
  }
  return true;
}

bool Bits::Meets(const Bits& other) const {
  for (std::size_t i = 0; i < std::min(words_.size(), other.words_.size()); ++i) {
    if ((other.words_[i] & words_[i]) != 0) {
      return true;
    }
  }
  return false;
}

void Bits::Trim() {
  while (!words_.empty() && words_.back() == 0) {
    words_.pop_back();
  }
}

}  // namespace muster
