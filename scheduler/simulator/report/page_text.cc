#include "scheduler/simulator/report/page_text.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::sim {
namespace {

using nlohmann::json;

constexpr std::string_view kMark = "@DATA@";

// In a script element nothing may look like markup.
std::string Escaped(const json& data) {
  const std::string text = data.dump(-1, ' ', false, json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace

std::string PageWith(std::string_view page, const json& data) {
  const std::size_t mark = page.find(kMark);
  MUSTER_CHECK(mark != std::string_view::npos);
  return absl::StrCat(std::string(page.substr(0, mark)), Escaped(data),
                      std::string(page.substr(mark + kMark.size())));
}

}  // namespace muster::sim
