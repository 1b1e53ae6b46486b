#include "daemon/agents/share_book.h"

#include <algorithm>
#include <utility>

#include "scheduler/base/contains.h"

namespace muster::daemon {

bool ShareBook::Knows(const SharedImage& image, SteadyTime now) {
  const auto found = images_.find(image);
  if (found != images_.end() && now - found->second.used > kForgetAfter) {
    images_.erase(found);
    return false;
  }
  return found != images_.end();
}

void ShareBook::Begin(const SharedImage& image, SteadyTime now) {
  if (images_.size() >= kImagesMax) {
    images_.erase(std::min_element(
        images_.begin(), images_.end(),
        [](const auto& a, const auto& b) { return a.second.used < b.second.used; }));
  }
  Nodes nodes;
  nodes.used = now;
  images_[image] = std::move(nodes);
}

bool ShareBook::AddKeepers(const SharedImage& image, const std::vector<NodeId>& keepers) {
  Nodes& nodes = images_.at(image);
  const std::size_t before = nodes.keepers;
  for (const NodeId keeper : keepers) {
    const auto listed = std::find(nodes.list.begin(), nodes.list.end(), keeper);
    const bool is_keeper = listed - nodes.list.begin() < static_cast<std::ptrdiff_t>(nodes.keepers);
    const bool fits = listed != nodes.list.end() || nodes.list.size() < kNodesMax;
    if (is_keeper || !fits || Contains(nodes.dropped, keeper)) {
      continue;
    }
    if (listed != nodes.list.end()) {
      nodes.list.erase(listed);
    }
    nodes.list.insert(nodes.list.begin() + static_cast<std::ptrdiff_t>(nodes.keepers++), keeper);
  }
  return nodes.keepers > before;
}

std::optional<ImageSource> ShareBook::SourceFor(const SharedImage& image, NodeId asker,
                                                SteadyTime now,
                                                const std::function<bool(NodeId)>& is_there) {
  Nodes& nodes = images_.at(image);
  nodes.used = now;
  std::vector<NodeId>& list = nodes.list;
  auto own = std::find(list.begin(), list.end(), asker);
  if (own - list.begin() < static_cast<std::ptrdiff_t>(nodes.keepers)) {
    list.erase(own);  // it kept the image, and does not any more
    --nodes.keepers;
    own = list.end();
  }
  std::erase(nodes.dropped, asker);
  if (own == list.end()) {
    if (list.size() >= kNodesMax) {
      return std::nullopt;
    }
    own = list.insert(list.end(), asker);
  }
  const auto before = static_cast<std::size_t>(own - list.begin());
  const std::size_t roots = std::max<std::size_t>(nodes.keepers, 1);  // the first who asked is one
  if (before == 0) {
    return std::nullopt;
  }
  const std::size_t number = before - std::min(before, roots);
  const std::size_t place =
      number < kTakers * roots ? number % roots : roots + (number - kTakers * roots) / kTakers;
  for (std::size_t i = 0; i < before; ++i) {
    const std::size_t at = (std::min(place, before - 1) + before - i) % before;
    if (is_there(list[at])) {
      return ImageSource{list[at], at < nodes.keepers};
    }
  }
  return std::nullopt;
}

void ShareBook::Drop(const SharedImage& image, NodeId node) {
  const auto found = images_.find(image);
  if (found == images_.end()) {
    return;
  }
  Nodes& nodes = found->second;
  const auto listed = std::find(nodes.list.begin(), nodes.list.end(), node);
  if (listed != nodes.list.end()) {
    nodes.keepers -=
        listed - nodes.list.begin() < static_cast<std::ptrdiff_t>(nodes.keepers) ? 1 : 0;
    nodes.list.erase(listed);
    nodes.dropped.push_back(node);
  }
}

}  // namespace muster::daemon
