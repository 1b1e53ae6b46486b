#pragma once

// Which nodes have an image of a user's, or are about to have it, so that a registry is asked for
// it once.
//
// For each user and digest a list of nodes: those that are known to keep the image, then those
// that asked for it, in that order. Who asks takes it from one that stands before them, four from
// each, so that nobody waits in a circle and a thousand nodes have it after five rounds. Pure.
// Thread promise: one owner. Invariants: (1) at most kImagesMax images, of each kNodesMax nodes;
// (2) what was not asked for within kForgetAfter is forgotten.

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/value/ids.h"

namespace muster::daemon {

struct SharedImage {
  std::uint32_t uid = 0;
  std::string digest;
  friend auto operator<=>(const SharedImage&, const SharedImage&) = default;
};

struct ImageSource {
  NodeId node;
  bool keeps = false;  // it was known to have the image; else it has asked for it, too
};

class ShareBook {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;
  static constexpr std::size_t kImagesMax = 1024;
  static constexpr std::size_t kNodesMax = 16384;
  static constexpr std::size_t kTakers = 4;  // of one node
  static constexpr std::chrono::hours kForgetAfter{2};

  [[nodiscard]] bool Knows(const SharedImage& image, SteadyTime now);
  // Before anybody asks.
  void Begin(const SharedImage& image, SteadyTime now);
  // Nodes that are known to have it, but those that were dropped and have not asked since. Whether
  // one of them was not known before. REQUIRES: the image is known.
  bool AddKeepers(const SharedImage& image, const std::vector<NodeId>& keepers);
  // From which node `asker` takes it; nothing: it is to fetch it. `is_there`: whether a node can
  // give anything now. REQUIRES: the image is known.
  std::optional<ImageSource> SourceFor(const SharedImage& image, NodeId asker, SteadyTime now,
                                       const std::function<bool(NodeId)>& is_there);
  // The node does not have it after all.
  void Drop(const SharedImage& image, NodeId node);

 private:
  struct Nodes {
    std::vector<NodeId> list;
    std::size_t keepers = 0;      // the first of them
    std::vector<NodeId> dropped;  // without those that asked since
    SteadyTime used;
  };

  std::map<SharedImage, Nodes> images_;
};

}  // namespace muster::daemon
