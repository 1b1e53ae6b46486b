#include "cli/simulate/simulation_identity.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster::cli {
namespace {

// Where results go, and what is hashed by its content.
const std::set<std::string>& OptionsWithoutBearing() {
  static const std::set<std::string> names = {
      "trace", "cluster", "jobs-csv", "swf",        "html",   "perfetto", "summary-json",
      "audit", "check",   "json",     "checkpoint", "resume", "state",    "controller"};
  return names;
}

absl::Status AddFile(const std::string& path, Fingerprint* hash) {
  std::ifstream file(path, std::ios::binary);
  std::string piece(std::size_t{1} << 20U, '\0');
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    hash->Add(piece.substr(0, static_cast<std::size_t>(file.gcount())));
  }
  return file.eof() ? absl::OkStatus()
                    : absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be read"));
}

// A file, or all files of a directory in order of their names.
absl::Status AddTrace(const std::string& path, Fingerprint* hash) {
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {
    return AddFile(path, hash);
  }
  if (!std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": is read a second time by --resume, so it must be a file: save it to one"));
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
    if (entry.is_regular_file(error)) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    RETURN_IF_ERROR(AddFile(file, hash));
  }
  return absl::OkStatus();
}

void AddCluster(const sim::ClusterRun& run, Fingerprint* hash) {
  for (const sim::NodeClass& nodes : run.nodes) {
    hash->Add(nodes.name).Add(nodes.count).Add(nodes.machine);
  }
  hash->Add(run.config).Add(run.policy);
  if (run.failure_log.has_value()) {
    for (const sim::LoggedFailure& failure : *run.failure_log) {
      hash->Add(failure.time).Add(failure.node).Add(failure.repair);
    }
  }
}

}  // namespace

absl::StatusOr<std::string> SimulationIdentity(const Invocation& invocation,
                                               const SimulateOptions& options) {
  Fingerprint trace;
  RETURN_IF_ERROR(AddTrace(options.run.trace, &trace));
  Fingerprint settings;
  for (const auto& [name, value] : invocation.values) {
    if (OptionsWithoutBearing().count(name) == 0) {
      settings.Add(name).Add(value);
    }
  }
  if (invocation.Has("cluster")) {
    RETURN_IF_ERROR(AddFile(invocation.Value("cluster"), &settings));
  }
  if (options.cluster.has_value()) {
    AddCluster(*options.cluster, &settings);
  }
  return absl::StrCat("trace ", HashText(trace.value()), ", settings ", HashText(settings.value()),
                      ", muster ", kVersion);
}

}  // namespace muster::cli
