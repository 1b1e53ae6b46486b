#include "cli/slurm/document/envelope.h"

#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/slurm/frame/command.h"
#include "scheduler/base/text/duration_text.h"

namespace muster::cli::slurm {
namespace {

// Of the layouts, the one whose number of an exit is an object and whose state is a list.
constexpr const char* kDataVersion = "v0.0.41";

std::string NameOfSignal(std::int32_t signal) {
  const char* const name = signal == 0 ? nullptr : sigabbrev_np(signal);
  return name == nullptr ? "" : name;
}

}  // namespace

Json SlurmNumber(std::optional<std::uint64_t> number) {
  return {{"set", number.has_value()}, {"infinite", false}, {"number", number.value_or(0)}};
}

Json SlurmInfinite() {
  return {{"set", false}, {"infinite", true}, {"number", 0}};
}

Json SlurmMoment(Time time) {
  return SlurmNumber(time == kNoTime ? std::nullopt
                                     : std::optional(static_cast<std::uint64_t>(
                                           time.time_since_epoch().count() / 1000)));
}

Json SlurmMinutes(Duration limit) {
  return limit >= kTimeLimitMax
             ? SlurmInfinite()
             : SlurmNumber(static_cast<std::uint64_t>((limit.count() + 59'999) / 60'000));
}

Json SlurmExit(std::int32_t code, std::int32_t signal) {
  const auto number = [](std::int32_t value) {
    return SlurmNumber(static_cast<std::uint64_t>(value));
  };
  return {{"status", Json::array({signal != 0 ? "SIGNALED"
                                  : code != 0 ? "ERROR"
                                              : "SUCCESS"})},
          {"return_code", number(code)},
          {"signal",
           {{"id", signal == 0 ? SlurmNumber(std::nullopt) : number(signal)},
            {"name", NameOfSignal(signal)}}}};
}

Json RowsEntry(const std::vector<std::string>& names,
               const std::vector<std::vector<std::string>>& rows) {
  Json list = Json::array();
  for (const std::vector<std::string>& row : rows) {
    Json entry = Json::object();
    for (std::size_t i = 0; i < names.size() && i < row.size(); ++i) {
      entry[absl::AsciiStrToLower(names[i])] = row[i];
    }
    list.push_back(std::move(entry));
  }
  return list;
}

std::string SlurmDocument(const std::string& key, Json value, const std::string& cluster) {
  const std::vector<std::string> version = absl::StrSplit(kSlurmVersion, '.');
  Json document;
  document[key] = std::move(value);
  document["meta"] = {
      {"plugin",
       {{"type", ""}, {"name", ""}, {"data_parser", absl::StrCat("data_parser/", kDataVersion)}}},
      {"slurm",
       {{"version", {{"major", version[0]}, {"minor", version[1]}, {"micro", version[2]}}},
        {"release", kSlurmVersion},
        {"cluster", cluster}}}};
  document["errors"] = Json::array();
  document["warnings"] = Json::array();
  return PrintJson(document);
}

absl::StatusOr<bool> WantsDocument(const Words& words) {
  if (words.Has("yaml")) {
    return absl::InvalidArgumentError("--yaml: is not written here: use --json");
  }
  const std::string version = words.Value("json");
  if (!version.empty() && version != kDataVersion && version != "latest") {
    return absl::InvalidArgumentError(
        absl::StrCat("--json=", version, ": only ", kDataVersion, " is written here"));
  }
  return words.Has("json");
}

}  // namespace muster::cli::slurm
