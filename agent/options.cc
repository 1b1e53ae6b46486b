#include "agent/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "agent/attempts/attempt_cgroups.h"
#include "agent/supervisor/launch/pam_session.h"
#include "agent/supervisor/user_space/private_tmp.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/runtime/identity/trusted_path.h"
#include "scheduler/runtime/journald.h"
#include "scheduler/runtime/service/systemd.h"

namespace muster::agent {
namespace {

constexpr std::size_t kNameBytesMax = 64;
// Far more than a node's worth of ranks with their threads, far less than a kernel has.
constexpr std::uint64_t kPidsDefault = 16384;
// Debian's and others' first ordinary user.
constexpr std::uint32_t kMinUidDefault = 1000;
// Between two looks at what jobs use: often enough to be news, seldom enough to cost nothing.
constexpr std::chrono::seconds kSampleLeast{5};
constexpr std::chrono::seconds kSampleMost{30};
// Room for a few images as large as those of the GPU vendors are.
constexpr std::uint64_t kCacheDefault = std::uint64_t{100} << 30;
constexpr std::int64_t kDscpMost = 63;

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

std::string CheckName(const std::string& name) {
  return IsPlainName(name, kNameBytesMax) ? "" : "a node's name is 1 to 64 of A-Z a-z 0-9 . _ -";
}

std::string CheckFeatures(const std::vector<std::string>& features) {
  return std::all_of(features.begin(), features.end(),
                     [](const std::string& name) { return IsPlainName(name, kNameBytesMax); })
             ? ""
             : "--features: each is 1 to 64 of A-Z a-z 0-9 . _ -, with commas between them";
}

absl::StatusOr<GresList> ReadGres(const std::string& text) {
  ASSIGN_OR_RETURN(GresList list, ParseGresList(text));
  if (list.size() > kGresKinds) {
    return absl::InvalidArgumentError(
        absl::StrCat("a node declares at most ", kGresKinds, " countable things"));
  }
  return list;
}

// --keys DIR stands for the files in it that are not named themselves.
void TakeKeys(const std::string& keys, AgentTlsFiles* tls) {
  const auto take = [&keys](const char* name, std::string* path) {
    *path = path->empty() && !keys.empty() ? absl::StrCat(keys, "/", name) : *path;
  };
  take("agent.pem", &tls->certificate);
  take("agent.key", &tls->key);
  take("ca.pem", &tls->authority);
}

// "I/N", I from 0.
bool ParseSlice(const std::string& text, unsigned* slice, unsigned* slices) {
  const std::vector<std::string> parts = absl::StrSplit(text, '/');
  return parts.size() == 2 && absl::SimpleAtoi(parts[0], slice) &&
         absl::SimpleAtoi(parts[1], slices) && *slice < *slices;
}

}  // namespace

namespace {

// [prolog], [epilog] …: program, as, time_limit.
absl::Status ReadScript(ConfigFile& file, const std::string& table, SiteScript& script) {
  std::string as = "root";
  RETURN_IF_ERROR(file.ReadString(table + ".program", &script.program));
  RETURN_IF_ERROR(file.ReadString(table + ".as", &as));
  RETURN_IF_ERROR(file.ReadDuration(table + ".time_limit", &script.time_limit));
  if (as != "root" && as != "user") {
    return file.ErrorAt(table + ".as",
                        "expected \"root\" (as the agent) or \"user\" (as the job's user)");
  }
  script.as_user = as == "user";
  if (!script.given() && file.Has(table)) {
    return file.ErrorAt(table, "which program? Say program = \"/etc/muster/SCRIPT\"");
  }
  if (script.given() && script.program.front() != '/') {
    return file.ErrorAt(table + ".program", "give an absolute path");
  }
  return absl::OkStatus();
}

absl::Status ReadPamService(ConfigFile& file, std::string& service) {
  constexpr const char* kKey = "pam_service";
  RETURN_IF_ERROR(file.ReadString(kKey, &service));
  if (service.empty()) {
    return absl::OkStatus();
  }
  if (geteuid() != 0) {
    return file.ErrorAt(kKey, "only root's agent can open sessions for users");
  }
  if (service.front() != '/' && !IsPlainName(service, kNameBytesMax)) {
    return file.ErrorAt(kKey, "expected the name of a service in /etc/pam.d, or a file's path");
  }
  const std::string path = PamServiceFile(service);
  if (access(path.c_str(), R_OK) != 0) {
    return file.ErrorAt(kKey, absl::StrCat(path, " is not there: it says what a session is"));
  }
  return absl::OkStatus();
}

}  // namespace

namespace {

// [containers]: runtime, cache, cache_size, fetch_patience, mounts, squashfuse.
absl::Status ReadContainers(ConfigFile& file, ContainerSettings& containers) {
  constexpr const char* kRuntime = "containers.runtime";
  constexpr const char* kCache = "containers.cache";
  constexpr const char* kMounts = "containers.mounts";
  constexpr const char* kPatience = "containers.fetch_patience";
  RETURN_IF_ERROR(file.ReadString(kRuntime, &containers.runtime));
  RETURN_IF_ERROR(file.ReadString(kCache, &containers.cache));
  if (!containers.cache.empty() && containers.cache.front() != '/') {
    return file.ErrorAt(kCache, "give an absolute path");
  }
  RETURN_IF_ERROR(file.ReadSize("containers.cache_size", &containers.cache_size));
  RETURN_IF_ERROR(file.ReadBool("containers.squashfuse", &containers.squashfuse));
  RETURN_IF_ERROR(file.ReadBool("containers.share", &containers.share));
  std::chrono::milliseconds patience = std::chrono::seconds(containers.fetch_patience);
  RETURN_IF_ERROR(file.ReadDuration(kPatience, &patience));
  if (patience < std::chrono::seconds(1) || patience > std::chrono::hours(24)) {
    return file.ErrorAt(kPatience, "give 1s to 24h");
  }
  containers.fetch_patience = static_cast<std::uint32_t>(patience.count() / 1000);
  std::vector<std::string> mounts;
  RETURN_IF_ERROR(file.ReadStrings(kMounts, &mounts));
  for (const std::string& text : mounts) {
    const std::vector<std::string> parts = absl::StrSplit(text, ':');
    const bool flagged = parts.size() == 3 && (parts[2] == "ro" || parts[2] == "rw");
    if ((parts.size() != 2 && !flagged) || !absl::StartsWith(parts[0], "/") ||
        !absl::StartsWith(parts[1], "/")) {
      return file.ErrorAt(kMounts, "each is \"/SRC:/DST\" or \"/SRC:/DST:ro\"");
    }
    containers.mounts.push_back({parts[0], parts[1], flagged && parts[2] == "ro"});
  }
  return absl::OkStatus();
}

// [staging]: cache, size, ahead.
absl::Status ReadStaging(ConfigFile& file, StagingSettings& staging, CopiesAhead& ahead) {
  constexpr const char* kCache = "staging.cache";
  constexpr const char* kAhead = "staging.ahead";
  std::string which;
  RETURN_IF_ERROR(file.ReadString(kAhead, &which));
  if (which == "none" || which == "paths" || which == "all") {
    ahead = which == "none"  ? CopiesAhead::kNone
            : which == "all" ? CopiesAhead::kAll
                             : CopiesAhead::kPaths;
  } else if (!which.empty()) {
    return file.ErrorAt(kAhead, "expected \"none\", \"paths\" or \"all\"");
  }
  RETURN_IF_ERROR(file.ReadString(kCache, &staging.cache));
  if (!staging.cache.empty() && staging.cache.front() != '/') {
    return file.ErrorAt(kCache, "give an absolute path");
  }
  return file.ReadSize("staging.size", &staging.size);
}

bool IsNic(const std::string& name) {
  return name.find('/') == std::string::npos &&
         (access(absl::StrCat("/sys/class/net/", name).c_str(), F_OK) == 0 ||
          access(absl::StrCat("/sys/class/infiniband/", name).c_str(), F_OK) == 0);
}

// [network.class.NAME]: nics, dscp, rate.
absl::Status ReadNetworkClasses(ConfigFile& file, NetworkClasses& classes) {
  constexpr const char* kTable = "network.class";
  for (const std::string& name : file.KeysUnder(kTable)) {
    const std::string key = absl::StrCat(kTable, ".", name);
    if (std::find(kTrafficClasses.begin(), kTrafficClasses.end(), name) == kTrafficClasses.end()) {
      return file.ErrorAt(key, absl::StrCat("is no class of traffic: use one of ",
                                            absl::StrJoin(kTrafficClasses, ", ")));
    }
    NetworkClass one;
    one.name = name;
    RETURN_IF_ERROR(file.ReadStrings(key + ".nics", &one.nics));
    const auto unknown = std::find_if_not(one.nics.begin(), one.nics.end(), IsNic);
    if (unknown != one.nics.end()) {
      return file.ErrorAt(key + ".nics",
                          absl::StrCat("this machine has no NIC ", Quote(*unknown),
                                       ": see /sys/class/net and /sys/class/infiniband"));
    }
    std::int64_t dscp = 0;
    RETURN_IF_ERROR(file.ReadInteger(key + ".dscp", {0, kDscpMost}, &dscp));
    one.dscp = static_cast<std::uint32_t>(dscp);
    RETURN_IF_ERROR(file.ReadSize(key + ".rate", &one.rate));
    if (one.rate > 0 && name == kCollectives) {
      return file.ErrorAt(key + ".rate", "what ranks exchange is not paced; leave it out");
    }
    classes.push_back(std::move(one));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadAgentFile(const std::string& path, AgentOptions& options) {
  RETURN_IF_ERROR(CheckTrustedPath(path));
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(path));
  std::int64_t weight = options.weight;
  auto pids = static_cast<std::int64_t>(options.pids);
  std::int64_t memory_high = options.memory_high;
  RETURN_IF_ERROR(file.ReadString("state", &options.state));
  RETURN_IF_ERROR(file.ReadText("controller", &options.controller));
  RETURN_IF_ERROR(file.ReadString("name", &options.name));
  RETURN_IF_ERROR(file.ReadStrings("features", &options.features));
  std::string gres;
  RETURN_IF_ERROR(file.ReadString("gres", &gres));
  absl::StatusOr<GresList> countable = ReadGres(gres);
  if (!countable.ok()) {
    return file.ErrorAt("gres", std::string(countable.status().message()));
  }
  options.gres = *std::move(countable);
  RETURN_IF_ERROR(file.ReadInteger("weight", {0, UINT32_MAX}, &weight));
  RETURN_IF_ERROR(file.ReadString("cgroup_root", &options.cgroup_root));
  RETURN_IF_ERROR(file.ReadInteger("pids_max", {0, INT64_MAX}, &pids));
  RETURN_IF_ERROR(file.ReadInteger("memory_high", {0, 100}, &memory_high));
  std::int64_t min_uid = options.min_uid;
  RETURN_IF_ERROR(file.ReadInteger("min_uid", {0, UINT32_MAX}, &min_uid));
  RETURN_IF_ERROR(file.ReadString("keys", &options.keys));
  RETURN_IF_ERROR(file.ReadString("tls.certificate", &options.tls.certificate));
  RETURN_IF_ERROR(file.ReadString("tls.key", &options.tls.key));
  RETURN_IF_ERROR(file.ReadString("tls.authority", &options.tls.authority));
  RETURN_IF_ERROR(file.ReadBool("private_tmp", &options.private_tmp));
  RETURN_IF_ERROR(file.ReadBool("mps", &options.mps));
  RETURN_IF_ERROR(ReadPamService(file, options.pam_service));
  RETURN_IF_ERROR(ReadContainers(file, options.containers));
  RETURN_IF_ERROR(ReadStaging(file, options.staging, options.ahead));
  RETURN_IF_ERROR(ReadNetworkClasses(file, options.network));
  RETURN_IF_ERROR(file.ReadDuration("sample_interval", &options.sample_interval));
  if (options.sample_interval < kSampleLeast || options.sample_interval > kSampleMost) {
    return file.ErrorAt("sample_interval", "expected from \"5s\" to \"30s\"");
  }
  RETURN_IF_ERROR(file.ReadString("gpu_jobs", &options.gpu_jobs));
  if (!options.gpu_jobs.empty()) {
    RETURN_IF_ERROR(CheckTrustedPath(options.gpu_jobs));
  }
  RETURN_IF_ERROR(file.ReadString("reboot", &options.reboot));
  if (!options.reboot.empty()) {
    RETURN_IF_ERROR(CheckTrustedPath(options.reboot));
    if (options.reboot.front() != '/' || access(options.reboot.c_str(), X_OK) != 0) {
      return file.ErrorAt("reboot", absl::StrCat(options.reboot, " is no program's whole path"));
    }
  }
  RETURN_IF_ERROR(ReadScript(file, "prolog", options.scripts.prolog));
  RETURN_IF_ERROR(ReadScript(file, "epilog", options.scripts.epilog));
  RETURN_IF_ERROR(ReadScript(file, "step_prolog", options.scripts.step_prolog));
  RETURN_IF_ERROR(ReadScript(file, "step_epilog", options.scripts.step_epilog));
  options.min_uid = static_cast<std::uint32_t>(min_uid);
  options.weight = static_cast<std::uint32_t>(weight);
  options.pids = static_cast<std::uint64_t>(pids);
  options.memory_high = static_cast<std::uint32_t>(memory_high);
  return file.RefuseUnknownKeys();
}

namespace {

// What the command line has as text until it is checked.
struct Texts {
  std::string slice;
  std::string features;
  std::string gres;
};

void AddPlace(CLI::App& app, AgentOptions& options) {
  app.add_option("--config", options.file,
                 "settings, TOML: the options' names with underscores, [tls], [prolog], [epilog], "
                 "[step_prolog], [step_epilog], [containers], [network.class.NAME], reboot, "
                 "sample_interval, "
                 "gpu_jobs, mps, pam_service; SIGHUP reads "
                 "features, weight and "
                 "the scripts again");
  app.add_option("--state", options.state, "directory for what the agent keeps");
  app.add_option(
      "--controller", options.controller,
      "HOST:PORT, with keys; or unix:PATH of a controller of this user's own; of several "
      "controllers all, by commas");
  app.add_option("--name", options.name, "the node's name (default: this host's)");
  app.add_option("--keys", options.keys,
                 "what muster keys agent made: agent.pem, agent.key and ca.pem");
  app.add_option("--tls-cert", options.tls.certificate, "our certificate (PEM)");
  app.add_option("--tls-key", options.tls.key, "its key (PEM)");
  app.add_option("--tls-ca", options.tls.authority,
                 "the authority that signs the controller's (PEM)");
}

void AddNode(CLI::App& app, AgentOptions& options, Texts& texts) {
  app.add_option("--slice", texts.slice, "I/N: be part I (from 0) of N of the machine");
  app.add_option("--topology", options.topology,
                 "play another machine: an hwloc XML file or a synthetic description");
  app.add_option("--features", texts.features, "what jobs may ask for by --constraint: a,b,…");
  app.add_option("--gres", texts.gres,
                 "countable things that jobs may ask for by --gres: NAME:COUNT,…, at most 4");
  app.add_option("--weight", options.weight,
                 "nodes of a lower weight are taken first (default: 0)");
  app.add_option("--cgroup-root", options.cgroup_root,
                 "where jobs' control groups are made: a cgroup v2 directory, or a group's path "
                 "below the mount, such as muster.slice/muster-jobs.service (default: our own)");
  app.add_option("--pids-max", options.pids,
                 "how many processes and threads a job may have here; 0: any (default: 16384)");
  app.add_option("--memory-high", options.memory_high,
                 "slow a job that uses this per cent of its memory; 0: never (default)")
      ->check(CLI::Range(0, 100));
  app.add_option("--min-uid", options.min_uid,
                 "with keys: run no jobs of users below, and never root's (default: 1000)");
  app.add_flag(
      "--private-tmp", options.private_tmp,
      "give each job a /tmp and a /dev/shm of its own, which go with it (root's agent only)");
  app.add_option("--ready-fd", options.ready_fd, "write \"ready\" here once registered");
  app.add_option("--supervisor", options.supervisor, "the supervisor's program");
  app.add_option("--kernels", options.kernels, "the directory of the bundled kernels");
  app.add_option("--module-dir", options.module_dir, "where libmuster-pmix.so is");
}

// What needs nobody to say it.
AgentOptions Defaults() {
  AgentOptions options;
  options.hostname = HostName();
  options.name = options.hostname;
  options.pids = kPidsDefault;
  options.min_uid = kMinUidDefault;
  options.containers.runtime = "crun";
  options.containers.cache_size = kCacheDefault;
  options.staging.size = kCacheDefault;
  // Without root all jobs here are of one user, who is in no need of a job to run programs.
  options.ahead = geteuid() == 0 ? CopiesAhead::kPaths : CopiesAhead::kAll;
  const std::filesystem::path binaries = BinaryDirectory();
  options.supervisor = (binaries / "muster-supervisor").string();
  options.module_dir = DefaultModuleDirectory(binaries);
  options.kernels = (binaries.parent_path() / "libexec/muster/kernels").string();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!ServiceManager::IsOurs(*entry)) {
      options.environment.emplace_back(*entry);
    }
  }
  if (Journald::OfStandardError().has_value()) {
    options.environment.push_back(absl::StrCat(kJournaldVariable, "=1"));
  }
  return options;
}

// Empty, or what is wrong with the option.
std::string Refusal(const char* option, const absl::Status& status) {
  return status.ok() ? "" : absl::StrCat(option, ": ", std::string(status.message()));
}

// Empty, or what is wrong.
std::string Check(const Texts& texts, AgentOptions& options) {
  if (options.state.empty()) {
    return "--state is required: the directory for what the agent keeps";
  }
  if (options.controller.empty()) {
    return "--controller is required: unix:PATH or HOST:PORT";
  }
  std::string wrong = CheckName(options.name);
  if (wrong.empty() && !texts.slice.empty() &&
      !ParseSlice(texts.slice, &options.slice, &options.slices)) {
    wrong = "--slice " + texts.slice + ": expected I/N with I from 0 to N-1";
  }
  if (!texts.features.empty()) {
    options.features = absl::StrSplit(texts.features, ',');
  }
  if (wrong.empty()) {
    wrong = CheckFeatures(options.features);
  }
  if (wrong.empty() && !texts.gres.empty()) {
    absl::StatusOr<GresList> gres = ReadGres(texts.gres);
    wrong = Refusal("--gres", gres.status());
    options.gres = gres.ok() ? *std::move(gres) : GresList();
  }
  TakeKeys(options.keys, &options.tls);
  if (wrong.empty()) {
    wrong = std::string(
        CheckControllerAddress(options.controller, options.tls, options.name).message());
  }
  if (wrong.empty() && options.private_tmp) {
    wrong = Refusal("--private-tmp", MayHavePrivateTmp(options.state));
  }
  if (wrong.empty() && absl::StartsWith(options.cgroup_root, "/")) {
    wrong = Refusal("--cgroup-root", CheckCgroupRoot(options.cgroup_root));
  }
  return wrong;
}

}  // namespace

ParsedOptions ParseAgentOptions(int argc, const char* const* argv) {
  ParsedOptions parsed;
  parsed.options = Defaults();
  Texts texts;
  CLI::App app("Muster's agent: runs jobs on one node for a controller", "muster-agent");
  AddPlace(app, parsed.options);
  AddNode(app, parsed.options, texts);
  std::string wrong;
  try {
    app.parse(argc, argv);
    if (!parsed.options.file.empty()) {
      const std::string file = parsed.options.file;
      parsed.options = Defaults();
      wrong = std::string(ReadAgentFile(file, parsed.options).message());
      app.parse(argc, argv);  // goes before what the file says
    }
  } catch (const CLI::ParseError& error) {
    parsed.exit_code = app.exit(error) == 0 ? 0 : 2;
    return parsed;
  }
  if (wrong.empty()) {
    wrong = Check(texts, parsed.options);
  }
  if (!wrong.empty()) {
    std::fprintf(stderr, "muster-agent: %s\n", wrong.c_str());
    parsed.exit_code = 2;
  }
  return parsed;
}

}  // namespace muster::agent
