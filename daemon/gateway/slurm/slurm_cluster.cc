#include "daemon/gateway/slurm/slurm_cluster.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/value/time.h"

namespace muster::daemon::slurm {
namespace {

std::string Said(const wire::PolicyView& object, const std::string& key) {
  for (const wire::Assignment& one : object.properties()) {
    if (absl::EqualsIgnoreCase(one.key(), key)) {
      return one.value();
    }
  }
  return "";
}

std::uint64_t NumberSaid(const wire::PolicyView& object, const std::string& key,
                         std::uint64_t otherwise) {
  std::uint64_t number = 0;
  return absl::SimpleAtoi(Said(object, key), &number) ? number : otherwise;
}

// A time as policy writes it; infinite where none is said.
Json TimeSaid(const wire::PolicyView& object, const std::string& key) {
  const std::string text = Said(object, key);
  const absl::StatusOr<Duration> time =
      text.empty() ? absl::StatusOr<Duration>(Duration(0)) : ParseDuration(text);
  return Minutes(time.ok() ? time->count() : 0);
}

Json ListSaid(const wire::PolicyView& object, const std::string& key) {
  return std::vector<std::string>(absl::StrSplit(Said(object, key), ',', absl::SkipEmpty()));
}

class MemberNames {
 public:
  explicit MemberNames(const wire::PolicyView& partition) {
    const std::string nodes = Said(partition, "Nodes");
    all_ = nodes.empty() || nodes == "ALL";
    if (const absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(nodes);
        !all_ && names.ok()) {
      names_.insert(names->begin(), names->end());
    }
  }
  [[nodiscard]] bool Has(const std::string& name) const { return all_ || names_.contains(name); }

 private:
  bool all_ = false;
  std::set<std::string> names_;
};

// "IDLE+DRAIN" as words.
Json StateWords(const wire::NodeView& node) {
  std::vector<std::string> words = absl::StrSplit(node.state(), '+');
  if (words.front().starts_with("POWER")) {
    words.insert(words.begin(), "IDLE");
  }
  if (words.front() == "DOWN") {
    words.emplace_back("NOT_RESPONDING");
  }
  return words;
}

std::string GpuText(std::uint32_t gpus) {
  return gpus == 0 ? "" : absl::StrCat("gpu:", gpus);
}

std::string NodeTres(std::uint32_t cpus, std::uint64_t bytes, std::uint32_t gpus) {
  return absl::StrCat("cpu=", cpus, ",mem=", WholeMebibytes(bytes), "M",
                      gpus == 0 ? "" : absl::StrCat(",gres/gpu=", gpus));
}

Json NotSetNumber() {
  return Number(std::nullopt);
}

}  // namespace

Json NodeEntry(const wire::NodeView& node, const Objects& partitions) {
  Json in = Json::array();
  for (const wire::PolicyView& object : partitions) {
    if (object.kind() == "partition" && MemberNames(object).Has(node.name())) {
      in.push_back(object.name());
    }
  }
  const std::uint32_t cores = std::max(node.cores(), 1U);
  const Json features = std::vector<std::string>(node.features().begin(), node.features().end());
  return {{"name", node.name()},
          {"hostname", node.hostname()},
          {"address", node.hostname()},
          {"state", StateWords(node)},
          {"reason", node.reason()},
          {"reason_changed_at", NotSetNumber()},
          {"reason_set_by_user", ""},
          {"partitions", std::move(in)},
          {"features", features},
          {"active_features", features},
          {"gres", GpuText(node.gpus())},
          {"gres_used", GpuText(node.gpus_taken())},
          {"cpus", node.cpus()},
          {"alloc_cpus", node.cpus_taken()},
          {"alloc_idle_cpus", node.cpus() - std::min(node.cpus(), node.cpus_taken())},
          {"boards", 1},
          {"sockets", 1},
          {"cores", node.cores()},
          {"threads", std::max(node.cpus() / cores, 1U)},
          {"real_memory", WholeMebibytes(node.memory())},
          {"alloc_memory", WholeMebibytes(node.memory_taken())},
          {"free_mem", NotSetNumber()},
          {"cpu_load", 0},
          {"weight", node.weight()},
          {"architecture", ""},
          {"operating_system", ""},
          {"boot_time", NotSetNumber()},
          {"last_busy", NotSetNumber()},
          {"tres", NodeTres(node.cpus(), node.memory(), node.gpus())},
          {"tres_used", node.cpus_taken() == 0
                            ? ""
                            : NodeTres(node.cpus_taken(), node.memory_taken(), node.gpus_taken())}};
}

Json PartitionEntry(const wire::PolicyView& partition, const Nodes& nodes) {
  const MemberNames members(partition);
  std::vector<std::string> names;
  std::uint64_t cpus = 0;
  for (const wire::NodeView& node : nodes) {
    if (members.Has(node.name())) {
      names.push_back(node.name());
      cpus += node.cpus();
    }
  }
  const std::string most = Said(partition, "MaxNodes");
  const std::string state = partition.state().empty() ? "UP" : partition.state();
  return {
      {"name", partition.name()},
      {"nodes",
       {{"allowed_allocation", ""},
        {"configured", CompressHostlist(names)},
        {"total", names.size()}}},
      {"cpus", {{"task_binding", 0}, {"total", cpus}}},
      {"accounts",
       {{"allowed", Said(partition, "AllowAccounts")}, {"deny", Said(partition, "DenyAccounts")}}},
      {"groups", {{"allowed", ""}}},
      {"qos",
       {{"allowed", Said(partition, "AllowQos")},
        {"deny", Said(partition, "DenyQos")},
        {"assigned", Said(partition, "QOS")}}},
      {"defaults",
       {{"time", Said(partition, "DefaultTime").empty() ? NotSetNumber()
                                                        : TimeSaid(partition, "DefaultTime")},
        {"job", ""}}},
      {"maximums",
       {{"time", TimeSaid(partition, "MaxTime")},
        {"nodes", most.empty() ? Infinite() : Number(NumberSaid(partition, "MaxNodes", 0))},
        {"cpus_per_node", Infinite()}}},
      {"minimums", {{"nodes", NumberSaid(partition, "MinNodes", 0)}}},
      {"priority",
       {{"job_factor", NumberSaid(partition, "PriorityJobFactor", 1)},
        {"tier", NumberSaid(partition, "PriorityTier", 1)}}},
      {"partition", {{"state", Json::array({state})}}},
      {"cluster", ""},
      {"node_sets", ""},
      {"alternate", ""}};
}

Json ReservationEntry(const wire::PolicyView& reservation) {
  return {{"name", reservation.name()},
          {"node_list", Said(reservation, "Nodes")},
          {"node_count", reservation.nodes()},
          {"users", Said(reservation, "Users")},
          {"accounts", Said(reservation, "Accounts")},
          {"flags", ListSaid(reservation, "Flags")},
          {"partition", ""}};
}

Json AccountEntry(const wire::PolicyView& account) {
  return {{"name", account.name()},
          {"description", Said(account, "Description")},
          {"organization", Said(account, "Parent")},
          {"coordinators", Json::array()},
          {"associations", Json::array()},
          {"flags", Json::array()}};
}

Json AssociationEntry(const wire::PolicyView& association, const std::string& cluster) {
  const std::vector<std::string> names =
      absl::StrSplit(association.name(), absl::MaxSplits('/', 1));
  return {{"account", names.front()},
          {"user", names.size() > 1 ? names[1] : ""},
          {"cluster", cluster},
          {"partition", ""},
          {"is_default", Said(association, "Default") == "YES"},
          {"shares_raw", NumberSaid(association, "Fairshare", 1)},
          {"qos", ListSaid(association, "QOS")},
          {"default", {{"qos", Said(association, "DefaultQOS")}}}};
}

Json QosEntry(const wire::PolicyView& qos) {
  return {{"name", qos.name()},
          {"description", ""},
          {"flags", ListSaid(qos, "Flags")},
          {"priority", Number(NumberSaid(qos, "Priority", 0))},
          {"preempt", {{"list", ListSaid(qos, "Preempt")}}},
          {"limits", {{"max", {{"wall_clock", {{"per", {{"job", TimeSaid(qos, "MaxWall")}}}}}}}}}};
}

Json UserEntries(const Objects& associations) {
  std::map<std::string, Json> users;
  for (const wire::PolicyView& object : associations) {
    const std::size_t slash = object.name().find('/');
    if (object.kind() != "association" || slash == std::string::npos) {
      continue;
    }
    const std::string name = object.name().substr(slash + 1);
    Json& user = users
                     .try_emplace(name, Json{{"name", name},
                                             {"administrator_level", Json::array({"None"})},
                                             {"associations", Json::array()},
                                             {"coordinators", Json::array()},
                                             {"default", {{"account", ""}, {"wckey", ""}}},
                                             {"flags", Json::array()},
                                             {"wckeys", Json::array()}})
                     .first->second;
    const std::string account = object.name().substr(0, slash);
    user["associations"].push_back({{"account", account}, {"user", name}, {"cluster", ""}});
    if (Said(object, "Default") == "YES") {
      user["default"]["account"] = account;
    }
  }
  Json list = Json::array();
  for (auto& [name, user] : users) {
    list.push_back(std::move(user));
  }
  return list;
}

Json PingEntry() {
  return {{"hostname", "musterd"}, {"pinged", "UP"}, {"latency", 0}, {"mode", "primary"}};
}

Json Statistics(const wire::ReadMetricsReply& metrics) {
  std::map<std::string, double> sums;
  std::map<std::string, double> ended;
  for (const wire::MetricFamily& family : metrics.families()) {
    for (const wire::MetricSample& sample : family.samples()) {
      sums[family.name()] += sample.value();
      if (family.name() == "muster_jobs_ended" && sample.labels_size() > 0) {
        ended[sample.labels(0)] += sample.value();
      }
    }
  }
  const auto whole = [](double value) { return static_cast<std::int64_t>(value); };
  const auto microseconds = [&](const char* name) { return whole(sums[name] * 1e6); };
  return {
      {"parts_packed", 1},
      {"req_time", Moment(metrics.time())},
      {"req_time_start",
       Number(static_cast<std::uint64_t>(std::max(0.0, sums["muster_controller_start_seconds"])))},
      {"server_thread_count", 1},
      {"agent_queue_size", 0},
      {"agent_count", 0},
      {"jobs_submitted", whole(sums["muster_jobs_submitted"])},
      {"jobs_started", whole(sums["muster_attempts_started"])},
      {"jobs_completed", whole(ended["COMPLETED"])},
      {"jobs_canceled", whole(ended["CANCELLED"])},
      {"jobs_failed", whole(ended["FAILED"])},
      {"jobs_pending", whole(sums["slurm_jobs_pending"])},
      {"jobs_running", whole(sums["slurm_jobs_running"])},
      {"schedule_cycle_last", microseconds("muster_cycle_last_seconds")},
      {"schedule_cycle_max", microseconds("muster_cycle_longest_seconds")},
      {"schedule_queue_length", whole(sums["slurm_jobs_pending"])},
      {"bf_active", false},
      {"rpcs_by_message_type", Json::array()},
      {"rpcs_by_user", Json::array()}};
}

}  // namespace muster::daemon::slurm
