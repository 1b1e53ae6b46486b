#include "cli/stage/place_words.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {

absl::StatusOr<std::string> ExpandPlace(const std::string& place, const Environment& environment) {
  const std::size_t slash = std::min(place.find('/'), place.size());
  std::string name = place.substr(0, slash);
  if (name == "~") {
    name = "$HOME";
  }
  if (name.size() < 2 || name.front() != '$') {
    return place;
  }
  name = name.size() > 3 && name[1] == '{' && name.back() == '}' ? name.substr(2, name.size() - 3)
                                                                 : name.substr(1);
  const std::string value = environment.Get(name);
  if (value.empty()) {
    return absl::NotFoundError(absl::StrCat(Quote(place), ": the variable ", name,
                                            " is not set: set it, or write it out"));
  }
  return absl::StrCat(value, place.substr(slash));
}

}  // namespace muster::cli
