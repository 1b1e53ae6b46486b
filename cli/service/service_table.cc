#include "cli/service/service_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/frame/json_output.h"
#include "cli/page/table.h"
#include "cli/service/terms/service_terms.h"
#include "scheduler/model/value/time.h"

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

constexpr const char* kLost = "lost";

// What it says of itself; before that, what its job is.
std::string StateOf(const ServiceReplica& replica) {
  return replica.lost ? kLost : replica.note.state.empty() ? replica.job_state : replica.note.state;
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

Json ScaledJson(const ServiceTerms& terms) {
  if (!terms.rule.has_value()) {
    return nullptr;
  }
  const auto seconds = [](Duration time) { return static_cast<double>(time.count()) / 1'000; };
  return {{"min", terms.rule->least},
          {"max", terms.rule->most},
          {"metric", terms.rule->metric},
          {"target", terms.rule->target},
          {"window", seconds(terms.rule->window)},
          {"settle", seconds(terms.rule->settle)}};
}

}  // namespace

std::string PrintServices(const std::vector<ServiceReplica>& replicas, const Style& style) {
  const std::map<std::string, std::vector<ServiceReplica>> services = ByName(replicas);
  const bool any_scaled = std::any_of(services.begin(), services.end(), [](const auto& service) {
    return TermsOf(service.second).rule.has_value();
  });
  std::vector<Column> columns = {{"SERVICE"}, {"REPLICAS", true}, {"READY", true}};
  if (any_scaled) {
    columns.push_back({"SCALED"});
  }
  columns.push_back({"JOBS"});
  Table table(std::move(columns));
  for (const auto& [name, own] : services) {
    std::vector<Cell> row = {{name}, {absl::StrCat(own.size())}, {absl::StrCat(ReadyOf(own))}};
    if (any_scaled) {
      row.push_back({RuleText(TermsOf(own))});
    }
    row.push_back({absl::StrJoin(own, " ", [](std::string* text, const ServiceReplica& replica) {
      absl::StrAppend(text, replica.label);
    })});
    table.Add(row);
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
    const ServiceTerms terms = TermsOf(own);
    services.push_back({{"name", name},
                        {"replicas", own.size()},
                        {"ready", ReadyOf(own)},
                        {"asked", terms.replicas},
                        {"rolling", terms.rolling},
                        {"scaled", ScaledJson(terms)},
                        {"jobs", std::move(jobs)}});
  }
  return PrintJson({{"services", std::move(services)}});
}

}  // namespace muster::cli
