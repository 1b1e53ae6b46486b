#include <yaml.h>

#include <charconv>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "topology/network/network_builder.h"
#include "topology/network/slurm_topology.h"

namespace muster::topology {
namespace {

// One document of YAML; its nodes live as long as it does.
class YamlDocument {
 public:
  YamlDocument() = default;
  YamlDocument(const YamlDocument&) = delete;
  YamlDocument& operator=(const YamlDocument&) = delete;
  ~YamlDocument() {
    if (loaded_) {
      yaml_document_delete(&document_);
    }
  }

  absl::Status Load(const std::string& text, const std::string& name) {
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) {
      return absl::ResourceExhaustedError(absl::StrCat(name, ": no memory to read it"));
    }
    const std::unique_ptr<yaml_parser_t, void (*)(yaml_parser_t*)> owner(&parser,
                                                                         yaml_parser_delete);
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    loaded_ = yaml_parser_load(&parser, &document_) != 0;
    if (!loaded_) {
      return absl::InvalidArgumentError(absl::StrCat(
          name, ":", parser.problem_mark.line + 1,
          ": malformed YAML: ", parser.problem == nullptr ? "cannot be read" : parser.problem));
    }
    return absl::OkStatus();
  }

  const yaml_node_t* Root() { return yaml_document_get_root_node(&document_); }
  const yaml_node_t* At(yaml_node_item_t item) { return yaml_document_get_node(&document_, item); }

 private:
  yaml_document_t document_{};
  bool loaded_ = false;
};

std::size_t LineOf(const yaml_node_t& node) {
  return node.start_mark.line + 1;
}

class YamlReader {
 public:
  explicit YamlReader(const std::string& name) : builder_(name), name_(name) {}

  absl::StatusOr<Network> Read(const std::string& text) {
    RETURN_IF_ERROR(document_.Load(text, name_));
    const yaml_node_t* root = document_.Root();
    if (root == nullptr || root->type != YAML_SEQUENCE_NODE) {
      return builder_.ErrorAt(root == nullptr ? 1 : LineOf(*root),
                              "a list of topologies should be here: - topology: NAME");
    }
    ASSIGN_OR_RETURN(const yaml_node_t* chosen, Choose(*root));
    RETURN_IF_ERROR(TakeTopology(*chosen));
    return builder_.Build();
  }

 private:
  struct Pair {
    std::string key;
    const yaml_node_t* value = nullptr;
    std::size_t line = 0;
  };

  absl::StatusOr<std::vector<Pair>> Pairs(const yaml_node_t& node) {
    if (node.type != YAML_MAPPING_NODE) {
      return builder_.ErrorAt(LineOf(node), "a mapping (key: value) should be here");
    }
    std::vector<Pair> pairs;
    for (const yaml_node_pair_t* pair = node.data.mapping.pairs.start;
         pair != node.data.mapping.pairs.top; ++pair) {
      const yaml_node_t* key = document_.At(pair->key);
      ASSIGN_OR_RETURN(const std::string text, Scalar(*key));
      for (const Pair& other : pairs) {
        if (other.key == text) {
          return builder_.ErrorAt(LineOf(*key),
                                  absl::StrCat("key ", EscapeControl(text), " is there twice"));
        }
      }
      pairs.push_back({text, document_.At(pair->value), LineOf(*key)});
    }
    return pairs;
  }

  absl::StatusOr<std::vector<const yaml_node_t*>> Items(const yaml_node_t& node) {
    if (node.type != YAML_SEQUENCE_NODE) {
      return builder_.ErrorAt(LineOf(node), "a list (- …) should be here");
    }
    std::vector<const yaml_node_t*> items;
    for (const yaml_node_item_t* item = node.data.sequence.items.start;
         item != node.data.sequence.items.top; ++item) {
      items.push_back(document_.At(*item));
    }
    return items;
  }

  absl::StatusOr<std::string> Scalar(const yaml_node_t& node) const {
    if (node.type != YAML_SCALAR_NODE) {
      return builder_.ErrorAt(LineOf(node), "one value should be here");
    }
    return std::string(reinterpret_cast<const char*>(node.data.scalar.value),
                       node.data.scalar.length);
  }

  absl::Status Unknown(const Pair& pair, const char* known) const {
    return builder_.ErrorAt(pair.line, absl::StrCat("key \"", EscapeControl(pair.key.substr(0, 60)),
                                                    "\" is not known here: use ", known));
  }

  absl::StatusOr<const yaml_node_t*> Choose(const yaml_node_t& root) {
    ASSIGN_OR_RETURN(const std::vector<const yaml_node_t*> items, Items(root));
    const yaml_node_t* chosen = nullptr;
    bool by_default = false;
    std::vector<std::string> names;
    for (const yaml_node_t* item : items) {
      ASSIGN_OR_RETURN(const std::vector<Pair> pairs, Pairs(*item));
      bool is_default = false;
      names.emplace_back("?");
      for (const Pair& pair : pairs) {
        if (pair.key == "topology") {
          ASSIGN_OR_RETURN(names.back(), Scalar(*pair.value));
        } else if (pair.key == "cluster_default") {
          ASSIGN_OR_RETURN(const std::string text, Scalar(*pair.value));
          is_default = text == "true" || text == "yes";
        }
      }
      if (chosen == nullptr || (is_default && !by_default)) {
        chosen = item;
        by_default = by_default || is_default;
        taken_ = names.back();
      }
    }
    if (chosen == nullptr) {
      return builder_.ErrorAt(LineOf(root), "an empty list of topologies");
    }
    if (items.size() > 1) {
      builder_.AddRemark(absl::StrCat(name_, ": of its ", items.size(), " topologies, ",
                                      EscapeControl(taken_), " is used"));
    }
    return chosen;
  }

  absl::Status TakeTopology(const yaml_node_t& node) {
    ASSIGN_OR_RETURN(const std::vector<Pair> pairs, Pairs(node));
    for (const Pair& pair : pairs) {
      if (pair.key == "tree") {
        RETURN_IF_ERROR(TakeTree(*pair.value));
      } else if (pair.key == "block") {
        RETURN_IF_ERROR(TakeBlocks(*pair.value));
      } else if (pair.key == "flat") {
        return builder_.ErrorAt(pair.line,
                                "a flat topology says nothing of the network: leave the file out");
      } else if (pair.key != "topology" && pair.key != "cluster_default") {
        return Unknown(pair, "topology, cluster_default, tree, block or flat");
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeTree(const yaml_node_t& node) {
    ASSIGN_OR_RETURN(const std::vector<Pair> pairs, Pairs(node));
    for (const Pair& pair : pairs) {
      if (pair.key != "switches") {
        return Unknown(pair, "switches");
      }
      ASSIGN_OR_RETURN(const std::vector<const yaml_node_t*> items, Items(*pair.value));
      for (const yaml_node_t* item : items) {
        RETURN_IF_ERROR(TakeSwitch(*item));
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeSwitch(const yaml_node_t& node) {
    ASSIGN_OR_RETURN(const std::vector<Pair> pairs, Pairs(node));
    SwitchEntry entry;
    entry.line = LineOf(node);
    for (const Pair& pair : pairs) {
      ASSIGN_OR_RETURN(const std::string text, Scalar(*pair.value));
      if (pair.key == "switch") {
        ASSIGN_OR_RETURN(const std::vector<std::string> names, builder_.Names(text, pair.line));
        entry.name = names.front();
      } else if (pair.key == "children") {
        ASSIGN_OR_RETURN(entry.switches, builder_.Names(text, pair.line));
      } else if (pair.key == "nodes") {
        ASSIGN_OR_RETURN(entry.nodes, builder_.Names(text, pair.line));
      } else {
        return Unknown(pair, "switch, children or nodes");
      }
    }
    return entry.name.empty()
               ? builder_.ErrorAt(entry.line, "a switch without a name: - switch: s1")
               : builder_.AddSwitch(std::move(entry));
  }

  absl::Status TakeBlocks(const yaml_node_t& node) {
    ASSIGN_OR_RETURN(const std::vector<Pair> pairs, Pairs(node));
    for (const Pair& pair : pairs) {
      if (pair.key == "block_sizes") {
        RETURN_IF_ERROR(TakeSizes(*pair.value, pair.line));
      } else if (pair.key == "blocks") {
        ASSIGN_OR_RETURN(const std::vector<const yaml_node_t*> items, Items(*pair.value));
        for (const yaml_node_t* item : items) {
          RETURN_IF_ERROR(TakeBlock(*item));
        }
      } else {
        return Unknown(pair, "block_sizes or blocks");
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeSizes(const yaml_node_t& node, std::size_t line) {
    ASSIGN_OR_RETURN(const std::vector<const yaml_node_t*> items, Items(node));
    std::vector<std::uint32_t> sizes;
    for (const yaml_node_t* item : items) {
      ASSIGN_OR_RETURN(const std::string text, Scalar(*item));
      std::uint32_t size = 0;
      const char* end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data(), end, size);
      if (error != std::errc() || stop != end) {
        return builder_.ErrorAt(
            LineOf(*item), absl::StrCat("\"", EscapeControl(text), "\" is no number of nodes"));
      }
      sizes.push_back(size);
    }
    return builder_.SetBlockSizes(sizes, line);
  }

  absl::Status TakeBlock(const yaml_node_t& node) {
    ASSIGN_OR_RETURN(const std::vector<Pair> pairs, Pairs(node));
    GroupEntry entry;
    entry.line = LineOf(node);
    for (const Pair& pair : pairs) {
      ASSIGN_OR_RETURN(const std::string text, Scalar(*pair.value));
      if (pair.key == "block") {
        entry.name = text;
      } else if (pair.key == "nodes") {
        ASSIGN_OR_RETURN(entry.nodes, builder_.Names(text, pair.line));
      } else {
        return Unknown(pair, "block or nodes");
      }
    }
    if (entry.name.empty() || entry.nodes.empty()) {
      return builder_.ErrorAt(entry.line, "a block needs a name and nodes: - block: b1, nodes: …");
    }
    return builder_.AddBlock(entry);
  }

  NetworkBuilder builder_;
  std::string name_;
  std::string taken_;
  YamlDocument document_;
};

}  // namespace

absl::StatusOr<Network> ParseSlurmTopologyYaml(const std::string& text, const std::string& name) {
  return YamlReader(name).Read(text);
}

}  // namespace muster::topology
