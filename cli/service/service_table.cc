#include "cli/service/service_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/frame/json_output.h"
#include "cli/page/table.h"

namespace muster::cli {
namespace {

std::map<std::string, std::vector<ServiceReplica>> ByName(
    const std::vector<ServiceReplica>& replicas) {
  std::map<std::string, std::vector<ServiceReplica>> services;
  for (const ServiceReplica& replica : replicas) {
    services[replica.service].push_back(replica);
  }
  return services;
}

std::size_t ReadyOf(const std::vector<ServiceReplica>& replicas) {
  return static_cast<std::size_t>(
      std::count_if(replicas.begin(), replicas.end(),
                    [](const ServiceReplica& replica) { return replica.ready(); }));
}

// What it says of itself; before that, what its job is.
std::string StateOf(const ServiceReplica& replica) {
  return replica.note.state.empty() ? replica.job_state : replica.note.state;
}

std::string PortsText(const ServiceReplica& replica) {
  return absl::StrJoin(replica.note.ports, " ", [](std::string* text, const ServicePort& port) {
    absl::StrAppend(text, port.name, "=", port.port);
  });
}

Json ReplicaJson(const ServiceReplica& replica) {
  Json ports = Json::object();
  for (const ServicePort& port : replica.note.ports) {
    ports[port.name] = port.port;
  }
  return {{"job", replica.label},
          {"id", replica.id.value()},
          {"state", StateOf(replica)},
          {"job_state", replica.job_state},
          {"nodes", replica.nodes},
          {"host", replica.note.host.empty() ? Json(nullptr) : Json(replica.note.host)},
          {"ports", std::move(ports)},
          {"starts", replica.note.starts},
          {"reason", replica.reason}};
}

}  // namespace

std::string PrintServices(const std::vector<ServiceReplica>& replicas, const Style& style) {
  Table table({{"SERVICE"}, {"REPLICAS", true}, {"READY", true}, {"JOBS"}});
  for (const auto& [name, own] : ByName(replicas)) {
    table.Add({{name},
               {absl::StrCat(own.size())},
               {absl::StrCat(ReadyOf(own))},
               {absl::StrJoin(own, " ", [](std::string* text, const ServiceReplica& replica) {
                 absl::StrAppend(text, replica.label);
               })}});
  }
  return table.Print(style);
}

std::string PrintReplicas(const std::vector<ServiceReplica>& replicas, const Style& style) {
  Table table({{"JOB"}, {"STATE"}, {"NODE"}, {"HOST"}, {"PORTS"}, {"STARTS", true}, {"REASON"}});
  for (const ServiceReplica& replica : replicas) {
    table.Add({{replica.label},
               {StateOf(replica)},
               {absl::StrJoin(replica.nodes, ",")},
               {replica.note.host},
               {PortsText(replica)},
               {absl::StrCat(replica.note.starts)},
               {replica.reason}});
  }
  return table.Print(style);
}

std::string ServicesDocument(const std::vector<ServiceReplica>& replicas) {
  Json services = Json::array();
  for (const auto& [name, own] : ByName(replicas)) {
    Json jobs = Json::array();
    for (const ServiceReplica& replica : own) {
      jobs.push_back(ReplicaJson(replica));
    }
    services.push_back({{"name", name},
                        {"replicas", own.size()},
                        {"ready", ReadyOf(own)},
                        {"jobs", std::move(jobs)}});
  }
  return PrintJson({{"services", std::move(services)}});
}

}  // namespace muster::cli
