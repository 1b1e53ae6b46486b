#include "agent/supervisor/image/runtime_config.h"

#include "absl/strings/match.h"
#include "agent/supervisor/attempt/container_order.h"
#include "nlohmann/json.hpp"

namespace muster::agent {
namespace {

using RuntimeJson = nlohmann::json;

RuntimeJson MountOf(const std::string& source, const std::string& destination,
                    std::vector<std::string> options) {
  return {{"destination", destination},
          {"type", "none"},
          {"source", source},
          {"options", std::move(options)}};
}

// What every container has of its node. Of /proc and /sys only the node's own can be had without
// rights.
RuntimeJson BasicMounts() {
  return RuntimeJson::array({MountOf("/proc", "/proc", {"rbind", "nosuid", "noexec", "nodev"}),
                             MountOf("/sys", "/sys", {"rbind", "ro", "nosuid", "noexec", "nodev"}),
                             {{"destination", "/dev"},
                              {"type", "tmpfs"},
                              {"source", "tmpfs"},
                              {"options", {"nosuid", "strictatime", "mode=755", "size=65536k"}}},
                             MountOf("/dev/pts", "/dev/pts", {"rbind", "nosuid", "noexec"}),
                             MountOf("/dev/shm", "/dev/shm", {"rbind", "nosuid", "nodev"}),
                             MountOf("/tmp", "/tmp", {"rbind", "nosuid", "nodev"})});
}

// A device file that lies on a file system without devices would be none.
RuntimeJson DeviceMount(const std::string& path) {
  return MountOf(path, path, {"bind", "nosuid", "noexec"});
}

RuntimeJson UserMount(const ContainerMount& mount) {
  std::vector<std::string> options = {"rbind", "nosuid", mount.read_only ? "ro" : "rw"};
  if (!absl::StartsWith(mount.source, "/dev/")) {
    options.emplace_back("nodev");
  }
  return MountOf(mount.source, mount.destination, std::move(options));
}

RuntimeJson HooksOf(const std::vector<DeviceHook>& hooks) {
  RuntimeJson document = RuntimeJson::object();
  for (const DeviceHook& hook : hooks) {
    RuntimeJson described = {{"path", hook.program}};
    if (!hook.arguments.empty()) {
      described["args"] = hook.arguments;
    }
    document[hook.when].push_back(std::move(described));
  }
  return document;
}

}  // namespace

std::string RuntimeConfig(const RuntimeParts& parts) {
  RuntimeJson mounts = BasicMounts();
  for (const std::string& device : parts.devices.device_files) {
    mounts.push_back(DeviceMount(device));
  }
  for (const ContainerMount& mount : parts.devices.mounts) {
    mounts.push_back(UserMount(mount));
  }
  for (const char* inside : {kRankInside, kShellInside}) {
    mounts.push_back(MountOf(parts.program, inside, {"bind", "ro", "nosuid", "nodev"}));
  }
  for (const ContainerMount& mount : parts.mounts) {
    mounts.push_back(UserMount(mount));
  }
  const auto mapped = [](std::uint32_t id) {
    return RuntimeJson::array({{{"containerID", id}, {"hostID", 0}, {"size", 1}}});
  };
  RuntimeJson document = {{"ociVersion", "1.0.2"},
                          {"process",
                           {{"terminal", false},
                            {"user", {{"uid", parts.uid}, {"gid", parts.gid}}},
                            {"args", {kRankInside}},
                            {"env", RuntimeJson::array()},
                            {"cwd", "/"},
                            {"noNewPrivileges", true}}},
                          {"root", {{"path", parts.root}, {"readonly", parts.read_only}}},
                          {"mounts", std::move(mounts)},
                          {"linux",
                           {{"uidMappings", mapped(parts.uid)},
                            {"gidMappings", mapped(parts.gid)},
                            {"namespaces", {{{"type", "user"}}, {{"type", "mount"}}}}}}};
  if (!parts.devices.hooks.empty()) {
    document["hooks"] = HooksOf(parts.devices.hooks);
  }
  return document.dump(2, ' ', false, RuntimeJson::error_handler_t::replace);
}

}  // namespace muster::agent
