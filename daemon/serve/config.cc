#include "daemon/serve/config.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "daemon/controller/network_map.h"
#include "daemon/power/power_user.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/runtime/identity/trusted_path.h"
#include "scheduler/settings/policy_tables.h"
#include "scheduler/settings/price_file.h"
#include "scheduler/settings/settings_file.h"

namespace muster::daemon {
namespace {

constexpr std::chrono::milliseconds kLeaseLeast{500};
constexpr Duration kJournalLeast = std::chrono::seconds(10);
constexpr std::chrono::minutes kLeaseMost{5};
constexpr std::size_t kNameBytesMax = 64;

constexpr const char* kFooter =
    "The controller: keeps the jobs, decides what starts where, sends orders to the agents.\n"
    "Most people start it with `muster up`.\n\n"
    "Examples:\n"
    "  musterd --state /var/lib/muster\n"
    "  musterd --state /var/lib/muster --listen 0.0.0.0:7117 --keys /var/lib/muster/keys\n";

// --keys DIR stands for the files in it that are not named themselves.
void TakeKeys(const std::string& keys, TlsFiles& tls) {
  const auto take = [&keys](const char* name, std::string& path) {
    path = path.empty() && !keys.empty() ? absl::StrCat(keys, "/", name) : path;
  };
  take("controller.pem", tls.certificate);
  take("controller.key", tls.key);
  take("ca.pem", tls.authority);
  take("revoked", tls.revoked);
}

void AddOptions(CLI::App& app, DaemonConfig& config, std::string& file) {
  app.footer(kFooter);
  app.add_option("--state", config.state_dir, "state directory; made with mode 0700")->required();
  app.add_option(
      "--listen", config.listen,
      "unix:PATH or HOST:PORT, may be repeated (default: the sockets that systemd passes, "
      "or controller.sock in the state directory); HOST:PORT needs keys");
  app.add_option("--store", config.store,
                 "postgresql://HOST/DATABASE: a store that several controllers share, of which one "
                 "leads (default: a file in the state directory); no password in it");
  app.add_option("--name", config.name,
                 "this controller's name among those of the store (default: this machine's)");
  app.add_option("--cluster", config.cluster, "the cluster's name")->capture_default_str();
  app.add_option(
      "--config", file,
      "settings, TOML: network, [policy], [priority], [health], [checkpoint], [elastic], "
      "[licenses], [partition.NAME], [qos.NAME], [account.NAME], …; SIGHUP reads it again");
  app.add_option("--network", config.network,
                 "the switches between the nodes: Slurm's topology.conf or topology.yaml, or TOML; "
                 "SIGHUP reads it again");
  app.add_option("--keys", config.keys,
                 "the directory of muster keys: our key, the authority to trust, revoked keys");
  app.add_option("--tls-cert", config.tls.certificate, "our certificate, PEM");
  app.add_option("--tls-key", config.tls.key, "its key, PEM, mode 0600");
  app.add_option("--tls-ca", config.tls.authority,
                 "the authority that signs agents' and clients' certificates, PEM");
  app.add_option("--tls-revoked", config.tls.revoked, "serials of certificates that count no more");
  app.add_option("--munge-socket", config.munge_socket,
                 "munged's socket (default: libmunge's), to identify users over TLS");
  app.add_option("--gateway-socket", config.gateway,
                 "also listen on unix:PATH, where nothing but tokens counts (for muster-gateway)");
  app.add_flag(
      "--keep-scripts", config.keep_scripts,
      "keep scripts of jobs that have ended, unless --config says [retention] keep_script");
  app.add_option("--min-uid", config.min_uid,
                 "with keys: no jobs of users below, and never root's (default: 1000)");
  app.add_flag("--restored", config.restored,
               "an old copy of the state was put in place: see to it that nothing is given out or "
               "started twice, hold all jobs, and end");
  app.add_option("--ready-fd", config.ready_fd, "write \"ready\" here once serving");
}

absl::Status CheckStoreUrl(const std::string& store) {
  if (store.rfind("postgresql://", 0) != 0 && store.rfind("postgres://", 0) != 0) {
    return absl::InvalidArgumentError(
        "expected postgresql://HOST/DATABASE; without store, it is a file in the state directory");
  }
  return absl::OkStatus();
}

absl::Status CheckStore(DaemonConfig& config) {
  if (!config.store.empty()) {
    const absl::Status url = CheckStoreUrl(config.store);
    if (!url.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("--store: ", std::string(url.message())));
    }
  }
  if (config.name.empty()) {
    std::array<char, kNameBytesMax + 1> host = {};
    gethostname(host.data(), host.size() - 1);
    config.name = host.data();
  }
  const bool plain = std::all_of(config.name.begin(), config.name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  });
  return plain && config.name.size() <= kNameBytesMax
             ? absl::OkStatus()
             : absl::InvalidArgumentError(
                   "--name: letters, digits, '-', '_' and '.', at most 64 of them");
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
  TakeKeys(config.keys, config.tls);
  RETURN_IF_ERROR(ReadNetworkOption(config));
  RETURN_IF_ERROR(CheckStore(config));
  return config;
}

namespace {

// network = "FILE", beside the configuration unless it says where.
absl::Status ReadNetworkKey(const std::string& path, ConfigFile& file, DaemonConfig& config) {
  std::string name;
  RETURN_IF_ERROR(file.ReadString("network", &name));
  if (name.empty() || !config.network.empty()) {
    return absl::OkStatus();
  }
  const std::filesystem::path beside = std::filesystem::path(path).parent_path() / name;
  absl::StatusOr<std::shared_ptr<const Network>> network = ReadNetworkMap(beside.string());
  if (!network.ok()) {
    return file.ErrorAt("network", std::string(network.status().message()));
  }
  config.policy.network = *std::move(network);
  return absl::OkStatus();
}

// [limits] calls_per_second = 1000, program_bytes_per_second = "1M" …: of each user; 0: no bound.
absl::Status ReadBudget(ConfigFile& file, BudgetLimits& budget) {
  const auto read = [&file](const char* key, std::uint32_t* value) -> absl::Status {
    std::int64_t number = *value;
    RETURN_IF_ERROR(file.ReadInteger(key, {0, UINT32_MAX}, &number));
    *value = static_cast<std::uint32_t>(number);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(read("limits.calls_per_second", &budget.calls_per_second));
  RETURN_IF_ERROR(read("limits.calls_burst", &budget.calls_burst));
  std::uint64_t rate = budget.program_bytes_per_second.value();
  std::uint64_t burst = budget.program_bytes_burst.value();
  RETURN_IF_ERROR(file.ReadSize("limits.program_bytes_per_second", &rate));
  RETURN_IF_ERROR(file.ReadSize("limits.program_bytes_burst", &burst));
  budget.program_bytes_per_second = Bytes(rate);
  budget.program_bytes_burst = Bytes(burst);
  return absl::OkStatus();
}

// [retention] keep_script, journal = "90d", archive = DIR, jobs = "365d", jobs_most = N.
absl::Status ReadRetention(ConfigFile& file, DaemonConfig& config) {
  Retention& retention = config.retention;
  std::int64_t most = 0;
  RETURN_IF_ERROR(file.ReadBool("retention.keep_script", &config.keep_scripts));
  RETURN_IF_ERROR(file.ReadDuration("retention.journal", &retention.journal));
  RETURN_IF_ERROR(file.ReadString("retention.archive", &retention.archive));
  RETURN_IF_ERROR(file.ReadDuration("retention.jobs", &retention.jobs.age));
  RETURN_IF_ERROR(file.ReadInteger("retention.jobs_most", {0, INT64_MAX}, &most));
  retention.jobs.most = static_cast<std::uint64_t>(most);
  const Duration least = retention.journal;
  if (least.count() != 0 && least < kJournalLeast) {
    return file.ErrorAt("retention.journal", "at least 10s; leave it out to keep all entries");
  }
  if (!retention.archive.empty() && retention.archive.front() != '/') {
    return file.ErrorAt("retention.archive", "an absolute path");
  }
  for (const char* key : {"retention.jobs", "retention.jobs_most", "retention.archive"}) {
    if (file.Has(key) && least.count() == 0) {
      return file.ErrorAt(key, "needs retention.journal: jobs go after the entries that name them");
    }
  }
  if (retention.jobs.age.count() != 0 && retention.jobs.age < least) {
    return file.ErrorAt("retention.jobs", "at least retention.journal");
  }
  return absl::OkStatus();
}

// store = "postgresql://…", name = "c1", lease = "2s"; the command line goes before.
absl::Status ReadStoreKeys(ConfigFile& file, DaemonConfig& config) {
  std::string store;
  std::string name;
  RETURN_IF_ERROR(file.ReadString("store", &store));
  RETURN_IF_ERROR(file.ReadString("name", &name));
  RETURN_IF_ERROR(file.ReadDuration("lease", &config.lease));
  if (!store.empty()) {
    const absl::Status url = CheckStoreUrl(store);
    if (!url.ok()) {
      return file.ErrorAt("store", std::string(url.message()));
    }
  }
  if (config.lease < kLeaseLeast || config.lease > kLeaseMost) {
    return file.ErrorAt("lease", "from 500ms to 5m");
  }
  config.store = config.store.empty() ? std::move(store) : config.store;
  config.name = config.name.empty() ? std::move(name) : config.name;
  return absl::OkStatus();
}

// Who may speak: listen, keys, munge_socket, gateway_socket, min_uid; the command line goes before.
absl::Status ReadDoorKeys(ConfigFile& file, DaemonConfig& config) {
  std::vector<std::string> listen;
  std::string keys;
  std::string munge_socket;
  std::string gateway;
  std::int64_t min_uid = config.min_uid.value_or(DaemonConfig::kMinUidDefault);
  RETURN_IF_ERROR(file.ReadStrings("listen", &listen));
  RETURN_IF_ERROR(file.ReadString("keys", &keys));
  RETURN_IF_ERROR(file.ReadString("munge_socket", &munge_socket));
  RETURN_IF_ERROR(file.ReadString("gateway_socket", &gateway));
  const std::int64_t said = min_uid;
  RETURN_IF_ERROR(file.ReadInteger("min_uid", {0, UINT32_MAX}, &min_uid));
  config.listen = config.listen.empty() ? std::move(listen) : config.listen;
  config.keys = config.keys.empty() ? std::move(keys) : config.keys;
  config.munge_socket = config.munge_socket.empty() ? std::move(munge_socket) : config.munge_socket;
  config.gateway = config.gateway.empty() ? std::move(gateway) : config.gateway;
  if (!config.min_uid.has_value() && min_uid != said) {
    config.min_uid = static_cast<std::uint32_t>(min_uid);
  }
  return absl::OkStatus();
}

// Programs of [power] run as users whom this machine knows, and whom we can become.
absl::Status CheckPowerUsers(const ConfigFile& file, const SchedulerConfig& policy) {
  for (const PowerClass& kind : policy.power) {
    if (const auto user = FindPowerUser(kind.user); !user.ok()) {
      return file.ErrorAt(absl::StrCat("power.", kind.name, ".user"),
                          std::string(user.status().message()));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadNetworkOption(DaemonConfig& config) {
  if (config.network.empty()) {
    return absl::OkStatus();
  }
  absl::StatusOr<std::shared_ptr<const Network>> network = ReadNetworkMap(config.network);
  if (!network.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--network: ", std::string(network.status().message())));
  }
  config.policy.network = *std::move(network);
  return absl::OkStatus();
}

std::vector<std::string> AddressesOf(const DaemonConfig& config, bool passed) {
  if (!config.listen.empty() || passed) {
    return config.listen;
  }
  return {absl::StrCat("unix:", config.state_dir, "/controller.sock")};
}

absl::Status ReadConfigFile(const std::string& path, DaemonConfig& config) {
  RETURN_IF_ERROR(CheckTrustedPath(path));
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(path));
  RETURN_IF_ERROR(file.ReadString("cluster", &config.cluster));
  RETURN_IF_ERROR(ReadStoreKeys(file, config));
  RETURN_IF_ERROR(ReadDoorKeys(file, config));
  RETURN_IF_ERROR(ReadBudget(file, config.budget));
  RETURN_IF_ERROR(ReadRetention(file, config));
  RETURN_IF_ERROR(ReadIdleRules(file, config.idle));
  RETURN_IF_ERROR(ReadAlertSettings(file, &config.alerts));
  RETURN_IF_ERROR(ReadPrices(file, config.prices));
  RETURN_IF_ERROR(ReadAccess(file, config.access));
  RETURN_IF_ERROR(ReadSiteIssuer(file, config.site));
  RETURN_IF_ERROR(ReadNetworkKey(path, file, config));
  RETURN_IF_ERROR(ReadSettings(file, config.policy));
  RETURN_IF_ERROR(CheckPowerUsers(file, config.policy));
  RETURN_IF_ERROR(ReadPolicy(file).status());
  return file.RefuseUnknownKeys();
}

}  // namespace muster::daemon
