#include "daemon/gateway/slurm/slurm_blanks.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"

namespace muster::daemon::slurm {
namespace {

// Gives each of the fields, which are words of the text, that value.
void Fill(const char* fields, const Json& value, Json& out) {
  for (const std::string& field :
       std::vector<std::string>(absl::StrSplit(fields, ' ', absl::SkipEmpty()))) {
    out[field] = value;
  }
}

Json MakeJob() {
  Json job = Json::object();
  Fill(
      "admin_comment allocating_node batch_features burst_buffer burst_buffer_state cluster "
      "cluster_features command container container_id cpus_per_tres cron "
      "current_working_directory excluded_nodes extra failed_node features federation_origin "
      "federation_siblings_active federation_siblings_viable group_name het_job_id_set mail_user "
      "mcs_label memory_per_tres network prefer required_nodes scheduled_nodes selinux_context "
      "standard_error standard_input standard_output system_comment tres_bind tres_freq "
      "tres_per_job tres_per_node tres_per_socket tres_per_task wckey",
      "", job);
  Fill(
      "accrue_time billable_tres cores_per_socket cpu_frequency_governor cpu_frequency_maximum "
      "cpu_frequency_minimum delay_boot last_sched_evaluation max_cpus max_nodes "
      "minimum_cpus_per_node minimum_tmp_disk_per_node pre_sus_time preempt_time "
      "preemptable_time resize_time sockets_per_node tasks_per_board tasks_per_core "
      "tasks_per_node tasks_per_socket tasks_per_tres threads_per_core time_minimum",
      Number(std::nullopt), job);
  Fill(
      "association_id core_spec maximum_switch_wait_time minimum_switches sockets_per_board "
      "thread_spec",
      0, job);
  Fill("batch_flag contiguous oversubscribe reboot requeue", false, job);
  Fill("exclusive flags gres_detail job_size_str mail_type profile shared show_flags",
       Json::array(), job);
  job["power"] = {{"flags", Json::array()}};
  return job;
}

Json MakeAccountedJob() {
  Json job = Json::object();
  Fill(
      "block cluster constraints container extra failed_node kill_request_user script "
      "submit_line used_gres working_directory",
      "", job);
  job["flags"] = Json::array();
  job["mcs"] = {{"label", ""}};
  job["wckey"] = {{"wckey", ""}, {"flags", Json::array()}};
  return job;
}

Json MakeNode() {
  Json node = Json::object();
  Fill(
      "architecture burstbuffer_network_address cluster_name comment extra gres_drained "
      "instance_id instance_type mcs_label operating_system owner reason_set_by_user reservation "
      "specialized_cpus version",
      "", node);
  Fill("cpu_binding cpu_load port specialized_cores specialized_memory temporary_disk", 0, node);
  Fill("boot_time free_mem last_busy reason_changed_at resume_after slurmd_start_time",
       Number(std::nullopt), node);
  Fill("external_sensors power", Json::object(), node);
  node["boards"] = 1;
  node["next_state_after_reboot"] = Json::array();
  node["tres_weighted"] = 0.0;
  node["energy"] = {{"average_watts", 0},
                    {"base_consumed_energy", 0},
                    {"consumed_energy", 0},
                    {"current_watts", Number(std::nullopt)},
                    {"previous_consumed_energy", 0},
                    {"last_collected", 0}};
  return node;
}

Json MakePartition() {
  return {{"alternate", ""},
          {"cluster", ""},
          {"grace_time", 0},
          {"groups", {{"allowed", ""}}},
          {"node_sets", ""},
          {"suspend_time", Number(std::nullopt)},
          {"timeouts", {{"resume", Number(std::nullopt)}, {"suspend", Number(std::nullopt)}}}};
}

Json MakeReservation() {
  Json reservation = Json::object();
  Fill("burst_buffer features groups licenses partition tres", "", reservation);
  Fill("core_count max_start_delay", 0, reservation);
  reservation["core_specializations"] = Json::array();
  reservation["purge_completed"] = {{"time", Number(std::nullopt)}};
  reservation["watts"] = Number(std::nullopt);
  return reservation;
}

// Numbers of slurmctld's own workings are 0: its threads, and two loops of which here is one.
Json MakeStatistics() {
  Json statistics = Json::object();
  Fill(
      "agent_count agent_queue_size agent_thread_count bf_backfilled_het_jobs bf_backfilled_jobs "
      "bf_depth_mean bf_depth_mean_try bf_depth_sum bf_depth_try_sum bf_last_backfilled_jobs "
      "bf_queue_len_mean bf_queue_len_sum bf_table_size bf_table_size_mean dbd_agent_queue_size "
      "gettimeofday_latency schedule_cycle_mean_depth",
      0, statistics);
  Fill("end_job_queue default_queue_depth max_job_start max_rpc_cnt max_sched_time licenses", 0,
       statistics["schedule_exit"]);
  Fill(
      "end_job_queue bf_max_job_start bf_max_job_test bf_max_time bf_node_space_size "
      "state_changed",
      0, statistics["bf_exit"]);
  statistics["bf_active"] = false;
  statistics["parts_packed"] = 1;
  statistics["rpcs_by_user"] = Json::array();
  statistics["server_thread_count"] = 1;
  return statistics;
}

}  // namespace

const Json& BlankJob() {
  static const Json job = MakeJob();
  return job;
}

const Json& BlankAccountedJob() {
  static const Json job = MakeAccountedJob();
  return job;
}

const Json& BlankNode() {
  static const Json node = MakeNode();
  return node;
}

const Json& BlankPartition() {
  static const Json partition = MakePartition();
  return partition;
}

const Json& BlankReservation() {
  static const Json reservation = MakeReservation();
  return reservation;
}

const Json& BlankStatistics() {
  static const Json statistics = MakeStatistics();
  return statistics;
}

}  // namespace muster::daemon::slurm
