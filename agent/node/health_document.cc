#include "agent/node/health_document.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kFiguresMax = 512;
constexpr std::size_t kNameBytesMax = 64;
constexpr std::size_t kSaidBytesMax = 200;

std::optional<HealthSense> SenseNamed(const std::string& name) {
  if (name == "higher") {
    return HealthSense::kHigher;
  }
  if (name == "lower") {
    return HealthSense::kLower;
  }
  if (name == "never") {
    return HealthSense::kNever;
  }
  return name == "shown" ? std::optional(HealthSense::kShown) : std::nullopt;
}

// Thousandths; nothing for what is no amount.
std::optional<std::uint64_t> Amount(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) {
    return std::nullopt;
  }
  const double value = found->get<double>() * 1000;
  constexpr double kMost = 9e18;
  return std::isfinite(value) && value >= 0 && value < kMost
             ? std::optional(static_cast<std::uint64_t>(std::llround(value)))
             : std::nullopt;
}

std::string Text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

absl::StatusOr<HealthFigure> ReadFigure(const Json& object) {
  HealthFigure figure;
  figure.component = Text(object, "component");
  figure.unit = Text(object, "unit");
  const std::optional<HealthSense> sense = SenseNamed(Text(object, "better"));
  const std::optional<std::uint64_t> value = Amount(object, "value");
  if (figure.component.empty() || figure.component.size() > kNameBytesMax ||
      figure.unit.size() > kNameBytesMax || !sense.has_value() || !value.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the health program: a figure that is none: ",
        object.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, kSaidBytesMax)));
  }
  figure.sense = *sense;
  figure.value = *value;
  figure.roof = Amount(object, "roof").value_or(0);
  return figure;
}

}  // namespace

absl::StatusOr<std::vector<HealthFigure>> ReadHealthDocument(const std::string& text) {
  std::string said;
  Json document;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    if (line.empty()) {
      continue;
    }
    Json read = line.front() == '{' ? Json::parse(line, nullptr, false) : Json();
    if (read.is_object()) {
      document = std::move(read);
    } else {
      said = line;
    }
  }
  if (!document.is_object() || !document["figures"].is_array() ||
      document["figures"].size() > kFiguresMax) {
    return absl::InvalidArgumentError(
        said.empty() ? std::string("the health program printed nothing")
                     : absl::StrCat("the health program printed: ", said.substr(0, kSaidBytesMax)));
  }
  std::vector<HealthFigure> figures;
  for (const Json& object : document["figures"]) {
    ASSIGN_OR_RETURN(HealthFigure figure, ReadFigure(object));
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace muster::agent
