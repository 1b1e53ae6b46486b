#pragma once

// What clients ask of the images and copies of data that nodes keep, and which of them are to go:
// the caller's own, or for operators those of one user.
//
// How they are written: job_questions.h.

#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

// An image that a node has unpacked, the files of a named container, or a copy of data.
struct NodeImage {
  std::string node;
  std::string name;       // by which it was fetched; of data their source
  std::string digest;     // "sha256:…", or a file's mark; of a container its image's
  std::string container;  // its name; empty: it is an image
  std::string architecture;
  Bytes size;           // of its files; of a container those that it changed
  Time used = kNoTime;  // last, when nothing uses it
  bool in_use = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &NodeImage::node}, Field{"name", &NodeImage::name},
                Field{"digest", &NodeImage::digest}, Field{"container", &NodeImage::container},
                Field{"architecture", &NodeImage::architecture}, Field{"size", &NodeImage::size},
                Field{"used", &NodeImage::used}, Field{"in_use", &NodeImage::in_use});
  }
  friend bool operator==(const NodeImage&, const NodeImage&) = default;
};

// By node; of a removal those that were meant: one that is in use stayed.
struct ImageTable {
  std::vector<NodeImage> images;
  std::vector<std::string> silent;  // nodes that did not answer, and why
  static constexpr auto Fields(auto list) {
    return list(Field{"images", &ImageTable::images}, Field{"silent", &ImageTable::silent});
  }
};

struct ListImages {
  std::vector<std::string> nodes = {};  // empty: all that run containers, or make copies
  bool data = false;                    // copies of data (--stage-in-node) in the place of images
  std::string user = {};                // whose, by an operator; empty: one's own

  static constexpr const char* kMethod = "ListImages";
  static constexpr bool kNow = true;
  using Reply = ImageTable;
  static constexpr auto Fields(auto list) {
    return list(Field{"nodes", &ListImages::nodes}, Field{"data", &ListImages::data},
                Field{"user", &ListImages::user});
  }
};

// Takes images away that were named, or all, or those that were not used for a while; containers by
// their names alone.
struct PruneImages {
  std::vector<std::string> nodes = {};   // empty: all that run containers, or make copies
  std::vector<std::string> images = {};  // of data: sources
  std::vector<std::string> containers = {};
  bool all = false;
  Duration unused_for{0};
  bool data = false;      // copies of data in the place of images
  std::string user = {};  // whose, by an operator; empty: one's own

  static constexpr const char* kMethod = "PruneImages";
  static constexpr bool kNow = true;
  using Reply = ImageTable;
  static constexpr auto Fields(auto list) {
    return list(Field{"nodes", &PruneImages::nodes}, Field{"images", &PruneImages::images},
                Field{"containers", &PruneImages::containers}, Field{"all", &PruneImages::all},
                Field{"unused_for", &PruneImages::unused_for}, Field{"data", &PruneImages::data},
                Field{"user", &PruneImages::user});
  }
};

}  // namespace muster
