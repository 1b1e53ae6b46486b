#include "daemon/gateway/slurm/slurm_submit.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "daemon/gateway/slurm/slurm_fields.h"
#include "daemon/gateway/slurm/slurm_sizes.h"
#include "daemon/gateway/slurm/slurm_terms.h"
#include "proto/convert/methods.h"
#include "scheduler/base/status.h"

namespace muster::daemon::slurm {
namespace {

// A list of "A=b", or an object.
absl::Status ReadEnvironment(const std::string& name, const Json& value, SubmitJob& job) {
  for (auto member = value.begin(); member != value.end(); ++member) {
    if (!member->is_string()) {
      return BadField(name, "texts \"NAME=value\"");
    }
    const std::string text = value.is_object()
                                 ? absl::StrCat(member.key(), "=", member->get<std::string>())
                                 : member->get<std::string>();
    if (text.find('=') == std::string::npos || text.front() == '=') {
      return BadField(name, "texts \"NAME=value\"");
    }
    job.program.environment.push_back(text);
  }
  return absl::OkStatus();
}

absl::Status ReadArguments(const std::string& name, const Json& value, SubmitJob& job) {
  for (const Json& word : value) {
    ASSIGN_OR_RETURN(std::string text, TextIn(name, word));
    job.program.argv.push_back(std::move(text));
  }
  return absl::OkStatus();
}

void AddTexts(FieldTable& table) {
  table["name"] = Text([](SubmitJob& j, std::string t) { j.spec.name = std::move(t); });
  table["account"] = Text([](SubmitJob& j, std::string t) { j.spec.account = std::move(t); });
  table["partition"] = Text([](SubmitJob& j, std::string t) { j.spec.partition = std::move(t); });
  table["qos"] = Text([](SubmitJob& j, std::string t) { j.spec.qos = std::move(t); });
  table["reservation"] =
      Text([](SubmitJob& j, std::string t) { j.spec.reservation = std::move(t); });
  table["comment"] = Text([](SubmitJob& j, std::string t) { j.spec.comment = std::move(t); });
  table["script"] = Text([](SubmitJob& j, std::string t) { j.program.script = std::move(t); });
  table["container"] = Text([](SubmitJob& j, std::string t) {
    j.spec.container.image = std::move(t.insert(0, "bundle:"));
  });
  table["current_working_directory"] =
      Text([](SubmitJob& j, std::string t) { j.program.work_dir = std::move(t); });
  table["standard_input"] =
      Text([](SubmitJob& j, std::string t) { j.program.stdin_path = std::move(t); });
  table["standard_output"] =
      Text([](SubmitJob& j, std::string t) { j.program.stdout_path = std::move(t); });
  table["standard_error"] =
      Text([](SubmitJob& j, std::string t) { j.program.stderr_path = std::move(t); });
  table["environment"] = ReadEnvironment;
  table["argv"] = ReadArguments;
}

// Fields of sbatch's options that have no effect here, either.
void AddRecorded(FieldTable& table) {
  constexpr std::pair<const char*, const char*> kOptions[] = {
      {"account_gather_frequency", "acctg-freq"},
      {"batch_features", "batch"},
      {"cluster_constraint", "cluster-constraint"},
      {"contiguous", "contiguous"},
      {"core_specification", "core-spec"},
      {"cpu_frequency", "cpu-freq"},
      {"delay_boot", "delay-boot"},
      {"extra", "extra"},
      {"mcs_label", "mcs-label"},
      {"network", "network"},
      {"reserve_ports", "resv-ports"},
      {"thread_specification", "thread-spec"},
      {"tres_freq", "gpu-freq"},
      {"wait_all_nodes", "wait-all-nodes"},
      {"wckey", "wckey"}};
  for (const auto& [field, option] : kOptions) {
    table[field] = Recorded(option);
  }
}

// What may be said; null: it changes nothing here.
const FieldTable& Readers() {
  static const FieldTable readers = [] {
    FieldTable table;
    AddTexts(table);
    AddSizes(table);
    AddTerms(table);
    AddRecorded(table);
    // Who asks is known by the token; the others only label.
    for (const char* name : {"user_id", "group_id", "admin_comment"}) {
      table[name] = nullptr;
    }
    return table;
  }();
  return readers;
}

absl::Status ReadFields(const Json& fields, SubmitJob& job) {
  for (const auto& [name, value] : fields.items()) {
    const auto reader = Readers().find(name);
    if (reader == Readers().end()) {
      return BadField(name, "not taken here; muster submit may know it");
    }
    if (reader->second != nullptr && !SaysNothing(value)) {
      RETURN_IF_ERROR(reader->second(name, value, job));
    }
  }
  return CheckTogether(job);
}

absl::Status CheckBody(const Json& whole) {
  if (!whole.is_object() || !whole.contains("job") || !whole.at("job").is_object()) {
    return absl::InvalidArgumentError(
        R"(say {"script": "#!/bin/sh\n…", "job": {"current_working_directory": "/…", …}})");
  }
  for (const auto& [name, value] : whole.items()) {
    if (name == "jobs" && !SaysNothing(value)) {
      return absl::InvalidArgumentError(
          "jobs: a heterogeneous job is not taken here; muster submit takes it");
    }
    if (name == "script" && !value.is_null() && !value.is_string()) {
      return absl::InvalidArgumentError("script: a text");
    }
    if (name != "script" && name != "job" && name != "jobs") {
      return absl::InvalidArgumentError(
          absl::StrCat(name, R"(: not taken here; say {"script": …, "job": {…}})"));
    }
  }
  return absl::OkStatus();
}

// What slurmrestd wants, and what it takes where nothing is said.
absl::Status Complete(SubmitJob& job) {
  Program& program = job.program;
  if (program.script.empty()) {
    return absl::InvalidArgumentError("script: a job runs a script, whose text is said here");
  }
  if (!absl::StartsWith(program.work_dir, "/")) {
    return BadField("current_working_directory", "an absolute path, without which nothing runs");
  }
  if (program.environment.empty()) {
    return BadField("environment", "at least one variable, as slurmrestd wants it, such as PATH");
  }
  if (job.spec.name.empty()) {
    job.spec.name = "openapi";
  }
  if (program.stdout_path.empty()) {
    program.stdout_path = job.spec.array.has_value() ? "slurm-%A_%a.out" : "slurm-%j.out";
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<wire::SubmitRequest> ReadSubmission(const std::string& body) {
  const Json whole = Json::parse(body, nullptr, false);
  RETURN_IF_ERROR(CheckBody(whole));
  SubmitJob job;
  if (whole.contains("script") && whole.at("script").is_string()) {
    job.program.script = whole.at("script").get<std::string>();
  }
  RETURN_IF_ERROR(ReadFields(whole.at("job"), job));
  RETURN_IF_ERROR(Complete(job));
  std::string bytes;
  AppendRequest(job, &bytes);
  wire::SubmitRequest request;
  if (!request.ParseFromString(bytes)) {
    return absl::InternalError("the submission is no message");
  }
  return request;
}

Json WarningsOf(const wire::SubmitRequest& submission) {
  Json warnings = Json::array();
  for (const std::string& option : submission.spec().recorded()) {
    if (!absl::StartsWith(option, "mail-")) {  // who tells people reads these
      warnings.push_back(
          {{"description", absl::StrCat(option, ": has no effect here")}, {"source", "job"}});
    }
  }
  return warnings;
}

}  // namespace muster::daemon::slurm
