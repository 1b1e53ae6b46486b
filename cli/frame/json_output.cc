#include "cli/frame/json_output.h"

namespace muster::cli {

std::string PrintJson(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json ToJson(const Usage& usage) {
  Json object = FieldsToJson(usage);
  const auto unknown = [&object](const char* name, bool zero) {
    if (zero) {
      object[name] = nullptr;
    }
  };
  const bool unwatched = usage.gpu_watched.count() == 0 && usage.gpu_busy.count() == 0;
  unknown("gpu_busy", unwatched);
  unknown("gpu_memory", unwatched && usage.gpu_memory.zero());
  unknown("gpu_energy_mj", usage.gpu_energy_mj == 0);
  unknown("cpu_energy_mj", usage.cpu_energy_mj == 0);
  unknown("group_memory", usage.group_memory.zero());
  return object;
}

}  // namespace muster::cli
