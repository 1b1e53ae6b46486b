// golden_plan SCENARIO EXPECTED: plans the scenario and compares what it says, byte for byte.
// golden_plan SCENARIO: prints it, to be read, judged and kept as the new expectation.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "scheduler/core/plan/planner.h"
#include "tests/golden/scenario.h"

namespace muster::golden {
namespace {

bool ReadAll(const char* path, std::string& text) {
  std::ifstream file(path);
  text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return file.good() || file.eof();
}

int Run(const char* scenario, const char* expected) {
  std::string text;
  if (!ReadAll(scenario, text) || text.empty()) {
    std::cerr << scenario << ": cannot be read\n";
    return 2;
  }
  const absl::StatusOr<Snapshot> snapshot = ReadScenario(text);
  if (!snapshot.ok()) {
    std::cerr << scenario << ": " << snapshot.status().message() << "\n";
    return 2;
  }
  const std::string got = Describe(*snapshot, core::MakePlan(*snapshot, SchedulerConfig()));
  if (expected == nullptr) {
    std::cout << got;
    return 0;
  }
  std::string wanted;
  if (!ReadAll(expected, wanted) || wanted != got) {
    std::cerr << expected << ": the plan is another one.\n--- expected\n"
              << wanted << "--- got\n"
              << got;
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace muster::golden

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: golden_plan SCENARIO [EXPECTED]\n";
    return 2;
  }
  return muster::golden::Run(argv[1], argc == 3 ? argv[2] : nullptr);
}
