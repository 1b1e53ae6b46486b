#pragma once

// Which nodes a job may use by their features: expressions, and how many nodes must have what.
//
// Slurm's --constraint: "a&(b|!c)" must hold on every node; "a*2" and "[a*2&b*4]" ask for at least
// that many nodes with a, with b. Invariants: (1) `postfix` is empty (everything matches) or a
// complete expression: operands before their operator; (2) a count is positive.

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "scheduler/model/value/fields.h"

namespace muster {

enum class FeatureOp : std::uint8_t {
  kHas = 0,  // the node has the feature `name`
  kAnd = 1,  // of the two before
  kOr = 2,   // of the two before
  kNot = 3,  // of the one before
};

struct FeatureToken {
  FeatureOp op = FeatureOp::kHas;
  std::string name;  // kHas only
  static constexpr auto Fields(auto list) {
    return list(Field{"op", &FeatureToken::op}, Field{"name", &FeatureToken::name});
  }
  friend bool operator==(const FeatureToken&, const FeatureToken&) = default;
};

struct FeatureExpression {
  std::vector<FeatureToken> postfix;
  static constexpr auto Fields(auto list) {
    return list(Field{"postfix", &FeatureExpression::postfix});
  }
  friend bool operator==(const FeatureExpression&, const FeatureExpression&) = default;
};

// At least `nodes` nodes of the job match `expression`.
struct FeatureCount {
  FeatureExpression expression;
  std::uint32_t nodes = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"expression", &FeatureCount::expression},
                Field{"nodes", &FeatureCount::nodes});
  }
  friend bool operator==(const FeatureCount&, const FeatureCount&) = default;
};

// What --constraint says.
struct Constraint {
  FeatureExpression every;           // must match on each node of the job
  std::vector<FeatureCount> counts;  // each must hold over the job's nodes
  static constexpr auto Fields(auto list) {
    return list(Field{"every", &Constraint::every}, Field{"counts", &Constraint::counts});
  }
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

// True when `postfix` is empty or a complete expression, so that it can be evaluated.
bool IsComplete(const FeatureExpression& expression);
// With the fewest parentheses: "a&(b|!c)". REQUIRES: IsComplete.
std::string ToText(const FeatureExpression& expression);
// "a&b", "[a*2&b*4]": what --constraint reads back. REQUIRES: all expressions complete.
std::string ToText(const Constraint& constraint);

}  // namespace muster
