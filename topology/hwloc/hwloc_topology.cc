#include "topology/hwloc/hwloc_topology.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"

namespace muster::topology {
namespace {

// While it lives, hwloc writes nothing to stderr: the caller's one-line error says it all. What the
// user set stands, and nothing stays in the environment for children to inherit. (Threads: see the
// header's promise.)
class QuietHwloc {
 public:
  QuietHwloc() : ours_(std::getenv(kName) == nullptr) {  // NOLINT(concurrency-mt-unsafe)
    if (ours_) {
      setenv(kName, "2", 0);  // NOLINT(concurrency-mt-unsafe)
    }
  }
  QuietHwloc(const QuietHwloc&) = delete;
  QuietHwloc& operator=(const QuietHwloc&) = delete;
  ~QuietHwloc() {
    if (ours_) {
      unsetenv(kName);  // NOLINT(concurrency-mt-unsafe)
    }
  }

 private:
  static constexpr const char* kName = "HWLOC_HIDE_ERRORS";
  bool ours_;
};

}  // namespace

HwlocTopology::Handle HwlocTopology::Make(hwloc_type_filter_e devices) {
  hwloc_topology_t raw = nullptr;
  MUSTER_CHECK(hwloc_topology_init(&raw) == 0);
  Handle topology(raw);
  MUSTER_CHECK(hwloc_topology_set_cache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE) == 0);
  MUSTER_CHECK(hwloc_topology_set_type_filter(raw, HWLOC_OBJ_L3CACHE, HWLOC_TYPE_FILTER_KEEP_ALL) ==
               0);
  MUSTER_CHECK(hwloc_topology_set_io_types_filter(raw, devices) == 0);
  return topology;
}

absl::StatusOr<HwlocTopology> HwlocTopology::LoadLive() {
  const QuietHwloc quiet;
  Handle topology = Make(HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  // The first six would wake every GPU, or ask an X server, for names that NVML gives us; "pci"
  // only adds vendors' names to what the kernel tells, and leaks. A component that this hwloc was
  // built without is refused, which is as good.
  for (const char* component : {"opencl", "gl", "cuda", "nvml", "rsmi", "levelzero", "pci"}) {
    hwloc_topology_set_components(topology.get(), HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST,
                                  component);
  }
  if (hwloc_topology_load(topology.get()) != 0) {
    return absl::InternalError(absl::StrCat("cannot read this machine's topology: ",
                                            std::system_category().message(errno)));
  }
  if (hwloc_topology_is_thissystem(topology.get()) == 0) {
    return absl::FailedPreconditionError(
        "HWLOC_XMLFILE, HWLOC_SYNTHETIC or HWLOC_FSROOT in the environment puts another machine "
        "in the place of this one: unset it, or name that machine with --topology");
  }
  return HwlocTopology(std::move(topology));
}

absl::StatusOr<HwlocTopology> HwlocTopology::LoadXml(const std::string& xml,
                                                     const std::string& name) {
  const QuietHwloc quiet;
  Handle topology = Make(HWLOC_TYPE_FILTER_KEEP_ALL);
  const int size = static_cast<int>(xml.size()) + 1;  // hwloc counts the final NUL
  if (hwloc_topology_set_xmlbuffer(topology.get(), xml.c_str(), size) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": malformed hwloc XML: write it again with lstopo --of xml (cut short, perhaps?)"));
  }
  return HwlocTopology(std::move(topology));
}

absl::StatusOr<HwlocTopology> HwlocTopology::LoadSynthetic(const std::string& description) {
  const QuietHwloc quiet;
  Handle topology = Make(HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", description,
                     "\": hwloc does not accept this synthetic topology: write it like "
                     "\"pack:2 numa:2 core:4 pu:2\""));
  }
  return HwlocTopology(std::move(topology));
}

}  // namespace muster::topology
