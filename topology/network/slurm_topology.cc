#include "topology/network/slurm_topology.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "topology/network/network_builder.h"

namespace muster::topology {
namespace {

class ConfReader {
 public:
  explicit ConfReader(const std::string& name) : builder_(name) {}

  absl::StatusOr<Network> Read(const std::string& text) {
    std::string pending;
    std::size_t number = 0;
    std::size_t first = 0;
    for (const absl::string_view piece : absl::StrSplit(text, '\n')) {
      ++number;
      std::string line(piece.substr(0, piece.find('#')));
      absl::StripTrailingAsciiWhitespace(&line);
      first = pending.empty() ? number : first;
      const bool goes_on = !line.empty() && line.back() == '\\';
      absl::StrAppend(&pending, pending.empty() ? "" : " ",
                      goes_on ? line.substr(0, line.size() - 1) : line);
      if (!goes_on) {
        RETURN_IF_ERROR(Take(std::exchange(pending, ""), first));
      }
    }
    RETURN_IF_ERROR(Take(pending, first));
    return builder_.Build();
  }

 private:
  using Values = std::map<std::string, std::string>;  // by key in lower case

  absl::Status Take(const std::string& line, std::size_t number) {
    const std::vector<std::string> words =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
    if (words.empty()) {
      return absl::OkStatus();
    }
    Values values;
    for (const std::string& word : words) {
      const std::size_t equals = word.find('=');
      std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
      if (value.size() > 1 && value.front() == '"' && value.back() == '"') {
        value = value.substr(1, value.size() - 2);
      }
      if (value.empty()) {
        return builder_.ErrorAt(
            number, absl::StrCat("\"", EscapeControl(word.substr(0, 60)), "\" is not KEY=VALUE"));
      }
      const std::string key = absl::AsciiStrToLower(word.substr(0, equals));
      if (!values.emplace(key, value).second) {
        return builder_.ErrorAt(
            number, absl::StrCat(EscapeControl(word.substr(0, equals)), " is there twice"));
      }
    }
    return TakeValues(values, number);
  }

  absl::Status TakeValues(Values& values, std::size_t line) {
    if (values.count("switchname") != 0) {
      RETURN_IF_ERROR(CheckKeys(values, {"switchname", "switches", "nodes", "linkspeed"}, line));
      return TakeSwitch(values, line);
    }
    if (values.count("blockname") != 0) {
      RETURN_IF_ERROR(CheckKeys(values, {"blockname", "nodes"}, line));
      if (values.count("nodes") == 0) {
        return builder_.ErrorAt(line, "a block without Nodes");
      }
      GroupEntry entry{values["blockname"], {}, {}, line};
      ASSIGN_OR_RETURN(entry.nodes, builder_.Names(values["nodes"], line));
      return builder_.AddBlock(entry);
    }
    RETURN_IF_ERROR(CheckKeys(values, {"blocksizes"}, line));
    return TakeSizes(values["blocksizes"], line);
  }

  absl::Status TakeSwitch(Values& values, std::size_t line) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names,
                     builder_.Names(values["switchname"], line));
    if (names.size() != 1) {
      return builder_.ErrorAt(line, "one line describes one switch");
    }
    SwitchEntry entry;
    entry.name = names.front();
    entry.line = line;
    if (values.count("switches") != 0) {
      ASSIGN_OR_RETURN(entry.switches, builder_.Names(values["switches"], line));
    }
    if (values.count("nodes") != 0) {
      ASSIGN_OR_RETURN(entry.nodes, builder_.Names(values["nodes"], line));
    }
    return builder_.AddSwitch(std::move(entry));
  }

  absl::Status TakeSizes(const std::string& list, std::size_t line) {
    std::vector<std::uint32_t> sizes;
    for (const std::string& word : std::vector<std::string>(absl::StrSplit(list, ','))) {
      std::uint32_t size = 0;
      const char* end = word.data() + word.size();
      const auto [stop, error] = std::from_chars(word.data(), end, size);
      if (error != std::errc() || stop != end) {
        return builder_.ErrorAt(
            line, absl::StrCat("BlockSizes: \"", EscapeControl(word), "\" is no number of nodes"));
      }
      sizes.push_back(size);
    }
    return builder_.SetBlockSizes(sizes, line);
  }

  absl::Status CheckKeys(const Values& values, const std::vector<std::string>& known,
                         std::size_t line) const {
    for (const auto& entry : values) {
      if (std::find(known.begin(), known.end(), entry.first) == known.end()) {
        return builder_.ErrorAt(
            line, absl::StrCat("key \"", EscapeControl(entry.first.substr(0, 60)),
                               "\" is not known here: use SwitchName with Switches or Nodes, "
                               "BlockName with Nodes, or BlockSizes"));
      }
    }
    return absl::OkStatus();
  }

  NetworkBuilder builder_;
};

}  // namespace

absl::StatusOr<Network> ParseSlurmTopology(const std::string& text, const std::string& name) {
  return ConfReader(name).Read(text);
}

}  // namespace muster::topology
