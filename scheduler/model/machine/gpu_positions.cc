#include "scheduler/model/machine/gpu_positions.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace muster {
namespace {

void SortLinks(std::vector<DeviceLink>& links) {
  std::sort(links.begin(), links.end(), [](const DeviceLink& x, const DeviceLink& y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  });
}

// Where each GPU goes.
std::vector<std::uint32_t> Places(const std::vector<std::string>& before, const Machine& machine) {
  const std::size_t count = machine.gpus.size();
  std::map<std::string, std::uint32_t> wanted;
  for (std::uint32_t i = 0; i < before.size() && i < count; ++i) {
    wanted.emplace(before[i], i);
  }
  std::vector<std::uint32_t> places(count, kNowhere);
  std::vector<bool> taken(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = wanted.find(machine.gpus[i].uuid);
    if (place != wanted.end() && !taken[place->second]) {
      places[i] = place->second;
      taken[place->second] = true;
    }
  }
  std::uint32_t next = 0;
  for (std::uint32_t& place : places) {
    if (place == kNowhere) {
      while (taken[next]) {
        ++next;
      }
      place = next++;
    }
  }
  return places;
}

}  // namespace

std::vector<std::string> GpuOrder(const Machine& machine) {
  std::vector<std::string> order;
  order.reserve(machine.gpus.size());
  for (const Gpu& gpu : machine.gpus) {
    order.push_back(gpu.uuid);
  }
  return order;
}

void KeepGpuPositions(const std::vector<std::string>& before, Machine& machine) {
  const std::vector<std::uint32_t> places = Places(before, machine);
  std::vector<Gpu> gpus(machine.gpus.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    gpus[places[i]] = std::move(machine.gpus[i]);
  }
  machine.gpus = std::move(gpus);
  for (DeviceLink& link : machine.gpu_links) {
    std::tie(link.a, link.b) = std::minmax({places[link.a], places[link.b]});
  }
  for (DeviceLink& link : machine.nic_links) {
    link.a = places[link.a];
  }
  SortLinks(machine.gpu_links);
  SortLinks(machine.nic_links);
}

}  // namespace muster
