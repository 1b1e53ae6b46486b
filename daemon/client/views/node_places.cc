#include "daemon/client/views/node_places.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

namespace muster::daemon {
namespace {

std::vector<std::string> PathTo(const Network& network, const NetworkNode& node) {
  std::vector<std::string> path;
  for (std::uint32_t at = node.leaf; at != kNowhere; at = network.switches[at].parent) {
    path.push_back(network.switches[at].name);
  }
  std::reverse(path.begin(), path.end());
  if (path.empty() && node.block != kNowhere) {
    path.push_back(network.blocks[node.block].name);
  }
  return path;
}

}  // namespace

void AddPlaces(const Network* network, std::vector<NodeView>& nodes) {
  if (network == nullptr) {
    return;
  }
  std::unordered_map<std::string_view, const NetworkNode*> places;
  for (const NetworkNode& node : network->nodes) {
    places.emplace(node.name, &node);
  }
  for (NodeView& node : nodes) {
    if (const auto place = places.find(node.name); place != places.end()) {
      node.topology = PathTo(*network, *place->second);
    }
  }
}

}  // namespace muster::daemon
