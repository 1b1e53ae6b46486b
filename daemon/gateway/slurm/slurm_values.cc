#include "daemon/gateway/slurm/slurm_values.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::daemon::slurm {
namespace {

constexpr std::int64_t kMinute = 60'000;

std::string SignalName(std::int32_t signal) {
  const char* const name = signal == 0 ? nullptr : sigabbrev_np(signal);
  return name == nullptr ? "" : name;
}

Json Meta() {
  return {{"plugin",
           {{"type", "openapi/slurmctld"},
            {"name", "Muster's gateway"},
            {"data_parser", "data_parser/v0.0.40"},
            {"accounting_storage", "accounting_storage/muster"}}},
          {"client", {{"source", ""}, {"user", ""}, {"group", ""}}},
          {"command", Json::array()},
          {"slurm",
           {{"version", {{"major", "23"}, {"minor", "11"}, {"micro", "0"}}},
            {"release", "23.11.0"},
            {"cluster", ""}}}};
}

}  // namespace

Json Number(std::optional<std::uint64_t> number) {
  return {{"set", number.has_value()}, {"infinite", false}, {"number", number.value_or(0)}};
}

Json Infinite() {
  return {{"set", false}, {"infinite", true}, {"number", 0}};
}

Json Moment(std::int64_t milliseconds) {
  return Number(milliseconds <= 0 ? std::nullopt
                                  : std::optional(static_cast<std::uint64_t>(milliseconds / 1000)));
}

Json JustNow() {
  return Moment(std::chrono::duration_cast<std::chrono::milliseconds>(
                    std::chrono::system_clock::now().time_since_epoch())
                    .count());
}

Json Minutes(std::int64_t milliseconds) {
  return milliseconds <= 0
             ? Infinite()
             : Number(static_cast<std::uint64_t>((milliseconds + kMinute - 1) / kMinute));
}

Json Exit(std::int32_t code, std::int32_t signal) {
  return {{"status", Json::array({signal != 0 ? "SIGNALED"
                                  : code != 0 ? "ERROR"
                                              : "SUCCESS"})},
          {"return_code", Number(static_cast<std::uint64_t>(code))},
          {"signal",
           {{"id", Number(signal == 0 ? std::nullopt
                                      : std::optional(static_cast<std::uint64_t>(signal)))},
            {"name", SignalName(signal)}}}};
}

std::int64_t WholeMebibytes(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes >> 20);
}

std::string DumpJson(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string AnswerText(SlurmAnswer answer) {
  const std::string rest = DumpJson(Answer(std::move(answer.body)));
  return answer.name.empty()
             ? absl::StrCat(rest, "\n")
             : absl::StrCat("{\"", answer.name, "\":[", answer.entries, "],", rest.substr(1), "\n");
}

Json Answer(Json body) {
  body["meta"] = Meta();
  body["errors"] = Json::array();
  if (!body.contains("warnings")) {
    body["warnings"] = Json::array();
  }
  return body;
}

Json ErrorAnswer(const std::string& source, const std::string& error) {
  Json body = Answer(Json::object());
  body["errors"].push_back({{"description", error},
                            {"error", error},
                            {"error_number", -1},  // SLURM_ERROR
                            {"source", source}});
  return body;
}

}  // namespace muster::daemon::slurm
