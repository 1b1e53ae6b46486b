#include "cli/frame/json_output.h"

namespace muster::cli {

std::string PrintJson(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::cli
