#pragma once

// What users say wrongly: a value of which one member, anywhere in it, has become something that it
// should not be, or seldom is.
//
// Walks Fields(), so that a new member is drawn without a word here. Thread promise: pure but for
// the sequence. Invariant: the same sequence and value give the same change.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/index_set.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"
#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// Counts the members of a value, and changes the one whose turn it is.
class Spoiler {
 public:
  Spoiler(RandomSequence& random, std::size_t turn) : random_(random), left_(turn) {}

  template <Described T>
  void Visit(T& value) {
    ForEachField(value, [this](const char*, auto& member) { this->Visit(member); });
  }
  template <class T>
  void Visit(std::optional<T>& item) {
    if (IsTurn()) {
      item = item.has_value() ? std::nullopt : std::optional<T>(T());
    } else if (item.has_value()) {
      Visit(*item);
    }
  }
  template <class T>
  void Visit(std::vector<T>& items) {
    if (IsTurn()) {
      SpoilList(items);
    }
    for (T& item : items) {
      Visit(item);
    }
  }
  template <class... Ts>
  void Visit(std::variant<Ts...>& value) {
    std::visit([this](auto& held) { this->Visit(held); }, value);
  }
  template <class T>
  void Visit(std::shared_ptr<const T>& value) {
    if (value != nullptr) {
      auto own = std::make_shared<T>(*value);
      Visit(*own);
      value = std::move(own);
    }
  }
  template <class T>
  requires(!Described<T>) void Visit(T& value) {
    if (IsTurn()) {
      Spoil(value);
    }
  }

  // How many turns there were.
  [[nodiscard]] std::size_t seen() const { return seen_; }

 private:
  bool IsTurn() { return seen_++ == left_; }

  template <class T>
  void SpoilList(std::vector<T>& items) {
    switch (random_.Below(5)) {
      case 0:
        items.clear();
        break;
      case 1:
        items.resize(1 + random_.Below(40));
        break;
      case 2:
        items.resize(random_.Below(8) == 0 ? 1'100 : 260);
        break;
      case 3:
        items.insert(items.end(), items.begin(), items.begin() + (items.empty() ? 0 : 1));
        break;
      default:
        items.emplace_back();
    }
  }
  void Spoil(bool& flag) { flag = !flag; }
  void Spoil(std::string& text) {
    const std::string texts[] = {"",
                                 "node1",
                                 "node[1-2]",
                                 "nowhere",
                                 "a b",
                                 "a,b",
                                 "-1",
                                 "0-1",
                                 std::string(5000, 'x'),
                                 "a\x01"
                                 "b",
                                 "x/y"};
    text = texts[random_.Below(std::size(texts))];
  }
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) void Spoil(T& number) {
    constexpr std::int64_t kNumbers[] = {0,   1,  2,      3,           4,         7,        64,
                                         300, -1, 70'000, 100'000'000, INT32_MAX, INT32_MIN};
    number = static_cast<T>(kNumbers[random_.Below(std::size(kNumbers))]);
  }
  template <class T>
  requires std::is_enum_v<T>
  void Spoil(T& word) {
    constexpr std::uint64_t kWords = 2;  // that each kind has
    word = static_cast<T>(random_.Below(kWords));
  }
  void Spoil(Duration& time) {
    constexpr std::int64_t kTimes[] = {-1, 0, 1'000, 60'000, 4'000'000'000'000};
    time = Duration(kTimes[random_.Below(std::size(kTimes))]);
  }
  void Spoil(Time& time) {
    constexpr std::int64_t kTimes[] = {-1, 0, 1'767'225'700'000, 40'000'000'000'000};
    time = Time(Duration(kTimes[random_.Below(std::size(kTimes))]));
  }
  template <class Tag, class Rep>
  void Spoil(Id<Tag, Rep>& id) {
    id = Id<Tag, Rep>(static_cast<Rep>(random_.Below(40)));
  }
  template <class Tag, class Rep>
  void Spoil(Amount<Tag, Rep>& amount) {
    constexpr std::uint64_t kAmounts[] = {0, 1, 500, 1000, 1001, 1ULL << 30U, 1ULL << 51U};
    amount = Amount<Tag, Rep>(static_cast<Rep>(kAmounts[random_.Below(std::size(kAmounts))]));
  }
  template <class Tag>
  void Spoil(IndexSet<Tag>& set) {
    set.Insert(static_cast<std::uint32_t>(random_.Below(10)));
  }

  RandomSequence& random_;
  const std::size_t left_;
  std::size_t seen_ = 0;
};

// Changes one member, each as likely as any other.
template <Described T>
void SpoilOne(RandomSequence& random, T* value) {
  T copy = *value;
  Spoiler count(random, SIZE_MAX);
  count.Visit(copy);
  Spoiler(random, random.Below(std::max<std::size_t>(count.seen(), 1))).Visit(*value);
}

}  // namespace muster::sim
