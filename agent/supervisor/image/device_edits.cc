#include "agent/supervisor/image/device_edits.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/supervisor/image/yaml_document.h"
#include "nlohmann/json.hpp"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

using CdiJson = nlohmann::json;

constexpr std::size_t kDescriptionBytesMax = std::size_t{4} << 20;
constexpr const char* kDriverLibraries[] = {"libcuda.so", "libcudadebugger.so", "libnvidia-",
                                            "libnvcuvid.so", "libnvoptix.so"};
#if defined(__aarch64__)
constexpr const char* kOwnLibraries = "AArch64";
#else
constexpr const char* kOwnLibraries = "x86-64";
#endif

bool IsReadOnly(const CdiJson& mount) {
  const std::vector<std::string> options = mount.value("options", std::vector<std::string>());
  return std::find(options.begin(), options.end(), "ro") != options.end();
}

// Of one device, or of all. Throws what nlohmann throws.
void AddEdits(const CdiJson& described, DeviceEdits* edits) {
  const CdiJson parts = described.value("containerEdits", CdiJson::object());
  for (const CdiJson& variable : parts.value("env", CdiJson::array())) {
    edits->environment.push_back(variable.get<std::string>());
  }
  for (const CdiJson& node : parts.value("deviceNodes", CdiJson::array())) {
    const std::string path = node.at("path").get<std::string>();
    edits->device_files.push_back(node.value("hostPath", path));
  }
  for (const CdiJson& mount : parts.value("mounts", CdiJson::array())) {
    edits->mounts.push_back({mount.at("hostPath").get<std::string>(),
                             mount.at("containerPath").get<std::string>(), IsReadOnly(mount)});
  }
  for (const CdiJson& hook : parts.value("hooks", CdiJson::array())) {
    edits->hooks.push_back({hook.at("hookName").get<std::string>(),
                            hook.at("path").get<std::string>(),
                            hook.value("args", std::vector<std::string>())});
  }
}

void DropRepeated(DeviceEdits* edits) {
  std::vector<std::string> files;
  for (std::string& file : edits->device_files) {
    if (std::find(files.begin(), files.end(), file) == files.end()) {
      files.push_back(std::move(file));
    }
  }
  edits->device_files = std::move(files);
}

const CdiJson* FindDevice(const CdiJson& devices, const ContainerGpu& gpu) {
  for (const CdiJson& device : devices) {
    const std::string name = device.value("name", std::string());
    if (!name.empty() && (name == gpu.uuid || name == absl::StrCat(gpu.index))) {
      return &device;
    }
  }
  return nullptr;
}

bool IsDriverLibrary(const std::string& name) {
  return !absl::StartsWith(name, "libnvidia-container") &&
         std::any_of(std::begin(kDriverLibraries), std::end(kDriverLibraries),
                     [&name](const char* prefix) { return absl::StartsWith(name, prefix); });
}

}  // namespace

absl::StatusOr<DeviceEdits> EditsFrom(const std::string& description,
                                      const std::vector<ContainerGpu>& gpus) {
  ASSIGN_OR_RETURN(const CdiJson document, ParseJsonOrYaml(description));
  DeviceEdits edits;
  try {
    const CdiJson& devices = document.at("devices");
    for (const ContainerGpu& gpu : gpus) {
      const CdiJson* const device = FindDevice(devices, gpu);
      if (device == nullptr) {
        return absl::NotFoundError(absl::StrCat("it describes no device ", gpu.uuid));
      }
      AddEdits(*device, &edits);
    }
    AddEdits(document, &edits);
  } catch (const CdiJson::exception&) {
    return absl::InvalidArgumentError("it is no description of devices");
  }
  DropRepeated(&edits);
  return edits;
}

std::vector<std::string> ReadDescriptions(const std::vector<std::string>& directories) {
  namespace fs = std::filesystem;
  std::vector<std::string> texts;
  for (const std::string& directory : directories) {
    std::vector<std::string> paths;
    std::error_code error;
    for (fs::directory_iterator each(directory, error), end; !error && each != end;
         each.increment(error)) {
      const std::string path = each->path().string();
      if (absl::EndsWith(path, ".json") || absl::EndsWith(path, ".yaml")) {
        paths.push_back(path);
      }
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      absl::StatusOr<std::string> text = ReadFile(path, kDescriptionBytesMax);
      if (text.ok()) {
        texts.push_back(*std::move(text));
      }
    }
  }
  return texts;
}

DeviceEdits EditsFromDriver(std::string_view listed, const std::vector<std::string>& tools) {
  DeviceEdits edits;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(std::string(listed), '\n'))) {
    // "	libcuda.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libcuda.so.1"
    const std::vector<std::string> sides = absl::StrSplit(line, " => ");
    const std::size_t begin = line.find_first_not_of(" \t");
    if (sides.size() != 2 || begin == std::string::npos ||
        !absl::StrContains(line, kOwnLibraries)) {
      continue;
    }
    const std::string name = line.substr(begin, line.find(' ', begin) - begin);
    if (IsDriverLibrary(name)) {
      edits.mounts.push_back({sides[1], absl::StrCat(kDriverDirectory, "/lib64/", name), true});
    }
  }
  for (const std::string& tool : tools) {
    const std::string name = std::filesystem::path(tool).filename().string();
    edits.mounts.push_back({tool, absl::StrCat(kDriverDirectory, "/bin/", name), true});
  }
  return edits;
}

}  // namespace muster::agent
