#include "cli/service/endpoint_text.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/frame/json_output.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  std::string job;
  friend auto operator<=>(const Endpoint&, const Endpoint&) = default;
};

std::string HostPort(const Endpoint& endpoint) {
  const bool v6 = endpoint.host.find(':') != std::string::npos;
  return absl::StrCat(v6 ? "[" : "", endpoint.host, v6 ? "]" : "", ":", endpoint.port);
}

absl::StatusOr<std::vector<Endpoint>> EndpointsOf(const std::string& service,
                                                  const std::vector<ServiceReplica>& replicas,
                                                  const std::string& port) {
  std::vector<Endpoint> endpoints;
  for (const ServiceReplica& replica : replicas) {
    const std::vector<ServicePort>& ports = replica.note.ports;
    if (!replica.ready() || ports.empty()) {
      continue;
    }
    const auto found = std::find_if(ports.begin(), ports.end(), [&port](const ServicePort& each) {
      return port.empty() || each.name == port;
    });
    if (found == ports.end()) {
      return absl::NotFoundError(
          absl::StrCat("service ", service, " has no port ", Quote(port), "; it has ",
                       absl::StrJoin(ports, ", ", [](std::string* text, const ServicePort& each) {
                         absl::StrAppend(text, each.name);
                       })));
    }
    endpoints.push_back({replica.note.host, found->port, replica.label});
  }
  std::sort(endpoints.begin(), endpoints.end());
  return endpoints;
}

std::string NginxText(const std::string& service, const std::vector<Endpoint>& endpoints) {
  std::string text = absl::StrCat("upstream ", service, " {\n");
  for (const Endpoint& endpoint : endpoints) {
    absl::StrAppend(&text, "  server ", HostPort(endpoint), ";\n");
  }
  if (endpoints.empty()) {
    text += "  server 127.0.0.1:1 down;  # no replica is ready\n";
  }
  return text + "}\n";
}

std::string CaddyText(const std::vector<Endpoint>& endpoints) {
  std::string text = endpoints.empty() ? "# no replica is ready" : "to";
  for (const Endpoint& endpoint : endpoints) {
    absl::StrAppend(&text, " ", HostPort(endpoint));
  }
  return text + "\n";
}

std::string JsonText(const std::string& service, const std::vector<Endpoint>& endpoints) {
  Json list = Json::array();
  for (const Endpoint& endpoint : endpoints) {
    list.push_back({{"host", endpoint.host}, {"port", endpoint.port}, {"job", endpoint.job}});
  }
  return PrintJson({{"service", service}, {"endpoints", std::move(list)}});
}

}  // namespace

absl::StatusOr<EndpointFormat> ParseEndpointFormat(const std::string& word) {
  static const std::vector<std::pair<std::string, EndpointFormat>> kFormats = {
      {"lines", EndpointFormat::kLines},
      {"nginx", EndpointFormat::kNginx},
      {"caddy", EndpointFormat::kCaddy},
      {"json", EndpointFormat::kJson}};
  for (const auto& [name, format] : kFormats) {
    if (name == word) {
      return format;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--format: ", Quote(word), " is none of lines, nginx, caddy and json"));
}

absl::StatusOr<std::string> EndpointText(const std::string& service,
                                         const std::vector<ServiceReplica>& replicas,
                                         const std::string& port, EndpointFormat format) {
  ASSIGN_OR_RETURN(const std::vector<Endpoint> endpoints, EndpointsOf(service, replicas, port));
  switch (format) {
    case EndpointFormat::kNginx:
      return NginxText(service, endpoints);
    case EndpointFormat::kCaddy:
      return CaddyText(endpoints);
    case EndpointFormat::kJson:
      return JsonText(service, endpoints);
    case EndpointFormat::kLines:
      break;
  }
  std::string text;
  for (const Endpoint& endpoint : endpoints) {
    absl::StrAppend(&text, HostPort(endpoint), "\n");
  }
  return text;
}

}  // namespace muster::cli
