#include "daemon/config.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/policy_file.h"
#include "daemon/priority_file.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/config_file.h"

namespace muster {
namespace {

constexpr const char* kFooter =
    "The controller: keeps the jobs, decides what starts where, tells the agents.\n"
    "Most people start it with `muster up`.\n\n"
    "Examples:\n"
    "  musterd --state /var/lib/muster\n"
    "  musterd --state ~/.local/state/muster --listen 127.0.0.1:7117\n";

// [licenses] NAME = COUNT.
absl::Status ReadLicenses(ConfigFile& file, std::vector<LicenseCount>& licenses) {
  constexpr std::int64_t kLicensesMax = 1'000'000'000;
  licenses.clear();
  for (const std::string& name : file.KeysUnder("licenses")) {
    const std::string key = absl::StrCat("licenses.", name);
    const bool fits =
        !name.empty() && name.size() <= 64 && name.find_first_of(".:,*@ \t") == std::string::npos;
    if (!fits) {
      return file.ErrorAt(key,
                          "a licence's name has 1 to 64 characters, none of . : , * @ or blank");
    }
    std::int64_t count = 0;
    RETURN_IF_ERROR(file.ReadInteger(key, {1, kLicensesMax}, &count));
    licenses.push_back({name, static_cast<std::uint64_t>(count)});
  }
  return absl::OkStatus();
}

void AddOptions(CLI::App& app, DaemonConfig& config, std::string& file) {
  app.footer(kFooter);
  app.add_option("--state", config.state_dir, "state directory; made with mode 0700")->required();
  app.add_option("--listen", config.listen,
                 "unix:PATH or HOST:PORT, may be repeated (default: controller.sock in the state "
                 "directory); addresses beyond loopback need keys");
  app.add_option("--cluster", config.cluster, "the cluster's name")->capture_default_str();
  app.add_option("--config", file,
                 "settings, TOML: [policy], [priority], [licenses], [partition.NAME], [qos.NAME], "
                 "[account.NAME], …; "
                 "SIGHUP reads it again");
  app.add_option("--tls-cert", config.tls.certificate, "our certificate, PEM");
  app.add_option("--tls-key", config.tls.key, "its key, PEM, mode 0600");
  app.add_option("--tls-ca", config.tls.authority,
                 "who signs agents' and clients' certificates, PEM");
  app.add_option("--ready-fd", config.ready_fd, "write \"ready\" here once serving");
}

}  // namespace

absl::StatusOr<DaemonConfig> ParseConfig(int argc, const char* const* argv) {
  DaemonConfig config;
  config.policy.operator_uid = geteuid();
  CLI::App app("musterd");
  AddOptions(app, config, config.file);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    config.help = true;
    config.help_text = app.help();
    return config;
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(absl::StrCat(error.what(), "; see musterd --help"));
  }
  if (!config.file.empty()) {
    RETURN_IF_ERROR(ReadConfigFile(config.file, config));
  }
  if (config.listen.empty()) {
    config.listen.push_back(absl::StrCat("unix:", config.state_dir, "/controller.sock"));
  }
  return config;
}

namespace {

// [policy] backfill = "none" | "easy" | "conservative" | "hybrid", reservations = N.
absl::Status ReadBackfill(ConfigFile& file, PolicyConfig& policy) {
  std::string name = Name(policy.backfill);
  RETURN_IF_ERROR(file.ReadString("policy.backfill", &name));
  const std::optional<Backfill> backfill = BackfillNamed(name);
  if (!backfill.has_value()) {
    return file.ErrorAt("policy.backfill",
                        absl::StrCat("\"", name, "\" is not none, easy, conservative or hybrid"));
  }
  policy.backfill = *backfill;
  std::int64_t reservations = policy.reservations;
  RETURN_IF_ERROR(file.ReadInteger("policy.reservations", {0, 100'000}, &reservations));
  policy.reservations = static_cast<std::uint32_t>(reservations);
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadConfigFile(const std::string& path, DaemonConfig& config) {
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(path));
  RETURN_IF_ERROR(file.ReadString("cluster", &config.cluster));
  PolicyConfig& policy = config.policy;
  RETURN_IF_ERROR(file.ReadDuration("policy.default_time_limit", &policy.default_time_limit));
  RETURN_IF_ERROR(file.ReadDuration("policy.kill_grace", &policy.kill_grace));
  auto elements = static_cast<std::int64_t>(policy.array_elements_max);
  RETURN_IF_ERROR(file.ReadInteger("policy.array_elements_max", {1, 1'000'000}, &elements));
  policy.array_elements_max = static_cast<std::uint64_t>(elements);
  RETURN_IF_ERROR(ReadBackfill(file, policy));
  auto requeues = static_cast<std::int64_t>(policy.requeues_max);
  RETURN_IF_ERROR(file.ReadInteger("policy.requeues_max", {0, 1'000'000}, &requeues));
  policy.requeues_max = static_cast<std::uint32_t>(requeues);
  RETURN_IF_ERROR(ReadLicenses(file, policy.licenses));
  RETURN_IF_ERROR(ReadPriority(file, policy.priority));
  RETURN_IF_ERROR(ReadPolicy(file).status());
  return file.RefuseUnknownKeys();
}

}  // namespace muster
