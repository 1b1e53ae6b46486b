// A hand-made workload under a policy, as a table of starts, against the recorded one.
//
//   golden_schedule WORKLOAD POLICY [EXPECTED]
//
// Without EXPECTED the table is printed. WORKLOAD is in the Standard Workload Format and its header
// says how large the machine is.

#include <fstream>
#include <iostream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "scheduler/simulator/flat/flat_simulation.h"
#include "scheduler/simulator/flat/policy_names.h"

namespace muster::golden {
namespace {

class Table final : public sim::FlatObserver {
 public:
  absl::Status Begin(std::int64_t processors) override {
    text = absl::StrCat("processors ", processors, "\njob start end processors reason promised\n");
    return absl::OkStatus();
  }
  absl::Status Ended(const sim::ScheduleRow& row) override {
    absl::StrAppend(&text, row.job_id, " ", row.starting_time, " ", row.finish_time(), " ",
                    row.allocated_resources, " ", row.reason, " ",
                    row.promised_start == -1 ? "-" : absl::StrCat(row.promised_start), "\n");
    return absl::OkStatus();
  }
  bool KeepGoing(const sim::FlatProgress& progress) override {
    (void)progress;
    return true;
  }

  std::string text;
};

int Run(const std::string& workload, const std::string& policy, const char* expected) {
  sim::FlatRun run;
  run.trace = workload;
  run.with_processors = true;
  const absl::StatusOr<sim::FlatPolicy> parsed = sim::ParseFlatPolicy(policy);
  Table table;
  run.policy = parsed.value_or(sim::FlatPolicy());
  const absl::Status status =
      parsed.ok() ? sim::SimulateFlat(run, table).status() : parsed.status();
  if (!status.ok()) {
    std::cerr << status.message() << "\n";
    return 2;
  }
  if (expected == nullptr) {
    std::cout << table.text;
    return 0;
  }
  std::ifstream file(expected);
  const std::string wanted{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (wanted != table.text) {
    std::cerr << expected << ": the schedule is another one.\n--- expected\n"
              << wanted << "--- got\n"
              << table.text;
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace muster::golden

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: golden_schedule WORKLOAD POLICY [EXPECTED]\n";
    return 2;
  }
  return muster::golden::Run(argv[1], argv[2], argc == 4 ? argv[3] : nullptr);
}
