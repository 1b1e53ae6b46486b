#include "scheduler/core/power/power_classes.h"

#include "absl/status/statusor.h"
#include "scheduler/base/text/host_list.h"

namespace muster::core {
namespace {

std::vector<std::string> NamesIn(const std::string& list) {
  absl::StatusOr<std::vector<std::string>> names = NodeNames(list);
  return names.ok() ? *std::move(names) : std::vector<std::string>();
}

}  // namespace

PowerClasses::PowerClasses(const std::vector<PowerClass>& classes) {
  for (const PowerClass& kind : classes) {
    if (kind.nodes == "ALL") {
      all_ = all_ == nullptr ? &kind : all_;
    } else {
      for (std::string& name : NamesIn(kind.nodes)) {
        by_name_.emplace(std::move(name), &kind);
      }
    }
    for (std::string& name : NamesIn(kind.except)) {
      excepted_.insert(std::move(name));
    }
  }
}

const PowerClass* PowerClasses::Of(const std::string& node) const {
  const auto found = by_name_.find(node);
  return found == by_name_.end() ? all_ : found->second;
}

bool PowerClasses::IsExcepted(const std::string& node) const {
  return excepted_.contains(node);
}

}  // namespace muster::core
