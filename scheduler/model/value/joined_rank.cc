#include "scheduler/model/value/joined_rank.h"

#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace muster {
namespace {

constexpr std::string_view kVariable = "MUSTER_EXEC_JOINS=";
constexpr std::string_view kWholeJob = "job";

std::optional<std::uint32_t> Number(std::string_view text) {
  std::uint32_t number = 0;
  return absl::SimpleAtoi(std::string(text), &number) ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string ToVariable(const JoinedRank& joined) {
  return joined.step.has_value()
             ? absl::StrCat(std::string(kVariable), joined.step->value(), ".", joined.rank)
             : absl::StrCat(std::string(kVariable), std::string(kWholeJob));
}

std::optional<JoinedRank> FindJoined(const std::vector<std::string>& environment) {
  for (const std::string& assignment : environment) {
    if (assignment.rfind(kVariable, 0) != 0) {
      continue;
    }
    const std::string_view value = std::string_view(assignment).substr(kVariable.size());
    const std::size_t dot = value.find('.');
    const std::optional<std::uint32_t> step = Number(value.substr(0, dot));
    const std::optional<std::uint32_t> rank =
        dot == std::string_view::npos ? std::nullopt : Number(value.substr(dot + 1));
    if (step.has_value() && rank.has_value()) {
      return JoinedRank{StepId(*step), *rank};
    }
    if (value == kWholeJob) {
      return JoinedRank{};
    }
  }
  return std::nullopt;
}

}  // namespace muster
