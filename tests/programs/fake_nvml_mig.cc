// The part of the stand-in for NVIDIA's management library (fake_nvml.cc) that divides GPUs by MIG.
// It was written from NVIDIA's public header and API reference, and has the profiles and places of
// an H200 in the tests as a real one told them; that real one was never divided by it.
//
// What a call changes stands in the JSON file afterwards, so that other processes see it. Of a
// device:
//
//   "mig": false, "instances": […],       as fake_nvml.cc has them; each that is made here also has
//                                         "gi", "profile", "start", "size" and "compute" (false
//                                         until it has a compute instance, and is not listed)
//   "profiles": [{"id": 19, "name": "1g.18gb", "slices": 1, "instances": 7, "memory_mib": 16384,
//                 "placements": [[0, 1], [1, 1], …]}]
//   "fails": {"mode": 4, "create": 23, "destroy": 19}      what these calls answer instead
//   "needs_reset": true                   turning MIG on or off stays pending
//
// Tests only. Thread promise: one thread, and one process that changes the file.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "nlohmann/json.hpp"

namespace {

using nlohmann::json;

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kInUse = 19;
constexpr int kInsufficientResources = 23;
constexpr int kVersionMismatch = 25;

// A GPU instance, or the compute instance of one.
struct Handle {
  std::string device;
  unsigned int instance = 0;
};

Handle* HandleOf(const std::string& device, unsigned int instance) {
  static std::map<std::pair<std::string, unsigned int>, std::unique_ptr<Handle>> handles;
  std::unique_ptr<Handle>& handle = handles[{device, instance}];
  if (handle == nullptr) {
    handle = std::make_unique<Handle>(Handle{device, instance});
  }
  return handle.get();
}

std::string Path() {
  const char* path = std::getenv("MUSTER_FAKE_NVML_JSON");
  return path == nullptr ? "" : path;
}

json ReadAll() {
  std::ifstream file(Path());
  json root = json::parse(file, nullptr, false);
  return root.is_object() ? root : json{{"devices", json::array()}};
}

json DeviceIn(const json& root, const std::string& uuid) {
  for (const json& device : root.value("devices", json::array())) {
    if (device.value("uuid", "") == uuid) {
      return device;
    }
  }
  return json::object();
}

json ReadDevice(const std::string& uuid) {
  return DeviceIn(ReadAll(), uuid);
}

// Changes the device in the file, unless the change says why not.
int Change(const std::string& uuid, const std::function<int(json& device)>& change) {
  json root = ReadAll();
  for (json& device : root["devices"]) {
    if (device.value("uuid", "") != uuid) {
      continue;
    }
    const int result = change(device);
    if (result == kSuccess) {
      const std::string path = Path();
      std::ofstream(path + ".mig") << root.dump(1);
      std::rename((path + ".mig").c_str(), path.c_str());
    }
    return result;
  }
  return kInvalidArgument;
}

int FailureOf(const json& device, const char* call) {
  return device.value("fails", json::object()).value(call, kSuccess);
}

json ProfileOf(const json& device, unsigned int id) {
  for (const json& profile : device.value("profiles", json::array())) {
    if (profile.value("id", 0U) == id) {
      return profile;
    }
  }
  return json();
}

json InstanceOf(const json& device, unsigned int number) {
  for (const json& instance : device.value("instances", json::array())) {
    if (instance.is_object() && instance.value("gi", 0U) == number) {
      return instance;
    }
  }
  return json();
}

}  // namespace

extern "C" {

int nvmlDeviceGetUUID(void* device, char* out, unsigned int size);

struct FakeProfile {
  unsigned int id;
  unsigned int p2p;
  unsigned int slices;
  unsigned int instances;
  unsigned int others[6];
  unsigned long long memory_mib;
};
struct FakeProfileV2 {
  unsigned int version;
  unsigned int id;
  unsigned int p2p;
  unsigned int slices;
  unsigned int instances;
  unsigned int others[6];
  unsigned long long memory_mib;
  char name[96];
};
struct FakePlacement {
  unsigned int start;
  unsigned int size;
};
struct FakeInstanceInfo {
  void* device;
  unsigned int id;
  unsigned int profile;
  FakePlacement placement;
};
struct FakeComputeProfile {
  unsigned int id;
  unsigned int slices;
  unsigned int instances;
  unsigned int others[6];
};

static std::string UuidOf(void* device) {
  char uuid[96] = "";
  return nvmlDeviceGetUUID(device, uuid, sizeof uuid) == kSuccess ? uuid : "";
}

int nvmlDeviceGetGpuInstanceProfileInfo(void* device, unsigned int index, FakeProfile* info) {
  const json profiles = ReadDevice(UuidOf(device)).value("profiles", json::array());
  if (index >= profiles.size()) {
    return index < 17 ? kNotSupported : kInvalidArgument;
  }
  const json& profile = profiles[index];
  *info = {};
  info->id = profile.at("id").get<unsigned int>();
  info->slices = profile.at("slices").get<unsigned int>();
  info->instances = profile.at("instances").get<unsigned int>();
  info->memory_mib = profile.at("memory_mib").get<unsigned long long>();
  return kSuccess;
}

int nvmlDeviceGetGpuInstanceProfileInfoV(void* device, unsigned int index, FakeProfileV2* info) {
  if (info->version != (sizeof(FakeProfileV2) | (2U << 24))) {
    return kVersionMismatch;
  }
  FakeProfile told{};
  const int result = nvmlDeviceGetGpuInstanceProfileInfo(device, index, &told);
  if (result == kSuccess) {
    const json profile = ReadDevice(UuidOf(device))["profiles"][index];
    info->id = told.id;
    info->slices = told.slices;
    info->instances = told.instances;
    info->memory_mib = told.memory_mib;
    std::snprintf(info->name, sizeof info->name, "MIG %s", profile.value("name", "").c_str());
  }
  return result;
}

int nvmlDeviceGetGpuInstancePossiblePlacements_v2(void* device, unsigned int id,
                                                  FakePlacement* placements, unsigned int* count) {
  const json profile = ProfileOf(ReadDevice(UuidOf(device)), id);
  if (profile.is_null()) {
    return kInvalidArgument;
  }
  *count = 0;
  for (const json& placement : profile.at("placements")) {
    if (placements != nullptr) {
      placements[*count] = {placement[0].get<unsigned int>(), placement[1].get<unsigned int>()};
    }
    ++*count;
  }
  return kSuccess;
}

int nvmlDeviceSetMigMode(void* device, unsigned int mode, int* activation) {
  *activation = kSuccess;
  return Change(UuidOf(device), [mode, activation](json& at) {
    if (const int failure = FailureOf(at, "mode"); failure != kSuccess) {
      return failure;
    }
    if (!at.value("instances", json::array()).empty()) {
      return kInUse;
    }
    if (at.value("needs_reset", false)) {
      *activation = kInUse;
    } else {
      at["mig"] = mode != 0;
    }
    return kSuccess;
  });
}

int nvmlDeviceGetGpuInstances(void* device, unsigned int profile, void** instances,
                              unsigned int* count) {
  const std::string uuid = UuidOf(device);
  *count = 0;
  for (const json& instance : ReadDevice(uuid).value("instances", json::array())) {
    if (instance.is_object() && instance.value("profile", ~0U) == profile) {
      instances[(*count)++] = HandleOf(uuid, instance.at("gi").get<unsigned int>());
    }
  }
  return kSuccess;
}

int nvmlGpuInstanceGetInfo(Handle* handle, FakeInstanceInfo* info) {
  const json instance = InstanceOf(ReadDevice(handle->device), handle->instance);
  if (instance.is_null()) {
    return kInvalidArgument;
  }
  *info = {nullptr,
           handle->instance,
           instance.at("profile").get<unsigned int>(),
           {instance.at("start").get<unsigned int>(), instance.at("size").get<unsigned int>()}};
  return kSuccess;
}

int nvmlDeviceCreateGpuInstanceWithPlacement(void* device, unsigned int id,
                                             const FakePlacement* place, Handle** made) {
  const std::string uuid = UuidOf(device);
  return Change(uuid, [&](json& at) {
    const json profile = ProfileOf(at, id);
    if (const int failure = FailureOf(at, "create"); failure != kSuccess) {
      return failure;
    }
    if (!at.value("mig", false) || profile.is_null()) {
      return kInvalidArgument;
    }
    const json wanted = {place->start, place->size};
    bool is_possible = false;
    for (const json& placement : profile.at("placements")) {
      is_possible = is_possible || placement == wanted;
    }
    unsigned int alike = 0;
    json& instances = at["instances"];
    for (const json& other : instances) {
      const auto start = other.value("start", 0U);
      is_possible = is_possible && (start + other.value("size", 0U) <= place->start ||
                                    place->start + place->size <= start);
      alike += other.value("profile", ~0U) == id ? 1 : 0;
    }
    if (!is_possible || alike >= profile.at("instances").get<unsigned int>()) {
      return kInsufficientResources;
    }
    const unsigned int number = at.value("made", 0U) + 1;
    at["made"] = number;
    const std::string name = profile.at("name").get<std::string>();
    instances.push_back({{"uuid", "MIG-" + uuid + "-" + std::to_string(number)},
                         {"name", at.value("name", "") + " MIG " + name},
                         {"memory", profile.at("memory_mib").get<unsigned long long>() << 20U},
                         {"slices", profile.at("slices")},
                         {"gi", number},
                         {"profile", id},
                         {"start", place->start},
                         {"size", place->size},
                         {"compute", false}});
    *made = HandleOf(uuid, number);
    return kSuccess;
  });
}

int nvmlGpuInstanceDestroy(Handle* handle) {
  return Change(handle->device, [handle](json& at) {
    if (const int failure = FailureOf(at, "destroy"); failure != kSuccess) {
      return failure;
    }
    json& instances = at["instances"];
    for (std::size_t i = 0; i < instances.size(); ++i) {
      if (instances[i].value("gi", 0U) == handle->instance) {
        if (instances[i].value("compute", false)) {
          return kInUse;
        }
        instances.erase(i);
        return kSuccess;
      }
    }
    return kInvalidArgument;
  });
}

int nvmlGpuInstanceGetComputeInstanceProfileInfo(Handle* handle, unsigned int index,
                                                 unsigned int engines, FakeComputeProfile* info) {
  constexpr unsigned int kSlices[] = {1, 2, 3, 4, 7, 8, 6};
  const json instance = InstanceOf(ReadDevice(handle->device), handle->instance);
  if (instance.is_null() || engines != 0 || index >= 7 ||
      kSlices[index] > instance.at("slices").get<unsigned int>()) {
    return kNotSupported;
  }
  *info = {};
  info->id = index;
  info->slices = kSlices[index];
  info->instances = 1;
  return kSuccess;
}

int nvmlGpuInstanceGetComputeInstances(Handle* handle, unsigned int profile, Handle** instances,
                                       unsigned int* count) {
  const json instance = InstanceOf(ReadDevice(handle->device), handle->instance);
  *count = 0;
  if (instance.is_object() && instance.value("compute", false) &&
      instance.value("compute_profile", ~0U) == profile) {
    instances[(*count)++] = handle;
  }
  return kSuccess;
}

static int SetCompute(const Handle& handle, bool compute, unsigned int profile) {
  return Change(handle.device, [&](json& at) {
    for (json& instance : at["instances"]) {
      if (instance.value("gi", 0U) == handle.instance) {
        instance["compute"] = compute;
        instance["compute_profile"] = profile;
        return kSuccess;
      }
    }
    return kInvalidArgument;
  });
}

int nvmlGpuInstanceCreateComputeInstance(Handle* handle, unsigned int profile, Handle** made) {
  *made = handle;
  return SetCompute(*handle, true, profile);
}

int nvmlComputeInstanceDestroy(Handle* handle) {
  return SetCompute(*handle, false, 0);
}

}  // extern "C"
