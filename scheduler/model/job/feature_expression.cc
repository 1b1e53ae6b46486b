#include "scheduler/model/job/feature_expression.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

// How tightly a piece of text binds: a looser one inside a tighter operator needs parentheses.
enum class Binding { kOr, kAnd, kUnary };

struct Piece {
  std::string text;
  Binding binding = Binding::kUnary;
};

std::string Inside(const Piece& piece, Binding outer) {
  return piece.binding < outer ? absl::StrCat("(", piece.text, ")") : piece.text;
}

Piece Join(const Piece& left, const Piece& right, Binding binding) {
  // The right operand of the same operator keeps its parentheses, so that reading gives this tree.
  const bool same = right.binding == binding;
  const std::string tail = same ? absl::StrCat("(", right.text, ")") : Inside(right, binding);
  return Piece{absl::StrCat(Inside(left, binding), binding == Binding::kAnd ? "&" : "|", tail),
               binding};
}

}  // namespace

bool IsComplete(const FeatureExpression& expression) {
  std::size_t depth = 0;
  for (const FeatureToken& token : expression.postfix) {
    const std::size_t operands = token.op == FeatureOp::kHas   ? 0
                                 : token.op == FeatureOp::kNot ? 1
                                                               : 2;
    if (depth < operands) {
      return false;
    }
    depth = depth - operands + 1;
  }
  return depth == (expression.postfix.empty() ? 0 : 1);
}

std::string ToText(const FeatureExpression& expression) {
  std::vector<Piece> stack;
  for (const FeatureToken& token : expression.postfix) {
    if (token.op == FeatureOp::kHas) {
      stack.push_back({token.name, Binding::kUnary});
      continue;
    }
    const Piece right = std::move(stack.back());
    stack.pop_back();
    if (token.op == FeatureOp::kNot) {
      stack.push_back({absl::StrCat("!", Inside(right, Binding::kUnary)), Binding::kUnary});
      continue;
    }
    const Piece left = std::move(stack.back());
    stack.back() = Join(left, right, token.op == FeatureOp::kAnd ? Binding::kAnd : Binding::kOr);
  }
  return stack.empty() ? "" : stack.back().text;
}

std::string ToText(const Constraint& constraint) {
  if (constraint.counts.empty()) {
    return ToText(constraint.every);
  }
  std::string counts;
  for (const FeatureCount& count : constraint.counts) {
    const std::string text = ToText(count.expression);
    const bool plain = count.expression.postfix.size() == 1;
    absl::StrAppend(&counts, counts.empty() ? "" : "&", plain ? text : absl::StrCat("(", text, ")"),
                    "*", count.nodes);
  }
  if (constraint.every.postfix.empty()) {
    return absl::StrCat("[", counts, "]");
  }
  const std::string every = ToText(constraint.every);
  const bool loose = constraint.every.postfix.back().op == FeatureOp::kOr;
  return absl::StrCat(loose ? absl::StrCat("(", every, ")") : every, "&[", counts, "]");
}

}  // namespace muster
