#pragma once

// --constraint in Slurm's words: a&(b|!c), a*2, [a*2&b*4].
//
// "!" binds before "&", "&" before "|". Pure; errors as in number.h. Invariants: an accepted
// constraint is complete and reads back from its text; nesting and length are bounded, so no input
// exhausts the stack.

#include <string_view>

#include "absl/status/statusor.h"
#include "scheduler/model/job/feature_expression.h"

namespace muster::cli {

// The most names and operators of one constraint.
inline constexpr std::size_t kConstraintTokensMax = 256;

absl::StatusOr<Constraint> ParseConstraint(std::string_view text);

// "a,b": the features of a node; sorted, without repeats.
absl::StatusOr<std::vector<std::string>> ParseFeatures(std::string_view text);

}  // namespace muster::cli
