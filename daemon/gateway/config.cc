#include "daemon/gateway/config.h"

#include <CLI/CLI.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/config_file.h"
#include "scheduler/runtime/identity/trusted_path.h"

namespace muster::daemon {
namespace {

constexpr const char* kFooter =
    "The HTTP door: REST, metrics and the page. It has no rights of its own: each request's token\n"
    "goes to the controller, which judges it. Most people start it with `muster up --web`.\n\n"
    "Examples:\n"
    "  muster-gateway --controller unix:/run/muster/gateway.sock\n"
    "  muster-gateway --controller head:7117 --ca /etc/muster/ca.pem --listen 0.0.0.0:7118 \\\n"
    "    --tls-cert /etc/muster/web.pem --tls-key /etc/muster/web.key\n";

void AddOptions(CLI::App& app, GatewayConfig& config, std::string& file) {
  app.footer(kFooter);
  app.add_option("--listen", config.listen,
                 "HOST:PORT, may be repeated (default: the sockets that systemd passes, or "
                 "127.0.0.1:7118); other machines reach it with --tls-cert alone");
  app.add_option("--controller", config.controller,
                 "the controller: unix:PATH of its --gateway-socket, or HOST:PORT with --ca; of "
                 "several all, by commas");
  app.add_option("--ca", config.authority, "the cluster's ca.pem: whom to trust at HOST:PORT");
  app.add_option("--tls-cert", config.tls_certificate, "our certificate for browsers, PEM");
  app.add_option("--tls-key", config.tls_key, "its key, PEM, mode 0600");
  app.add_option("--links", config.links, "the directory in which muster web leaves its links");
  app.add_option("--config", file,
                 "settings, TOML: listen, controller, ca, tls_cert, tls_key, links, [limits]");
  app.add_option("--ready-fd", config.ready_fd, "write \"ready\" here once serving");
  app.add_option("--listen-fd", config.listen_fd, "a socket that listens already");
  app.add_flag("--print-openapi", config.print_open_api,
               "print the description of /v1 (OpenAPI 3.1) and end");
}

absl::Status ReadLimit(ConfigFile& file, const char* key, std::int64_t least, std::int64_t most,
                       std::uint32_t* value) {
  std::int64_t number = *value;
  RETURN_IF_ERROR(file.ReadInteger(key, {least, most}, &number));
  *value = static_cast<std::uint32_t>(number);
  return absl::OkStatus();
}

// [limits] connections = 1024, connections_of_a_source, requests_per_second, requests_burst,
// body = "4M", header_time = "10s", body_time, answer_time.
absl::Status ReadLimits(ConfigFile& file, http::ServerLimits& limits) {
  http::SourceLimits& sources = limits.sources;
  RETURN_IF_ERROR(ReadLimit(file, "limits.connections", 1, 65536, &sources.connections));
  RETURN_IF_ERROR(ReadLimit(file, "limits.connections_of_a_source", 1, 65536,
                            &sources.connections_of_a_source));
  RETURN_IF_ERROR(
      ReadLimit(file, "limits.requests_per_second", 0, 1'000'000, &sources.requests_per_second));
  RETURN_IF_ERROR(ReadLimit(file, "limits.requests_burst", 1, 1'000'000, &sources.requests_burst));
  RETURN_IF_ERROR(file.ReadSize("limits.body", &limits.body_bytes));
  const auto read_time = [&file](const char* key, std::chrono::seconds* time) -> absl::Status {
    std::chrono::milliseconds read = *time;
    RETURN_IF_ERROR(file.ReadDuration(key, &read));
    if (read < std::chrono::seconds(1) || read > std::chrono::hours(1)) {
      return file.ErrorAt(key, "1s to 1h");
    }
    *time = std::chrono::duration_cast<std::chrono::seconds>(read);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(read_time("limits.header_time", &limits.header_time));
  RETURN_IF_ERROR(read_time("limits.idle_time", &limits.idle_time));
  RETURN_IF_ERROR(read_time("limits.body_time", &limits.body_time));
  RETURN_IF_ERROR(read_time("limits.answer_time", &limits.answer_time));
  return absl::OkStatus();
}

// The command line goes before.
absl::Status ReadGatewayFile(const std::string& path, GatewayConfig& config) {
  RETURN_IF_ERROR(CheckTrustedPath(path));
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Load(path));
  std::vector<std::string> listen;
  RETURN_IF_ERROR(file.ReadStrings("listen", &listen));
  config.listen = config.listen.empty() ? std::move(listen) : config.listen;
  std::string controllers;  // a list, too
  RETURN_IF_ERROR(file.ReadText("controller", &controllers));
  config.controller = config.controller.empty() ? std::move(controllers) : config.controller;
  const std::pair<const char*, std::string*> texts[] = {{"ca", &config.authority},
                                                        {"tls_cert", &config.tls_certificate},
                                                        {"tls_key", &config.tls_key},
                                                        {"links", &config.links}};
  for (const auto& [key, value] : texts) {
    std::string said;
    RETURN_IF_ERROR(file.ReadString(key, &said));
    *value = value->empty() ? std::move(said) : *value;
  }
  RETURN_IF_ERROR(ReadLimits(file, config.limits));
  return file.RefuseUnknownKeys();
}

absl::Status Check(const GatewayConfig& config) {
  if (config.controller.empty()) {
    return absl::InvalidArgumentError(
        "--controller: say where it is: unix:PATH of its --gateway-socket, or HOST:PORT with --ca");
  }
  if (config.tls_certificate.empty() != config.tls_key.empty()) {
    return absl::InvalidArgumentError("--tls-cert and --tls-key go together");
  }
  for (const std::string& address : config.listen) {
    RETURN_IF_ERROR(CheckListen(address, config.tls()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckListen(const std::string& address, bool tls) {
  if (tls || http::IsLoopback(address)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--listen ", address,
                   ": tokens would travel in clear: give --tls-cert and --tls-key, or listen on "
                   "127.0.0.1:PORT"));
}

absl::StatusOr<GatewayConfig> ParseGatewayConfig(int argc, const char* const* argv) {
  GatewayConfig config;
  std::string file;
  CLI::App app("muster-gateway");
  AddOptions(app, config, file);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    config.help = true;
    config.help_text = app.help();
    return config;
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(absl::StrCat(error.what(), "; see muster-gateway --help"));
  }
  if (config.print_open_api) {
    return config;
  }
  if (!file.empty()) {
    RETURN_IF_ERROR(ReadGatewayFile(file, config));
  }
  RETURN_IF_ERROR(Check(config));
  return config;
}

}  // namespace muster::daemon
