#pragma once

// A vendor's GPUs: how they are listed and measured through the vendor's library, which device
// files are theirs, and by which variables a process sees them.
//
// All that is particular to a vendor stands behind GpuLibrary, in files of the vendor's own;
// libraries.h lists the vendors. The library is loaded at run time from prototypes of ours: a
// machine without it has none of its GPUs, silently. Thread promise: a GpuLibrary is a constant and
// safe from any thread; List and OpenMeter load a library, from one thread at a time. Invariants:
// what a library refuses becomes a remark and ends no program; a GPU that cannot be named is left
// out, because a job cannot be given it.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "scheduler/model/machine/device_link.h"
#include "scheduler/model/machine/machine.h"
#include "scheduler/model/machine/mig.h"
#include "scheduler/model/value/units.h"
#include "topology/gpu/device_nodes.h"
#include "topology/gpu/gpu_meter.h"

namespace muster::topology {

// What a library says of this machine.
struct GpuListing {
  std::string_view library;       // its name, for remarks
  std::vector<Gpu> gpus;          // in the library's order; numa is kNowhere
  std::vector<DeviceLink> links;  // the pairs of `gpus` that the vendor's own links join
  // Of each GPU, the kernel's number of its NUMA node; empty: this library says none.
  std::vector<std::optional<std::uint32_t>> numa_told;
  std::vector<std::string> remarks;
  std::vector<MigGpu> mig;  // the GPUs that MIG can divide; numa is kNowhere
};

struct GpuVariable {
  std::string name;
  std::string value;
  friend bool operator==(const GpuVariable&, const GpuVariable&) = default;
};

struct GpuFacts {
  GpuVendor vendor;
  std::string_view library;   // its name
  std::string_view variable;  // names another file to load; empty there: no GPUs of this vendor
  std::string_view file;      // what is loaded otherwise, as dlopen(3) looks for it
  std::string_view visible;   // the variable that lists the GPUs that a process sees
  std::string_view link;      // the vendor's word for its links; empty: as nvidia-smi has them
  // Variables that say what a process sees, too: those of a submitter's shell mean other devices.
  std::span<const std::string_view> stale;
};

class GpuLibrary {
 public:
  virtual ~GpuLibrary() = default;
  GpuLibrary(const GpuLibrary&) = delete;
  GpuLibrary& operator=(const GpuLibrary&) = delete;

  [[nodiscard]] virtual const GpuFacts& facts() const = 0;

  // The GPUs that the library `file` lists. A library that is not there is no error; a path (with a
  // slash) that does not load is a remark, because a user asked for it. Empty: no GPUs.
  [[nodiscard]] virtual GpuListing List(const std::string& file) const = 0;

  // Null where `file` is empty, not there, does not start, has no GPU or does not measure.
  [[nodiscard]] virtual std::unique_ptr<GpuMeter> OpenMeter(const std::string& file) const = 0;

  // The device files of the vendor's GPUs. `root` is "/" but in tests.
  [[nodiscard]] virtual std::vector<DeviceNodes> FindDevices(const Machine& machine,
                                                             const std::string& root) const = 0;

  // Whether the vendor's runtime takes the UUID of `gpu` for a name; else its number is one.
  [[nodiscard]] virtual bool TakesUuid(const Gpu& gpu) const = 0;

  // What shows a process on `machine` the GPUs of this vendor that `names` lists, with commas.
  [[nodiscard]] virtual std::vector<GpuVariable> Show(const Machine& machine,
                                                      const std::string& names) const = 0;

  // What holds a process to `share` of the GPU at the position `gpu` of machine.gpus.
  [[nodiscard]] virtual std::vector<GpuVariable> HoldTo(GpuShare share, const Machine& machine,
                                                        std::uint32_t gpu) const = 0;

  // Makes these instances of the GPU with that UUID, in the place of all it has; with none it is
  // whole. As List in all else.
  [[nodiscard]] virtual absl::Status Divide(const std::string& file, const std::string& uuid,
                                            const std::vector<MigInstance>& instances) const;

 protected:
  constexpr GpuLibrary() = default;
};

}  // namespace muster::topology
