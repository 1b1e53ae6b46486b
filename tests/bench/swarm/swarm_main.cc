// muster-swarm: light agents that load a controller. Wiring only.
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "proto/convert/through_bytes.h"
#include "scheduler/model/machine/machine.h"
#include "tests/bench/swarm/swarm_agent.h"
#include "tests/bench/swarm/swarm_client.h"
#include "tests/bench/swarm/swarm_clock.h"
#include "tests/bench/swarm/swarm_machine.h"

namespace muster::swarm {
namespace {

volatile std::sig_atomic_t stopped = 0;

struct Options {
  std::string controller;  // "unix:PATH" or "HOST:PORT"
  std::uint32_t agents = 100;
  std::uint32_t cores = 128;
  std::uint32_t gpus = 8;
  std::uint32_t clients = 0;
  std::uint32_t pause = 10;  // seconds between a client's questions
};

bool Read(int argc, char** argv, Options* options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--controller") {
      options->controller = value;
    } else if (name == "--agents"    ? !absl::SimpleAtoi(value, &options->agents)
               : name == "--cores"   ? !absl::SimpleAtoi(value, &options->cores)
               : name == "--gpus"    ? !absl::SimpleAtoi(value, &options->gpus)
               : name == "--clients" ? !absl::SimpleAtoi(value, &options->clients)
               : name == "--pause"   ? !absl::SimpleAtoi(value, &options->pause)
                                     : true) {
      return false;
    }
  }
  return argc % 2 == 1 && !options->controller.empty();
}

void RaiseLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

int Run(const Options& options) {
  SwarmClock clock;
  SwarmCounts counts;
  wire::Registration registration;
  convert::WriteThroughBytes(MakeMachine(options.cores, options.gpus),
                             registration.mutable_machine());
  registration.set_boot_id("swarm");
  std::vector<std::unique_ptr<SwarmAgent>> agents;
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t i = 0; i < options.agents; ++i) {
    registration.set_name(absl::StrFormat("s%05d", i));
    registration.set_hostname(registration.name());
    registration.set_instance(absl::StrCat("swarm-", i));
    agents.push_back(std::make_unique<SwarmAgent>(options.controller, registration, clock, counts));
    agents.back()->Start();
  }
  AnswerTimes times;
  std::vector<std::unique_ptr<SwarmClient>> clients;
  const std::chrono::milliseconds pause = std::chrono::seconds(options.pause);
  for (std::uint32_t i = 0; i < options.clients; ++i) {
    clients.push_back(std::make_unique<SwarmClient>(options.controller, pause, clock, times));
    // Not all at once: they have nothing to do with one another.
    clock.In(pause * i / options.clients, [client = clients.back().get()] { client->Start(); });
  }
  while (stopped == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const double since =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    absl::PrintF(
        "%.1f s registered=%d welcomes=%d lost=%d refused=%d orders=%d ended=%d beats=%d late=%d "
        "answers=%d failed=%d median_ms=%d p99_ms=%d\n",
        since, counts.registered.load(), counts.welcomes.load(), counts.lost_streams.load(),
        counts.refusals.load(), counts.orders.load(), counts.ended.load(), counts.beats.load(),
        counts.late_beats.load(), times.count(), times.failed(), times.Quantile(0.5),
        times.Quantile(0.99));
    std::fflush(stdout);
  }
  clock.Stop();
  // The streams end with the process: taking thousands of them down in order serves nobody.
  std::_Exit(0);
}

}  // namespace
}  // namespace muster::swarm

int main(int argc, char** argv) {
  muster::swarm::Options options;
  if (!muster::swarm::Read(argc, argv, &options)) {
    std::fputs(
        "usage: muster-swarm --controller ADDR [--agents N] [--cores N] [--gpus N]\n"
        "                    [--clients N] [--pause SECONDS]\n"
        "Light agents that register, send heartbeats, and let jobs \"run\" for as long as their\n"
        "scripts sleep, and clients that ask for the queue, each again after a pause. Prints a "
        "line a second; ends on SIGTERM.\n",
        stderr);
    return 2;
  }
  std::signal(SIGTERM, [](int) { muster::swarm::stopped = 1; });
  std::signal(SIGINT, [](int) { muster::swarm::stopped = 1; });
  muster::swarm::RaiseLimit();
  return muster::swarm::Run(options);
}
