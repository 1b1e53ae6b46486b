#pragma once

// Names as numbers: the users, accounts, partitions and queues of a trace that spells them out.
//
// Thread promise: a value; one thread at a time. Invariants: the n-th distinct name has the number
// n - 1; beyond kNamesMax names are not distinguished (-1), so that memory is bounded.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::sim {

class NameTable {
 public:
  static constexpr std::size_t kNamesMax = 1'000'000;
  static constexpr std::size_t kNameBytesMax = 256;

  // The number of `name`, which may be new; -1 for an empty one.
  std::int64_t NumberOf(std::string_view name) {
    if (name.empty()) {
      return -1;
    }
    const std::string_view known = name.substr(0, kNameBytesMax);
    const auto found = numbers_.find(known);
    if (found != numbers_.end()) {
      return found->second;
    }
    if (names_.size() >= kNamesMax) {
      return -1;
    }
    const auto number = static_cast<std::int64_t>(names_.size());
    names_.emplace_back(known);
    numbers_.emplace(names_.back(), number);
    return number;
  }

  // The name of `number`; of a log that has numbers only, the number itself; "-" for -1.
  [[nodiscard]] std::string NameOf(std::int64_t number) const {
    if (number < 0) {
      return "-";
    }
    const auto at = static_cast<std::size_t>(number);
    return at < names_.size() ? names_[at] : std::to_string(number);
  }

  [[nodiscard]] std::size_t size() const { return names_.size(); }

 private:
  std::map<std::string, std::int64_t, std::less<>> numbers_;
  std::vector<std::string> names_;
};

struct TraceNames {
  NameTable users;
  NameTable groups;
  NameTable partitions;
  NameTable queues;
  NameTable gres;  // countable things: "scratch:2,tape:1"
};

}  // namespace muster::sim
