#pragma once

// Draws that simulated users, operators and machines share.
//
// Thread promise: pure but for the sequence.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// True for `thousandths` of the questions.
inline bool Chance(RandomSequence& random, std::uint32_t thousandths) {
  return random.Below(1000) < thousandths;
}

// Uniform in [0, below); 0 where that is nothing.
inline std::uint32_t Draw(RandomSequence& random, std::uint32_t below) {
  return static_cast<std::uint32_t>(random.Below(std::max(below, 1U)));
}

template <class T>
T OneOf(RandomSequence& random, std::initializer_list<T> choices) {
  return choices.begin()[random.Below(choices.size())];
}

template <std::size_t N>
std::string OneOf(RandomSequence& random, const char* const (&words)[N]) {
  return words[random.Below(N)];
}

}  // namespace muster::sim
