#pragma once

// Sole owner of one loaded hwloc topology, from the three sources that hwloc knows.
//
// Every loader keeps what Machine needs (packages, NUMA nodes, L3 caches, cores, threads, PCI and
// operating-system devices) and drops the rest. Errors are one line that names the source; hwloc
// itself is kept from writing to stderr.
// Thread promise: loading touches the environment (HWLOC_HIDE_ERRORS), so load from one thread
// while no other reads the environment; a loaded topology may be read by one thread at a time.
// Invariant: get() is a loaded topology.

#include <hwloc.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace muster::topology {

class HwlocTopology {
 public:
  // The machine we run on, restricted to what its control group allows. FailedPrecondition when
  // hwloc's own environment variables put another machine in its place.
  static absl::StatusOr<HwlocTopology> LoadLive();

  // `xml` is the content of the file `name`, in hwloc's schema 1 or 2.
  static absl::StatusOr<HwlocTopology> LoadXml(const std::string& xml, const std::string& name);

  // `description` as in "pack:2 numa:2 core:4 pu:2".
  static absl::StatusOr<HwlocTopology> LoadSynthetic(const std::string& description);

  hwloc_topology_t get() const { return topology_.get(); }

 private:
  struct Destroy {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
  };
  using Handle = std::unique_ptr<hwloc_topology, Destroy>;

  explicit HwlocTopology(Handle topology) : topology_(std::move(topology)) {}
  static Handle Make(hwloc_type_filter_e devices);

  Handle topology_;
};

}  // namespace muster::topology
