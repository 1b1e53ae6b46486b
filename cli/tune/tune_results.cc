#include "cli/tune/tune_results.h"

#include <cerrno>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "cli/frame/json_output.h"

namespace muster::cli {
namespace {

bool Read(const Json& json, TuneMeasures* measures) {
  bool whole = json.is_object();
  ForEachField(*measures, [&](const char* name, auto& member) {
    whole = whole && json.contains(name) && json[name].is_number();
    if (whole) {
      json[name].get_to(member);
    }
  });
  return whole;
}

bool Read(const Json& json, TuneTrial* trial) {
  return json.is_object() && json.contains("train") && json.contains("test") &&
         json.contains("all") && Read(json["train"], &trial->train) &&
         Read(json["test"], &trial->test) && Read(json["all"], &trial->all);
}

}  // namespace

absl::StatusOr<std::unique_ptr<TuneResults>> TuneResults::Open(const std::string& path,
                                                               std::uint64_t workload) {
  std::unique_ptr<TuneResults> results(new TuneResults(workload));
  if (path.empty()) {
    return results;
  }
  std::ifstream before(path);
  for (std::string line; std::getline(before, line);) {
    const Json json = Json::parse(line, nullptr, false);
    TuneTrial trial;
    if (json.is_object() && json.value("workload", std::uint64_t{0}) == workload &&
        json.contains("settings") && json["settings"].is_string() && json.contains("trial") &&
        Read(json["trial"], &trial)) {
      results->trials_[json["settings"].get<std::string>()] = trial;
    }
  }
  results->found_ = results->trials_.size();
  results->file_ = std::fopen(path.c_str(), "a");
  if (results->file_ == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("--resume: cannot write ", path));
  }
  return results;
}

TuneResults::~TuneResults() {
  if (file_ != nullptr) {
    std::fclose(file_);
  }
}

std::optional<TuneTrial> TuneResults::Find(const std::string& key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = trials_.find(key);
  return found == trials_.end() ? std::nullopt : std::optional(found->second);
}

absl::Status TuneResults::Add(const std::string& key, const TuneTrial& trial) {
  const std::lock_guard<std::mutex> lock(mutex_);
  trials_[key] = trial;
  if (file_ == nullptr) {
    return absl::OkStatus();
  }
  const Json json = {{"workload", workload_}, {"settings", key}, {"trial", ToJson(trial)}};
  const std::string line = json.dump() + "\n";
  const bool written =
      std::fwrite(line.data(), 1, line.size(), file_) == line.size() && std::fflush(file_) == 0;
  return written ? absl::OkStatus() : absl::ErrnoToStatus(errno, "--resume: cannot write");
}

}  // namespace muster::cli
