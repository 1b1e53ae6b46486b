#pragma once

// What users ask that no cluster is needed for: how much memory a model takes, how fast it answers,
// which ranks lag, which runs became slower, what a collective costs.
//
// Thread promise: pure but for the sequence. Invariant: the same sequence asks the same questions.

#include <optional>
#include <string>

#include "scheduler/simulator/random_sequence.h"

namespace muster::sim {

// Asks some of it. What is wrong with an answer: it breaks what its unit promises of all answers.
std::optional<std::string> WrongAnswerToAnything(RandomSequence& random);

}  // namespace muster::sim
