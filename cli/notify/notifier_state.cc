#include "cli/notify/notifier_state.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::cli {
namespace {

constexpr auto kWaitLast = static_cast<unsigned>(NotifierState::Wait::kToldAndGone);

}  // namespace

absl::StatusOr<NotifierState> ReadNotifierState(const std::string& path) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  NotifierState state;
  if (absl::IsNotFound(text.status())) {
    return state;
  }
  RETURN_IF_ERROR(text.status());
  const nlohmann::json read = nlohmann::json::parse(*text, nullptr, false);
  const auto bad = [&path] {
    return absl::DataLossError(
        absl::StrCat(path, ": not a notifier's state; remove it to begin with what comes"));
  };
  if (!read.is_object() || !read.contains("next") || !read["next"].is_number_unsigned()) {
    return bad();
  }
  state.next = read["next"].get<std::uint64_t>();
  for (const auto& row : read.value("watched", nlohmann::json::array())) {
    if (!row.is_array() || row.empty() || !row[0].is_number_unsigned()) {
      return bad();
    }
    std::set<unsigned>& told = state.watched[row[0].get<std::uint64_t>()];
    for (std::size_t i = 1; i < row.size(); ++i) {
      told.insert(row[i].is_number_unsigned() ? row[i].get<unsigned>() : 0);
    }
  }
  for (const auto& row : read.value("arrays", nlohmann::json::array())) {
    if (!row.is_string()) {
      return bad();
    }
    state.arrays.insert(row.get<std::string>());
  }
  for (const auto& row : read.value("waits", nlohmann::json::array())) {
    if (!row.is_array() || row.size() != 2 || !row[0].is_number_unsigned() ||
        !row[1].is_number_unsigned() || row[1] > kWaitLast) {
      return bad();
    }
    state.waits[row[0].get<std::uint64_t>()] =
        static_cast<NotifierState::Wait>(row[1].get<unsigned>());
  }
  return state;
}

absl::Status WriteNotifierState(const std::string& path, const NotifierState& state) {
  nlohmann::json watched = nlohmann::json::array();
  for (const auto& [job, told] : state.watched) {
    nlohmann::json row = nlohmann::json::array({job});
    for (const std::uint32_t each : told) {
      row.push_back(each);
    }
    watched.push_back(std::move(row));
  }
  nlohmann::json waits = nlohmann::json::array();
  for (const auto& [job, wait] : state.waits) {
    waits.push_back(nlohmann::json::array({job, static_cast<unsigned>(wait)}));
  }
  const nlohmann::json document = {{"next", state.next},
                                   {"watched", std::move(watched)},
                                   {"arrays", state.arrays},
                                   {"waits", std::move(waits)}};
  return WriteFileAtomically(path, document.dump() + "\n");
}

}  // namespace muster::cli
