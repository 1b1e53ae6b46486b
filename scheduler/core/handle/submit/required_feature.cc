#include "scheduler/core/handle/submit/required_feature.h"

#include <vector>

namespace muster::core {
namespace {

bool Is(const FeatureToken& token, const char* feature) {
  return token.op == FeatureOp::kHas && token.name == feature;
}

}  // namespace

void RequireFeature(const char* feature, FeatureExpression* every) {
  std::vector<FeatureToken>& postfix = every->postfix;
  const std::size_t size = postfix.size();
  const bool alone = size == 1 && Is(postfix[0], feature);
  const bool added =
      size >= 3 && postfix[size - 1].op == FeatureOp::kAnd && Is(postfix[size - 2], feature);
  if (alone || added) {
    return;
  }
  postfix.push_back({FeatureOp::kHas, feature});
  if (size > 0) {
    postfix.push_back({FeatureOp::kAnd, ""});
  }
}

}  // namespace muster::core
