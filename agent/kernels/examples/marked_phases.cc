// A job that marks its phases, so that Perfetto shows what each rank did when:
//
//   g++ -std=c++17 -O2 marked_phases.cc -o marked_phases
//   muster run -n 4 ./marked_phases 'phases.%r.json'
//   muster kernel timeline phases.json phases.*.json     # then open phases.json in ui.perfetto.dev

#include <muster/phase_marker.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <thread>

namespace {

double Work(long rounds) {
  double value = 2;
  for (long i = 0; i < rounds; ++i) {
    value = std::sqrt(value + 1);
  }
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  muster::PhaseMarker marker(argc > 1 ? argv[1] : "phases.%r.json");  // the rank is the launcher's
  if (marker.failed()) {
    std::fputs(
        "marked_phases: the timeline cannot be written: name a file in a directory of yours\n",
        stderr);
    return 2;
  }
  double sum = 0;
  for (int step = 0; step < 3; ++step) {
    const auto whole = marker.Phase("step " + std::to_string(step));
    double beside = 0;
    std::thread other([&] {  // a thread has a track of its own
      const auto phase = marker.Phase("prepare");
      beside = Work(100000);
    });
    {
      const auto phase = marker.Phase("compute");
      sum += Work(200000);
    }
    const auto phase = marker.Phase("wait");
    other.join();
    sum += beside;
  }
  std::printf("%.3f\n", sum);
  return 0;
}
