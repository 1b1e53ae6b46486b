#pragma once

// musterd's settings: from the command line and, where given, a TOML file.
//
// Invariants: what ParseConfig returns is complete and has been checked.

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/access/rights/access_rules.h"
#include "daemon/access/site/site_tokens.h"
#include "daemon/access/user_budget.h"
#include "daemon/serve/housekeeping.h"
#include "daemon/serve/idle_rules.h"
#include "daemon/serve/server.h"
#include "scheduler/model/settings/prices.h"
#include "scheduler/model/settings/scheduler_config.h"
#include "scheduler/settings/alerts/alert_rules.h"
#include "scheduler/settings/settings_file.h"

namespace muster::daemon {

struct DaemonConfig {
  std::string state_dir;
  std::vector<std::string> listen;  // empty: passed sockets, or the state directory's
  std::string cluster = "muster";
  std::string store;  // "postgresql://…" of a store that several controllers share; empty: a file
  std::string name;   // ours among the cluster's controllers
  std::chrono::milliseconds lease{2000};  // how long the lead lasts without word of its holder
  TlsFiles tls;
  std::string keys;          // directory of the files that `tls` does not name
  std::string munge_socket;  // empty: where libmunge looks
  std::optional<std::uint32_t> min_uid;
  std::string gateway;        // "unix:PATH" of the socket on which tokens alone count; empty: none
  BudgetLimits budget;        // of each user's calls
  bool keep_scripts = false;  // once their jobs have ended
  Retention retention;
  IdleRules idle;
  AlertSettings alerts = DefaultAlertSettings();
  Prices prices;
  AccessSettings access;
  SiteIssuer site;      // of tokens
  std::string network;  // --network: goes before the one that the file names
  SchedulerConfig policy = DefaultSettings();
  std::string file;  // where these settings are from; empty: the command line alone
  int ready_fd = -1;
  bool restored = false;  // an old copy of the state was put in place: take it over, and end
  bool help = false;
  std::string help_text;

  // Jobs of users below are not taken; 0: any user's. A controller with keys serves others, too,
  // and no agent with keys runs a job of root's.
  [[nodiscard]] std::uint32_t least_uid() const {
    return tls.given() ? std::max(min_uid.value_or(kMinUidDefault), 1U) : 0;
  }
  // Of jobs that have ended.
  [[nodiscard]] Scripts scripts() const { return keep_scripts ? Scripts::kKept : Scripts::kErased; }
  static constexpr std::uint32_t kMinUidDefault = 1000;  // the first ordinary user of most systems
};

// From argv. InvalidArgument is one line for the user.
absl::StatusOr<DaemonConfig> ParseConfig(int argc, const char* const* argv);

// Where to listen besides on sockets that a service manager passes: where the settings say, or,
// when nothing is passed either, the socket in the state directory.
std::vector<std::string> AddressesOf(const DaemonConfig& config, bool passed);

// Reads a file into the config; errors carry file and line. Of its policy (scheduler/settings) only
// each key is looked at here: its effect depends on the state.
absl::Status ReadConfigFile(const std::string& path, DaemonConfig& config);

// Reads the network that --network names, if it names one, into the policy.
absl::Status ReadNetworkOption(DaemonConfig& config);

}  // namespace muster::daemon
