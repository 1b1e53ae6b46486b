#include "cli/parse/request/constraint.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr std::size_t kFeatureBytesMax = 64;
constexpr std::size_t kFeaturesMax = 256;
constexpr int kDepthMax = 64;

absl::Status Bad() {
  return absl::InvalidArgumentError("");
}

// A recursive descent: or := and ("|" and)*; and := unary ("&" unary)*;
// unary := "!" unary | "(" or ")" ["*" N] | "[" or "]" | NAME ["*" N].
// Counts stand in the conjunction at the top, or in the brackets there.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  absl::StatusOr<Constraint> Read() {
    FeatureExpression every;
    RETURN_IF_ERROR(ReadOr(/*top=*/true, &every));
    if (!rest_.empty() || tokens_ > kConstraintTokensMax) {
      return Bad();
    }
    constraint_.every = std::move(every);
    return std::move(constraint_);
  }

 private:
  // Where a count may stand: in a conjunction that is not part of anything else.
  absl::Status ReadOr(bool top, FeatureExpression* out) {
    RETURN_IF_ERROR(ReadAnd(top, out));
    const std::size_t counts = constraint_.counts.size();
    while (Take('|')) {
      FeatureExpression right;
      RETURN_IF_ERROR(ReadAnd(/*top=*/false, &right));
      if (top && counts > 0) {
        return Bad();  // a count is no condition of one node
      }
      RETURN_IF_ERROR(Join(FeatureOp::kOr, right, out));
    }
    return absl::OkStatus();
  }

  absl::Status ReadAnd(bool top, FeatureExpression* out) {
    RETURN_IF_ERROR(ReadUnary(top, out));
    while (Take('&')) {
      FeatureExpression right;
      RETURN_IF_ERROR(ReadUnary(top, &right));
      if (right.postfix.empty()) {
        continue;  // it was a count
      }
      if (out->postfix.empty()) {
        *out = std::move(right);
      } else {
        RETURN_IF_ERROR(Join(FeatureOp::kAnd, right, out));
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadUnary(bool top, FeatureExpression* out) {
    if (++depth_ > kDepthMax) {
      return Bad();
    }
    absl::Status status = ReadOperand(top, out);
    --depth_;
    return status;
  }

  absl::Status ReadOperand(bool top, FeatureExpression* out) {
    if (Take('!')) {
      RETURN_IF_ERROR(ReadUnary(/*top=*/false, out));
      return Add(FeatureToken{FeatureOp::kNot, ""}, out);
    }
    if (Take('[')) {
      if (!top || in_brackets_) {
        return Bad();
      }
      in_brackets_ = true;
      RETURN_IF_ERROR(ReadAnd(/*top=*/true, out));
      in_brackets_ = false;
      return Take(']') && out->postfix.empty() ? absl::OkStatus() : Bad();
    }
    if (Take('(')) {
      RETURN_IF_ERROR(ReadOr(/*top=*/false, out));
      return Take(')') ? ReadCount(top, out) : Bad();
    }
    std::size_t length = 0;
    while (length < rest_.size() && IsNameCharacter(rest_[length])) {
      ++length;
    }
    if (length == 0 || length > kFeatureBytesMax) {
      return Bad();
    }
    RETURN_IF_ERROR(Add(FeatureToken{FeatureOp::kHas, std::string(rest_.substr(0, length))}, out));
    rest_.remove_prefix(length);
    return ReadCount(top, out);
  }

  // "*N" behind an operand makes a count of it.
  absl::Status ReadCount(bool top, FeatureExpression* out) {
    if (!Take('*')) {
      return absl::OkStatus();
    }
    std::size_t length = 0;
    while (length < rest_.size() && rest_[length] >= '0' && rest_[length] <= '9') {
      ++length;
    }
    const absl::StatusOr<std::uint64_t> nodes = ParseDigits(rest_.substr(0, length), 65'536);
    if (!top || !nodes.ok() || *nodes == 0) {
      return Bad();
    }
    rest_.remove_prefix(length);
    constraint_.counts.push_back(
        FeatureCount{std::exchange(*out, FeatureExpression()), static_cast<std::uint32_t>(*nodes)});
    return absl::OkStatus();
  }

  absl::Status Add(FeatureToken token, FeatureExpression* out) {
    out->postfix.push_back(std::move(token));
    return ++tokens_ > kConstraintTokensMax ? Bad() : absl::OkStatus();
  }

  absl::Status Join(FeatureOp op, FeatureExpression& right, FeatureExpression* out) {
    std::move(right.postfix.begin(), right.postfix.end(), std::back_inserter(out->postfix));
    return Add(FeatureToken{op, ""}, out);
  }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view rest_;
  Constraint constraint_;
  std::size_t tokens_ = 0;
  int depth_ = 0;
  bool in_brackets_ = false;
};

}  // namespace

absl::StatusOr<Constraint> ParseConstraint(std::string_view text) {
  absl::StatusOr<Constraint> constraint = Reader(text).Read();
  if (!constraint.ok() || (constraint->every.postfix.empty() && constraint->counts.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat(Quote(text),
                     " is not a constraint: use features with & | ! and parentheses, like "
                     "gpu&(ib|!old), and counts like a*2 or [a*2&b*4]"));
  }
  return constraint;
}

absl::StatusOr<std::vector<std::string>> ParseFeatures(std::string_view text) {
  std::vector<std::string> features;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    if (name.empty() || name.size() > kFeatureBytesMax || features.size() == kFeaturesMax ||
        !std::all_of(name.begin(), name.end(), IsNameCharacter)) {
      return absl::InvalidArgumentError(absl::StrCat(
          Quote(name), " is not a feature: use letters, digits, . _ - and commas between them"));
    }
    features.emplace_back(name);
    more = comma != std::string_view::npos;
    text = more ? text.substr(comma + 1) : std::string_view();
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

}  // namespace muster::cli
