#pragma once

// What each client's token made, so that a request that is sent again is answered and not done
// again.
//
// Thread promise: none; owned by one thread. Invariants: (1) the first that a token made stays what
// it made; (2) the newest 65,536 tokens are known, older ones are not.

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "scheduler/model/change/state_image.h"

namespace muster::core {

class RequestTokens {
 public:
  static constexpr std::size_t kMax = 65536;

  // An empty token names no request.
  void Remember(TokenOwner owner) {
    if (owner.token.empty() || owners_.contains(owner.token)) {
      return;
    }
    order_.push_back(owner.token);
    owners_.emplace(order_.back(), std::move(owner));
    if (order_.size() > kMax) {
      owners_.erase(order_.front());
      order_.pop_front();
    }
  }
  // Null when it is unknown.
  [[nodiscard]] const TokenOwner* Find(const std::string& token) const {
    const auto found = owners_.find(token);
    return found == owners_.end() ? nullptr : &found->second;
  }

 private:
  std::deque<std::string> order_;  // the oldest first
  std::unordered_map<std::string, TokenOwner> owners_;
};

}  // namespace muster::core
