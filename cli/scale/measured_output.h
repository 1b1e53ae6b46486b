#pragma once

// The number that a program prints, found by a regular expression (RE2's syntax).
//
// Each line of each rank's output is matched as soon as it is whole. What counts is the last match
// of the lowest rank that has one: programs print such a number at the end, by rank 0. Thread
// promise: a value; one thread at a time. Invariants: a rank's lines are its own, however pieces of
// several ranks arrive; of a line without end so much is kept as kLineBytesMax.

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"

namespace re2 {
class RE2;
}

namespace muster::cli {

class MeasuredOutput {
 public:
  static constexpr std::size_t kLineBytesMax = std::size_t{1} << 16;

  // `pattern`: its first group is the number, or all that it matches. InvalidArgument when it is no
  // regular expression.
  static absl::StatusOr<MeasuredOutput> Find(const std::string& pattern);

  // Takes what `rank` wrote next.
  void Take(const std::string& rank, std::string_view bytes);
  // The number of all that was taken; what comes then is another run's. FailedPrecondition, one
  // line, when nothing matched, or when what matched is no number above 0.
  absl::StatusOr<double> Finish();

 private:
  struct RankLines {
    std::string open;  // a line whose end has not come
    std::string found;
    bool matched = false;
  };

  explicit MeasuredOutput(std::shared_ptr<const re2::RE2> pattern) : pattern_(std::move(pattern)) {}
  void Match(RankLines* lines) const;

  std::shared_ptr<const re2::RE2> pattern_;
  std::map<std::string, RankLines> ranks_;
};

}  // namespace muster::cli
