#include "agent/supervisor/container/job_devices.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"

namespace muster::agent {
namespace {

constexpr const char* kDeviceDirectories[] = {"/dev", "/dev/dri", "/dev/infiniband",
                                              "/dev/nvidia-caps", "/dev/nvidia-caps-imex-channels"};
constexpr const char* kDriversFiles[] = {"/dev/nvidia", "/dev/kfd", "/dev/dri/renderD"};
constexpr const char* kNetworkFiles[] = {"/dev/infiniband/", "/dev/nvidia-caps-imex-channels/"};

bool BeginsWithOneOf(const std::string& path, const auto& prefixes) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&path](const char* prefix) { return absl::StartsWith(path, prefix); });
}

bool Matches(const topology::DeviceNodes& rule, const DeviceFile& file) {
  return rule.major == file.major && rule.first_minor <= file.minor &&
         file.minor <= rule.last_minor;
}

}  // namespace

std::vector<ContainerGpu> GpusOf(const Machine& machine, const NodeAllocation& part) {
  std::vector<ContainerGpu> gpus;
  for (const GpuGrant& grant : part.gpus) {
    if (grant.gpu < machine.gpus.size()) {
      const Gpu& gpu = machine.gpus[grant.gpu];
      gpus.push_back({gpu.os_index, gpu.uuid});
    }
  }
  return gpus;
}

std::vector<DeviceFile> FindDeviceFiles() {
  namespace fs = std::filesystem;
  std::vector<DeviceFile> files;
  for (const char* directory : kDeviceDirectories) {
    std::error_code error;
    for (fs::directory_iterator each(directory, error), end; !error && each != end;
         each.increment(error)) {
      const std::string path = each->path().string();
      struct stat found = {};
      if ((BeginsWithOneOf(path, kDriversFiles) || BeginsWithOneOf(path, kNetworkFiles)) &&
          lstat(path.c_str(), &found) == 0 && S_ISCHR(found.st_mode)) {
        files.push_back({path, major(found.st_rdev), minor(found.st_rdev)});
      }
    }
  }
  std::sort(files.begin(), files.end(),
            [](const DeviceFile& a, const DeviceFile& b) { return a.path < b.path; });
  return files;
}

std::vector<std::string> FilesOfJob(const std::vector<DeviceFile>& files,
                                    const std::vector<topology::DeviceNodes>& rules,
                                    const std::vector<std::uint32_t>& gpus) {
  std::vector<std::string> paths;
  for (const DeviceFile& file : files) {
    const auto rule =
        std::find_if(rules.begin(), rules.end(),
                     [&file](const topology::DeviceNodes& each) { return Matches(each, file); });
    const bool allowed =
        rule == rules.end()
            ? BeginsWithOneOf(file.path, kNetworkFiles) || !gpus.empty()  // the driver's own
            : std::any_of(rule->gpus.begin(), rule->gpus.end(), [&gpus](std::uint32_t gpu) {
                return std::find(gpus.begin(), gpus.end(), gpu) != gpus.end();
              });
    if (allowed) {
      paths.push_back(file.path);
    }
  }
  return paths;
}

}  // namespace muster::agent
