#include "daemon/gateway/slurm/slurm_cluster.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "daemon/gateway/slurm/slurm_blanks.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/time_text.h"
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

Json MomentSaid(const wire::PolicyView& object, const std::string& key) {
  const std::string text = Said(object, key);
  const absl::StatusOr<Time> time = text.empty() ? kNoTime : ParseMoment(text);
  return Moment(time.ok() ? time->time_since_epoch().count() : 0);
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
  std::erase(words, "NARROW");  // no word of Slurm's
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
  Json entry = BlankNode();
  entry.update(Json{
      {"name", node.name()},
      {"hostname", node.hostname()},
      {"address", node.hostname()},
      {"state", StateWords(node)},
      {"reason", node.reason()},
      {"partitions", std::move(in)},
      {"features", features},
      {"active_features", features},
      {"gres", GpuText(node.gpus())},
      {"gres_used", GpuText(node.gpus_taken())},
      {"cpus", node.cpus()},
      {"effective_cpus", node.cpus()},
      {"alloc_cpus", node.cpus_taken()},
      {"alloc_idle_cpus", node.cpus() - std::min(node.cpus(), node.cpus_taken())},
      {"sockets", 1},
      {"cores", node.cores()},
      {"threads", std::max(node.cpus() / cores, 1U)},
      {"real_memory", WholeMebibytes(node.memory())},
      {"alloc_memory", WholeMebibytes(node.memory_taken())},
      {"weight", node.weight()},
      {"tres", NodeTres(node.cpus(), node.memory(), node.gpus())},
      {"tres_used", node.cpus_taken() == 0
                        ? ""
                        : NodeTres(node.cpus_taken(), node.memory_taken(), node.gpus_taken())}});
  return entry;
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
  Json entry = BlankPartition();
  entry.update(Json{
      {"name", partition.name()},
      {"nodes",
       {{"allowed_allocation", ""},
        {"configured", CompressHostlist(names)},
        {"total", names.size()}}},
      {"cpus", {{"task_binding", 0}, {"total", cpus}}},
      {"tres",
       {{"billing_weights", Said(partition, "TRESBillingWeights")},
        {"configured", absl::StrCat("cpu=", cpus, ",node=", names.size())}}},
      {"accounts",
       {{"allowed", Said(partition, "AllowAccounts")}, {"deny", Said(partition, "DenyAccounts")}}},
      {"qos",
       {{"allowed", Said(partition, "AllowQos")},
        {"deny", Said(partition, "DenyQos")},
        {"assigned", Said(partition, "QOS")}}},
      {"defaults",
       {{"memory_per_cpu", 0},
        {"partition_memory_per_cpu", NotSetNumber()},
        {"partition_memory_per_node", NotSetNumber()},
        {"time", Said(partition, "DefaultTime").empty() ? NotSetNumber()
                                                        : TimeSaid(partition, "DefaultTime")},
        {"job", ""}}},
      {"maximums",
       {{"time", TimeSaid(partition, "MaxTime")},
        {"nodes", most.empty() ? Infinite() : Number(NumberSaid(partition, "MaxNodes", 0))},
        {"cpus_per_node", Infinite()},
        {"cpus_per_socket", Infinite()},
        {"memory_per_cpu", 0},
        {"partition_memory_per_cpu", NotSetNumber()},
        {"partition_memory_per_node", NotSetNumber()},
        {"over_time_limit", NotSetNumber()},
        {"oversubscribe", {{"jobs", 1}, {"flags", Json::array()}}},
        {"shares", 1}}},
      {"minimums", {{"nodes", NumberSaid(partition, "MinNodes", 0)}}},
      {"priority",
       {{"job_factor", NumberSaid(partition, "PriorityJobFactor", 1)},
        {"tier", NumberSaid(partition, "PriorityTier", 1)}}},
      {"partition", {{"state", Json::array({state})}}}});
  return entry;
}

Json ReservationEntry(const wire::PolicyView& reservation) {
  Json entry = BlankReservation();
  entry.update(Json{{"name", reservation.name()},
                    {"start_time", MomentSaid(reservation, "StartTime")},
                    {"end_time", MomentSaid(reservation, "EndTime")},
                    {"node_list", Said(reservation, "Nodes")},
                    {"node_count", reservation.nodes()},
                    {"users", Said(reservation, "Users")},
                    {"accounts", Said(reservation, "Accounts")},
                    {"flags", ListSaid(reservation, "Flags")}});
  return entry;
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

namespace {

constexpr double kMicroseconds = 1e6;

// The numbers of a reply, added up by family; and of histograms how often, too.
struct Sums {
  std::map<std::string, double> values;
  std::map<std::string, std::uint64_t> counts;
  std::map<std::string, double> ended;  // by state
  Json calls = Json::array();

  explicit Sums(const wire::ReadMetricsReply& metrics) {
    for (const wire::MetricFamily& family : metrics.families()) {
      for (const wire::MetricSample& sample : family.samples()) {
        Add(family.name(), sample);
      }
    }
  }
  void Add(const std::string& family, const wire::MetricSample& sample) {
    const std::uint64_t count =
        std::accumulate(sample.counts().begin(), sample.counts().end(), std::uint64_t{0});
    values[family] += sample.value();
    counts[family] += count;
    if (family == "muster_jobs_ended" && sample.labels_size() > 0) {
      ended[sample.labels(0)] += sample.value();
    }
    if (family == "muster_call_seconds" && sample.labels_size() > 0 && count > 0) {
      const auto total = static_cast<std::int64_t>(sample.value() * kMicroseconds);
      calls.push_back({{"message_type", sample.labels(0)},
                       {"type_id", 0},
                       {"count", count},
                       {"average_time", total / static_cast<std::int64_t>(count)},
                       {"total_time", total}});
    }
  }
  std::int64_t Whole(const std::string& family) {
    return static_cast<std::int64_t>(values[family]);
  }
  std::int64_t Microseconds(const std::string& family) {
    return static_cast<std::int64_t>(values[family] * kMicroseconds);
  }
};

// Here a cycle plans, starts and backfills in one.
void AddCycles(Sums& sums, double minutes, Json& out) {
  const auto count = static_cast<std::int64_t>(sums.counts["muster_cycle_seconds"]);
  const std::int64_t all = sums.Microseconds("muster_cycle_seconds");
  const std::int64_t mean = count == 0 ? 0 : all / count;
  const std::int64_t last = sums.Microseconds("muster_cycle_last_seconds");
  const std::int64_t waiting = sums.Whole("slurm_jobs_pending");
  out["schedule_cycle_last"] = last;
  out["schedule_cycle_max"] = sums.Microseconds("muster_cycle_longest_seconds");
  out["schedule_cycle_total"] = count;
  out["schedule_cycle_mean"] = mean;
  out["schedule_cycle_per_minute"] =
      static_cast<std::int64_t>(static_cast<double>(count) / std::max(minutes, 1.0));
  out["schedule_queue_length"] = waiting;
  out["bf_cycle_counter"] = count;
  out["bf_cycle_last"] = last;
  out["bf_cycle_mean"] = mean;
  out["bf_cycle_sum"] = all;
  out["bf_last_depth"] = waiting;
  out["bf_last_depth_try"] = waiting;
  out["bf_queue_len"] = waiting;
}

}  // namespace

Json LastCycle(const wire::ReadMetricsReply& metrics) {
  Sums sums(metrics);
  return Moment(static_cast<std::int64_t>(sums.values["muster_cycle_newest_seconds"] * 1000));
}

Json Statistics(const wire::ReadMetricsReply& metrics) {
  Sums sums(metrics);
  const double since = std::max(0.0, sums.values["muster_controller_start_seconds"]);
  Json out = BlankStatistics();
  AddCycles(sums, (static_cast<double>(metrics.time()) / 1000 - since) / 60, out);
  out.update(Json{{"req_time", Moment(metrics.time())},
                  {"req_time_start", Number(static_cast<std::uint64_t>(since))},
                  {"job_states_ts", Moment(metrics.time())},
                  {"bf_when_last_cycle", LastCycle(metrics)},
                  {"jobs_submitted", sums.Whole("muster_jobs_submitted")},
                  {"jobs_started", sums.Whole("muster_attempts_started")},
                  {"jobs_completed", static_cast<std::int64_t>(sums.ended["COMPLETED"])},
                  {"jobs_canceled", static_cast<std::int64_t>(sums.ended["CANCELLED"])},
                  {"jobs_failed", static_cast<std::int64_t>(sums.ended["FAILED"])},
                  {"jobs_pending", sums.Whole("slurm_jobs_pending")},
                  {"jobs_running", sums.Whole("slurm_jobs_running")},
                  {"rpcs_by_message_type", sums.calls}});
  return out;
}

}  // namespace muster::daemon::slurm
