// forgetful-disk MOUNT_POINT: a disk in memory that forgets what was not synced when its power is
// cut.
//
// Orders come on standard input, a line each, and each is answered by a line: "off" (every call
// waits from now on), "on", and "cut SEED" (what waits fails; the disk comes back with what is
// durable). It unmounts and ends with its input.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "tests/faults/served_disk.h"

namespace muster {
namespace {

// What the thread that reads orders leaves for the one that serves, before it unmounts.
struct Next {
  std::atomic<bool> ended = false;
  std::atomic<std::uint64_t> seed = 0;
};

void Answer(const std::string& text) {
  std::cout << text << std::endl;
}

void TakeOrders(ServedDisk& served, Next& next) {
  constexpr std::string_view kCut = "cut ";
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "off") {
      served.TurnOff();
      Answer("ok");
    } else if (line == "on") {
      served.TurnOn();
      Answer("ok");
    } else if (line.starts_with(kCut)) {
      next.seed = std::strtoull(line.c_str() + kCut.size(), nullptr, 10);
      served.Unmount();  // the other thread answers
    } else {
      Answer("no such order: " + line);
    }
  }
  next.ended = true;
  served.Unmount();
}

int Run(const std::string& mount_point) {
  ServedDisk served(mount_point);
  Next next;
  std::string said = "ok";
  std::optional<std::thread> orders;
  while (!next.ended) {
    const bool mounted = served.Serve([&] {
      Answer(said);
      if (!orders.has_value()) {
        orders.emplace([&] { TakeOrders(served, next); });
      }
    });
    if (!mounted) {
      std::fprintf(stderr, "forgetful-disk: cannot mount on %s\n", mount_point.c_str());
      std::_Exit(1);
    }
    const DiskLoss loss = served.Lose(next.seed);
    said = "ok " + std::to_string(loss.names) + " " + std::to_string(loss.pieces);
  }
  orders->join();
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  if (argc != 2 || argv[1][0] == '-') {
    std::fprintf(stderr, "usage: forgetful-disk MOUNT_POINT\n");
    return 2;
  }
  return muster::Run(argv[1]);
}
