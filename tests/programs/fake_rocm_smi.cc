// A stand-in for AMD's ROCm SMI on machines without its hardware: the same C entry points, answered
// from a JSON file named by MUSTER_FAKE_ROCM_SMI_JSON.
//
//   {"init": 0, "devices": [{"name": "…", "memory": 206141652992, "unique_id": "a1b2…" (hex),
//                            "pci": [domain, bus, device, function], "partition": 0, "numa": 0,
//                            "xgmi": {"1": [50000, 100000], "2": null}, "error": 0}]}
//
// "xgmi" names the devices that XGMI joins to this one, with the least and the most bandwidth in
// MB/s, or null where it is not told; PCIe joins all others. "used" (bytes), "busy" and
// "memory_busy" (per cent), "power" and "average_power" (microwatts), "energy" (in units of 15.3
// microjoules), "temperatures" ({"1": millidegrees} by sensor) and "errors" ({"1": [corrected,
// uncorrected]} by block) are what a GPU is sampled for. What is not there the library refuses to
// tell. "processes" beside "devices" are those that have a context: [{"pid": 4711, "memory": 5,
// "gpus": [0, 1]}]. "init" and "error" are ROCm SMI's status codes: 0 is success, 2 "not
// supported", 8 "initialization failed". Tests only. Thread promise: one thread.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "nlohmann/json.hpp"

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 1;
constexpr int kNotSupported = 2;
constexpr int kPcie = 1;
constexpr int kXgmi = 2;

std::unique_ptr<nlohmann::json>& Devices() {
  static std::unique_ptr<nlohmann::json> devices;
  return devices;
}

nlohmann::json& Processes() {
  static nlohmann::json processes;
  return processes;
}

// Null where there is no such device, or nobody has called rsmi_init.
const nlohmann::json* Find(std::uint32_t device) {
  return Devices() == nullptr || device >= Devices()->size() ? nullptr : &(*Devices())[device];
}

template <class Number>
int Tell(std::uint32_t device, const char* key, Number* out) {
  const nlohmann::json* found = Find(device);
  if (found == nullptr) {
    return kInvalidArgument;
  }
  if (!found->contains(key)) {
    return kNotSupported;
  }
  *out = found->at(key).get<Number>();
  return kSuccess;
}

}  // namespace

extern "C" {

int rsmi_init(std::uint64_t) {
  const char* path = std::getenv("MUSTER_FAKE_ROCM_SMI_JSON");
  std::ifstream file(path == nullptr ? "" : path);
  const nlohmann::json root = nlohmann::json::parse(file, nullptr, false);
  if (root.is_discarded()) {
    return kInvalidArgument;
  }
  const int status = root.value("init", kSuccess);
  if (status == kSuccess) {
    Devices() = std::make_unique<nlohmann::json>(root.at("devices"));
    Processes() = root.value("processes", nlohmann::json::array());
  }
  return status;
}

int rsmi_shut_down() {
  Devices().reset();
  return kSuccess;
}

struct FakeProcess {
  std::uint32_t pid;
  std::uint32_t pasid;
  std::uint64_t video_memory;
  std::uint64_t sdma_usage;
  std::uint32_t cu_occupancy;
};

int rsmi_compute_process_info_get(FakeProcess* processes, std::uint32_t* count) {
  const std::uint32_t room = *count;
  *count = 0;
  for (const nlohmann::json& process : Processes()) {
    if (*count < room) {
      processes[(*count)++] = {process.value("pid", 0U), 0, process.value("memory", 0ULL), 0, 0};
    }
  }
  return kSuccess;
}

int rsmi_compute_process_gpus_get(std::uint32_t pid, std::uint32_t* devices, std::uint32_t* count) {
  for (const nlohmann::json& process : Processes()) {
    if (process.value("pid", 0U) == pid) {
      *count = 0;
      for (const nlohmann::json& gpu : process.at("gpus")) {
        devices[(*count)++] = gpu.get<std::uint32_t>();
      }
      return kSuccess;
    }
  }
  return kInvalidArgument;
}

int rsmi_status_string(int status, const char** text) {
  *text = status == kNotSupported ? "RSMI_STATUS_NOT_SUPPORTED"
          : status == 8           ? "RSMI_STATUS_INIT_ERROR"
                                  : "RSMI_STATUS_UNKNOWN_ERROR";
  return kSuccess;
}

int rsmi_num_monitor_devices(std::uint32_t* count) {
  if (Devices() == nullptr) {
    return kInvalidArgument;
  }
  *count = static_cast<std::uint32_t>(Devices()->size());
  return kSuccess;
}

int rsmi_dev_name_get(std::uint32_t device, char* out, std::size_t size) {
  const nlohmann::json* found = Find(device);
  if (found == nullptr) {
    return kInvalidArgument;
  }
  std::snprintf(out, size, "%s", found->value("name", "").c_str());
  return found->value("error", kSuccess);
}

int rsmi_dev_memory_total_get(std::uint32_t device, int kind, std::uint64_t* total) {
  return kind == 0 ? Tell(device, "memory", total) : kNotSupported;
}

int rsmi_dev_pci_id_get(std::uint32_t device, std::uint64_t* id) {
  const nlohmann::json* found = Find(device);
  if (found == nullptr) {
    return kInvalidArgument;
  }
  const auto part = [found](std::size_t i) { return found->at("pci").at(i).get<std::uint64_t>(); };
  const auto partition = found->value("partition", std::uint64_t{0});
  *id = part(0) << 32U | partition << 28U | part(1) << 8U | part(2) << 3U | part(3);
  return kSuccess;
}

int rsmi_dev_unique_id_get(std::uint32_t device, std::uint64_t* id) {
  const nlohmann::json* found = Find(device);
  if (found == nullptr || !found->contains("unique_id")) {
    return kNotSupported;
  }
  *id = std::stoull(found->at("unique_id").get<std::string>(), nullptr, 16);
  return kSuccess;
}

int rsmi_dev_partition_id_get(std::uint32_t device, std::uint32_t* partition) {
  return Tell(device, "partition", partition);
}

int rsmi_topo_get_numa_node_number(std::uint32_t device, std::uint32_t* numa) {
  return Tell(device, "numa", numa);
}

int rsmi_topo_get_link_type(std::uint32_t from, std::uint32_t to, std::uint64_t* hops, int* type) {
  const nlohmann::json* found = Find(from);
  if (found == nullptr || Find(to) == nullptr) {
    return kInvalidArgument;
  }
  const bool joined = found->contains("xgmi") && found->at("xgmi").contains(std::to_string(to));
  *hops = joined ? 1 : 2;
  *type = joined ? kXgmi : kPcie;
  return kSuccess;
}

int rsmi_minmax_bandwidth_get(std::uint32_t from, std::uint32_t to, std::uint64_t* least,
                              std::uint64_t* most) {
  const nlohmann::json* found = Find(from);
  if (found == nullptr || !found->contains("xgmi")) {
    return kNotSupported;
  }
  const nlohmann::json told = found->at("xgmi").value(std::to_string(to), nlohmann::json());
  if (!told.is_array()) {
    return kNotSupported;
  }
  *least = told.at(0).get<std::uint64_t>();
  *most = told.at(1).get<std::uint64_t>();
  return kSuccess;
}

int rsmi_dev_memory_usage_get(std::uint32_t device, int kind, std::uint64_t* used) {
  return kind == 0 ? Tell(device, "used", used) : kNotSupported;
}

int rsmi_dev_busy_percent_get(std::uint32_t device, std::uint32_t* percent) {
  return Tell(device, "busy", percent);
}

int rsmi_dev_memory_busy_percent_get(std::uint32_t device, std::uint32_t* percent) {
  return Tell(device, "memory_busy", percent);
}

int rsmi_dev_power_get(std::uint32_t device, std::uint64_t* microwatts, int* kind) {
  *kind = 1;
  return Tell(device, "power", microwatts);
}

int rsmi_dev_power_ave_get(std::uint32_t device, std::uint32_t /*sensor*/,
                           std::uint64_t* microwatts) {
  return Tell(device, "average_power", microwatts);
}

int rsmi_dev_energy_count_get(std::uint32_t device, std::uint64_t* count, float* unit,
                              std::uint64_t* time) {
  *unit = 15.3F;
  *time = 1;
  return Tell(device, "energy", count);
}

int rsmi_dev_temp_metric_get(std::uint32_t device, std::uint32_t sensor, int metric,
                             std::int64_t* thousandths) {
  const nlohmann::json* found = Find(device);
  const std::string name = std::to_string(sensor);
  if (found == nullptr || metric != 0 || !found->contains("temperatures") ||
      !found->at("temperatures").contains(name)) {
    return kNotSupported;
  }
  *thousandths = found->at("temperatures").at(name).get<std::int64_t>();
  return kSuccess;
}

struct FakeErrorCount {
  std::uint64_t corrected;
  std::uint64_t uncorrected;
};

int rsmi_dev_ecc_count_get(std::uint32_t device, std::uint64_t block, FakeErrorCount* count) {
  const nlohmann::json* found = Find(device);
  const std::string name = std::to_string(block);
  if (found == nullptr || !found->contains("errors") || !found->at("errors").contains(name)) {
    return kNotSupported;
  }
  const nlohmann::json& told = found->at("errors").at(name);
  *count = {told.at(0).get<std::uint64_t>(), told.at(1).get<std::uint64_t>()};
  return kSuccess;
}

}  // extern "C"
