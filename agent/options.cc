#include "agent/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/attempt_cgroups.h"

namespace muster {
namespace {

constexpr std::size_t kNameBytesMax = 64;
// Far more than a node's worth of ranks with their threads, far less than a kernel has.
constexpr std::uint64_t kPidsDefault = 16384;

std::string HostName() {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0) {
    return "localhost";
  }
  return name.data();
}

// Where our own binary is; its siblings are looked for beside it.
std::filesystem::path BinaryDirectory() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
}

std::string DefaultModuleDirectory(const std::filesystem::path& binaries) {
  const std::filesystem::path installed = binaries.parent_path() / "lib" / "muster";
  std::error_code error;
  if (std::filesystem::exists(installed / "libmuster-pmix.so", error)) {
    return installed.string();
  }
  return (binaries.parent_path() / "lib").string();
}

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '.' || c == '_' || c == '-';
         });
}

std::string CheckName(const std::string& name) {
  return IsName(name) ? "" : "a node's name is 1 to 64 of A-Z a-z 0-9 . _ -";
}

std::string CheckFeatures(const std::vector<std::string>& features) {
  return std::all_of(features.begin(), features.end(), IsName)
             ? ""
             : "--features: each is 1 to 64 of A-Z a-z 0-9 . _ -, with commas between them";
}

// "I/N", I from 0.
bool ParseSlice(const std::string& text, unsigned* slice, unsigned* slices) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  return parts.size() == 2 && absl::SimpleAtoi(parts[0], slice) &&
         absl::SimpleAtoi(parts[1], slices) && *slice < *slices;
}

}  // namespace

ParsedOptions ParseAgentOptions(int argc, char** argv) {
  ParsedOptions parsed;
  AgentOptions& options = parsed.options;
  options.hostname = HostName();
  options.name = options.hostname;
  options.pids = kPidsDefault;
  const std::filesystem::path binaries = BinaryDirectory();
  options.supervisor = (binaries / "muster-supervisor").string();
  options.module_dir = DefaultModuleDirectory(binaries);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    options.environment.emplace_back(*entry);
  }
  std::string slice;
  std::string features;
  CLI::App app("Muster's agent: runs jobs on one node for a controller", "muster-agent");
  app.add_option("--state", options.state, "directory for what the agent keeps")->required();
  app.add_option("--controller", options.controller, "unix:PATH or HOST:PORT")->required();
  app.add_option("--name", options.name, "the node's name (default: this host's)");
  app.add_option("--slice", slice, "I/N: be part I (from 0) of N of the machine");
  app.add_option("--topology", options.topology,
                 "play another machine: an hwloc XML file or a synthetic description");
  app.add_option("--features", features, "what jobs may ask for by --constraint: a,b,…");
  app.add_option("--weight", options.weight,
                 "nodes of a lower weight are taken first (default: 0)");
  app.add_option("--cgroup-root", options.cgroup_root,
                 "the cgroup v2 directory below which jobs' groups are made (default: our own)");
  app.add_option("--pids-max", options.pids,
                 "how many processes and threads a job may have here; 0: any (default: 16384)");
  app.add_option("--memory-high", options.memory_high,
                 "slow a job that has so many per cent of its memory; 0: never (default)")
      ->check(CLI::Range(0, 100));
  app.add_option("--ready-fd", options.ready_fd, "write \"ready\" here once registered");
  app.add_option("--supervisor", options.supervisor, "the supervisor's program");
  app.add_option("--module-dir", options.module_dir, "where libmuster-pmix.so is");
  app.add_option("--tls-cert", options.tls.certificate, "our certificate (PEM)");
  app.add_option("--tls-key", options.tls.key, "its key (PEM)");
  app.add_option("--tls-ca", options.tls.authority, "who signs the controller's (PEM)");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? 0 : 2;
    return parsed;
  }
  std::string wrong = CheckName(options.name);
  if (wrong.empty() && !slice.empty() && !ParseSlice(slice, &options.slice, &options.slices)) {
    wrong = "--slice " + slice + ": expected I/N with I from 0 to N-1";
  }
  if (wrong.empty() && !features.empty()) {
    options.features = absl::StrSplit(features, ',');
    wrong = CheckFeatures(options.features);
  }
  if (wrong.empty()) {
    wrong = std::string(CheckControllerAddress(options.controller, options.tls).message());
  }
  if (wrong.empty() && !options.cgroup_root.empty()) {
    const absl::Status root = CheckCgroupRoot(options.cgroup_root);
    wrong = root.ok() ? "" : absl::StrCat("--cgroup-root: ", std::string(root.message()));
  }
  if (!wrong.empty()) {
    std::fprintf(stderr, "muster-agent: %s\n", wrong.c_str());
    parsed.exit_code = 2;
  }
  return parsed;
}

}  // namespace muster
