#include "topology/network/network_toml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "scheduler/runtime/config_file.h"
#include "topology/network/network_builder.h"

namespace muster::topology {
namespace {

constexpr double kMost = 1e15;

struct Unit {
  std::string_view name;
  double factor;
};

// The number before one of the units, times its factor.
template <std::size_t N>
std::optional<std::uint64_t> ParseAmount(std::string_view text, const Unit (&units)[N]) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) {
      continue;
    }
    text.remove_suffix(unit.name.size());
    while (text.ends_with(' ')) {
      text.remove_suffix(1);
    }
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (error != std::errc() || stop != end || !(value > 0) || value * unit.factor > kMost) {
      return std::nullopt;
    }
    const auto rounded = static_cast<std::uint64_t>(std::llround(value * unit.factor));
    return rounded > 0 ? std::optional(rounded) : std::nullopt;
  }
  return std::nullopt;
}

class TomlReader {
 public:
  TomlReader(ConfigFile file, const std::string& name) : file_(std::move(file)), builder_(name) {}

  absl::StatusOr<Network> Read() {
    RETURN_IF_ERROR(TakeSwitches("switch", SwitchKind::kSwitch));
    RETURN_IF_ERROR(TakeSwitches("group", SwitchKind::kGroup));
    RETURN_IF_ERROR(TakeRoot());
    RETURN_IF_ERROR(TakeGroups("nvlink"));
    RETURN_IF_ERROR(TakeBlockSizes());
    RETURN_IF_ERROR(TakeGroups("block"));
    RETURN_IF_ERROR(file_.RefuseUnknownKeys());
    return builder_.Build();
  }

 private:
  // The tables [KIND.NAME] in the order of the file.
  absl::StatusOr<std::vector<std::string>> TablesOf(const std::string& kind) const {
    std::vector<std::pair<std::size_t, std::string>> tables;
    for (const std::string& name : file_.KeysUnder(kind)) {
      if (kind == "block" && name == "sizes") {
        continue;
      }
      const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_';
      });
      if (!plain) {
        return file_.ErrorAt(kind, absl::StrCat("\"", EscapeControl(name),
                                                "\" is no name: use letters, digits, - and _"));
      }
      const std::string key = absl::StrCat(kind, ".", name);
      if (file_.KeysUnder(key).empty()) {
        return file_.ErrorAt(key, absl::StrCat("a table should be here: [", key, "]"));
      }
      tables.emplace_back(file_.LineOf(key), name);
    }
    std::sort(tables.begin(), tables.end());
    std::vector<std::string> names;
    names.reserve(tables.size());
    for (auto& [line, name] : tables) {
      names.push_back(std::move(name));
    }
    return names;
  }

  absl::StatusOr<std::vector<std::string>> NamesAt(const std::string& key) {
    std::string list;
    RETURN_IF_ERROR(file_.ReadString(key, &list));
    if (!file_.Has(key)) {
      return std::vector<std::string>();
    }
    return builder_.Names(list, file_.LineOf(key));
  }

  absl::StatusOr<LinkSpeed> SpeedAt(const std::string& table) {
    LinkSpeed speed;
    std::string text;
    RETURN_IF_ERROR(file_.ReadString(table + ".bandwidth", &text));
    if (!text.empty()) {
      const std::optional<std::uint64_t> bandwidth = ParseBandwidth(text);
      if (!bandwidth.has_value()) {
        return file_.ErrorAt(table + ".bandwidth",
                             "expected a bandwidth such as \"400Gb/s\" or \"50GB/s\"");
      }
      speed.bandwidth = *bandwidth;
    }
    text.clear();
    RETURN_IF_ERROR(file_.ReadString(table + ".latency", &text));
    if (!text.empty()) {
      const std::optional<std::uint64_t> latency = ParseLatency(text);
      if (!latency.has_value()) {
        return file_.ErrorAt(table + ".latency",
                             "expected a latency such as \"600ns\" or \"1.5us\"");
      }
      speed.latency_ns = *latency;
    }
    return speed;
  }

  absl::Status TakeSwitches(const std::string& kind, SwitchKind what) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, TablesOf(kind));
    for (const std::string& name : names) {
      const std::string key = absl::StrCat(kind, ".", name);
      SwitchEntry entry;
      entry.name = name;
      entry.kind = what;
      entry.line = file_.LineOf(key);
      ASSIGN_OR_RETURN(entry.switches, NamesAt(key + ".switches"));
      ASSIGN_OR_RETURN(entry.nodes, NamesAt(key + ".nodes"));
      ASSIGN_OR_RETURN(entry.down, SpeedAt(key));
      RETURN_IF_ERROR(builder_.AddSwitch(std::move(entry)));
      if (what == SwitchKind::kGroup) {
        groups_.push_back(name);
      }
    }
    return absl::OkStatus();
  }

  // Groups are joined all to all: one switch above them stands for that.
  absl::Status TakeRoot() {
    ASSIGN_OR_RETURN(const LinkSpeed speed, SpeedAt("dragonfly"));
    if (groups_.empty()) {
      return file_.Has("dragonfly")
                 ? file_.ErrorAt("dragonfly", "no [group.NAME] is here for it to join")
                 : absl::OkStatus();
    }
    SwitchEntry root;
    root.name = "dragonfly";
    root.kind = SwitchKind::kRoot;
    root.switches = groups_;
    root.down = speed;
    root.line = std::max<std::size_t>(file_.LineOf("dragonfly"), 1);
    return builder_.AddSwitch(std::move(root));
  }

  absl::Status TakeGroups(const std::string& kind) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, TablesOf(kind));
    for (const std::string& name : names) {
      const std::string key = absl::StrCat(kind, ".", name);
      GroupEntry entry;
      entry.name = name;
      entry.line = file_.LineOf(key);
      ASSIGN_OR_RETURN(entry.nodes, NamesAt(key + ".nodes"));
      if (entry.nodes.empty()) {
        return file_.ErrorAt(key, "has no nodes: add nodes = \"n[1-4]\"");
      }
      if (kind == "nvlink") {
        ASSIGN_OR_RETURN(entry.speed, SpeedAt(key));
      }
      RETURN_IF_ERROR(kind == "nvlink" ? builder_.AddDomain(entry) : builder_.AddBlock(entry));
    }
    return absl::OkStatus();
  }

  absl::Status TakeBlockSizes() {
    std::string list;
    RETURN_IF_ERROR(file_.ReadString("block.sizes", &list));
    if (!file_.Has("block.sizes")) {
      return absl::OkStatus();
    }
    std::vector<std::uint32_t> sizes;
    for (const std::string& word : std::vector<std::string>(absl::StrSplit(list, ','))) {
      std::uint32_t size = 0;
      const char* end = word.data() + word.size();
      const auto [stop, error] = std::from_chars(word.data(), end, size);
      if (error != std::errc() || stop != end) {
        return file_.ErrorAt("block.sizes", "expected numbers of nodes such as \"4,8,16\"");
      }
      sizes.push_back(size);
    }
    return builder_.SetBlockSizes(sizes, file_.LineOf("block.sizes"));
  }

  ConfigFile file_;
  NetworkBuilder builder_;
  std::vector<std::string> groups_;
};

}  // namespace

std::optional<std::uint64_t> ParseBandwidth(const std::string& text) {
  static constexpr Unit kUnits[] = {{"GB/s", 1000}, {"MB/s", 1},     {"TB/s", 1e6},
                                    {"Gb/s", 125},  {"Mb/s", 0.125}, {"Tb/s", 125'000}};
  return ParseAmount(text, kUnits);
}

std::optional<std::uint64_t> ParseLatency(const std::string& text) {
  static constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}};
  return ParseAmount(text, kUnits);
}

absl::StatusOr<Network> ParseNetworkToml(const std::string& text, const std::string& name) {
  ASSIGN_OR_RETURN(ConfigFile file, ConfigFile::Parse(text, name));
  return TomlReader(std::move(file), name).Read();
}

}  // namespace muster::topology
