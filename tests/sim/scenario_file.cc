#include "tests/sim/scenario_file.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/config_file.h"

namespace muster::sim {
namespace {

absl::Status ReadNumber(ConfigFile& file, const std::string& key, IntegerRange range,
                        std::uint32_t* out) {
  int64_t number = *out;
  RETURN_IF_ERROR(file.ReadInteger(key, range, &number));
  *out = static_cast<std::uint32_t>(number);
  return absl::OkStatus();
}

absl::Status ReadFaults(ConfigFile& file, FaultRates* rates) {
  constexpr IntegerRange kThousandths{0, 1000};
  RETURN_IF_ERROR(file.ReadDuration("faults.connection_lost_every", &rates->connection_lost_every));
  RETURN_IF_ERROR(file.ReadDuration("faults.agent_dies_every", &rates->agent_dies_every));
  RETURN_IF_ERROR(file.ReadDuration("faults.controller_dies_every", &rates->controller_dies_every));
  for (const auto& [key, rate] : {
           std::pair{"faults.record_lost", &rates->record_lost},
           std::pair{"faults.reboot", &rates->reboot},
           std::pair{"faults.controller_dies_at_step", &rates->controller_dies_at_step},
           std::pair{"faults.report_duplicated", &rates->report_duplicated},
           std::pair{"faults.report_late", &rates->report_late},
           std::pair{"faults.reply_lost", &rates->reply_lost},
           std::pair{"faults.launch_slow", &rates->launch_slow},
           std::pair{"faults.launch_fails", &rates->launch_fails},
           std::pair{"faults.lie", &rates->lie},
           std::pair{"faults.gpu_lost", &rates->gpu_lost},
           std::pair{"faults.state_restored", &rates->state_restored},
       }) {
    RETURN_IF_ERROR(ReadNumber(file, key, kThousandths, rate));
  }
  return absl::OkStatus();
}

void AddNumber(const char* key, std::uint32_t number, std::string* text) {
  if (number != 0) {
    absl::StrAppend(text, key, " = ", number, "\n");
  }
}

void AddTime(const char* key, Duration time, std::string* text) {
  if (time != Duration(0)) {
    absl::StrAppend(text, key, " = \"", time.count(), "ms\"\n");
  }
}

}  // namespace

std::string ScenarioText(const Scenario& scenario) {
  std::string text;
  AddNumber("nodes", scenario.nodes, &text);
  AddNumber("cores_per_node", scenario.cores_per_node, &text);
  AddNumber("submissions", scenario.submissions, &text);
  AddNumber("gpus_per_node", scenario.gpus_per_node, &text);
  AddNumber("elastic", scenario.elastic, &text);
  AddNumber("urgent", scenario.urgent, &text);
  AddNumber("reservations", scenario.reservations, &text);
  AddNumber("changes", scenario.changes, &text);
  absl::StrAppend(&text, scenario.wishes ? "wishes = true\n" : "",
                  scenario.whole ? "whole = true\n" : "", scenario.prompt ? "prompt = true\n" : "",
                  scenario.drawn ? "drawn = true\n" : "");
  AddTime("active", scenario.active, &text);
  const FaultRates& rates = scenario.faults;
  text += "\n[faults]\n";
  AddTime("connection_lost_every", rates.connection_lost_every, &text);
  AddTime("agent_dies_every", rates.agent_dies_every, &text);
  AddNumber("record_lost", rates.record_lost, &text);
  AddNumber("reboot", rates.reboot, &text);
  AddTime("controller_dies_every", rates.controller_dies_every, &text);
  AddNumber("controller_dies_at_step", rates.controller_dies_at_step, &text);
  AddNumber("report_duplicated", rates.report_duplicated, &text);
  AddNumber("report_late", rates.report_late, &text);
  AddNumber("reply_lost", rates.reply_lost, &text);
  AddNumber("launch_slow", rates.launch_slow, &text);
  AddNumber("launch_fails", rates.launch_fails, &text);
  AddNumber("lie", rates.lie, &text);
  AddNumber("gpu_lost", rates.gpu_lost, &text);
  AddNumber("state_restored", rates.state_restored, &text);
  return text;
}

absl::StatusOr<Scenario> ReadScenario(const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos;
  ASSIGN_OR_RETURN(
      ConfigFile file,
      ConfigFile::Load(is_path ? name : absl::StrCat(MUSTER_SCENARIOS, "/", name, ".toml")));
  Scenario scenario;
  scenario.name = name;
  RETURN_IF_ERROR(ReadNumber(file, "nodes", {1, 1000}, &scenario.nodes));
  RETURN_IF_ERROR(ReadNumber(file, "cores_per_node", {1, 1000}, &scenario.cores_per_node));
  RETURN_IF_ERROR(ReadNumber(file, "submissions", {1, 100'000}, &scenario.submissions));
  RETURN_IF_ERROR(ReadNumber(file, "gpus_per_node", {0, 64}, &scenario.gpus_per_node));
  RETURN_IF_ERROR(ReadNumber(file, "elastic", {0, 1000}, &scenario.elastic));
  RETURN_IF_ERROR(ReadNumber(file, "urgent", {0, 333}, &scenario.urgent));
  RETURN_IF_ERROR(ReadNumber(file, "reservations", {0, 1000}, &scenario.reservations));
  RETURN_IF_ERROR(ReadNumber(file, "changes", {0, 1000}, &scenario.changes));
  RETURN_IF_ERROR(file.ReadBool("wishes", &scenario.wishes));
  RETURN_IF_ERROR(file.ReadBool("whole", &scenario.whole));
  RETURN_IF_ERROR(file.ReadBool("prompt", &scenario.prompt));
  RETURN_IF_ERROR(file.ReadBool("drawn", &scenario.drawn));
  RETURN_IF_ERROR(file.ReadDuration("active", &scenario.active));
  RETURN_IF_ERROR(ReadFaults(file, &scenario.faults));
  RETURN_IF_ERROR(file.RefuseUnknownKeys());
  return scenario;
}

}  // namespace muster::sim
