#include "agent/supervisor/image/yaml_document.h"

#include <yaml.h>

#include <cstddef>

#include "absl/strings/numbers.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

using YamlJson = nlohmann::json;

constexpr int kDepthMax = 64;
constexpr std::size_t kNodesMax = 100'000;

// libyaml's parser and document, while they are needed.
class LoadedYaml {
 public:
  explicit LoadedYaml(const std::string& text) {
    parsing_ = yaml_parser_initialize(&parser_) == 1;
    if (parsing_) {
      yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                   text.size());
      loaded_ = yaml_parser_load(&parser_, &document_) == 1;
    }
  }
  LoadedYaml(const LoadedYaml&) = delete;
  LoadedYaml& operator=(const LoadedYaml&) = delete;
  ~LoadedYaml() {
    if (loaded_) {
      yaml_document_delete(&document_);
    }
    if (parsing_) {
      yaml_parser_delete(&parser_);
    }
  }

  absl::StatusOr<YamlJson> Read() {
    const yaml_node_t* const root = loaded_ ? yaml_document_get_root_node(&document_) : nullptr;
    if (root == nullptr) {
      return absl::InvalidArgumentError("it is neither JSON nor YAML");
    }
    return Read(*root, 0);
  }

 private:
  absl::StatusOr<YamlJson> Read(const yaml_node_t& node, int depth) {
    if (depth > kDepthMax || ++nodes_ > kNodesMax) {
      return absl::ResourceExhaustedError("the document is too large");
    }
    if (node.type == YAML_SEQUENCE_NODE) {
      YamlJson list = YamlJson::array();
      for (const auto* each = node.data.sequence.items.start; each < node.data.sequence.items.top;
           ++each) {
        ASSIGN_OR_RETURN(YamlJson value, Read(*At(*each), depth + 1));
        list.push_back(std::move(value));
      }
      return list;
    }
    if (node.type == YAML_MAPPING_NODE) {
      YamlJson object = YamlJson::object();
      for (const auto* each = node.data.mapping.pairs.start; each < node.data.mapping.pairs.top;
           ++each) {
        ASSIGN_OR_RETURN(YamlJson value, Read(*At(each->value), depth + 1));
        object[TextOfNode(*At(each->key))] = std::move(value);
      }
      return object;
    }
    return Scalar(node);
  }

  const yaml_node_t* At(int index) { return yaml_document_get_node(&document_, index); }

  static std::string TextOfNode(const yaml_node_t& node) {
    return node.type == YAML_SCALAR_NODE
               ? std::string(reinterpret_cast<const char*>(node.data.scalar.value),
                             node.data.scalar.length)
               : "";
  }

  static YamlJson Scalar(const yaml_node_t& node) {
    std::string text = TextOfNode(node);
    std::int64_t number = 0;
    if (node.type != YAML_SCALAR_NODE || node.data.scalar.style != YAML_PLAIN_SCALAR_STYLE) {
      return text;
    }
    if (text == "true" || text == "false") {
      return text == "true";
    }
    if (text.empty() || text == "null" || text == "~") {
      return nullptr;
    }
    return absl::SimpleAtoi(text, &number) ? YamlJson(number) : YamlJson(text);
  }

  yaml_parser_t parser_ = {};
  yaml_document_t document_ = {};
  bool parsing_ = false;
  bool loaded_ = false;
  std::size_t nodes_ = 0;
};

}  // namespace

absl::StatusOr<YamlJson> ParseJsonOrYaml(const std::string& text) {
  YamlJson document = YamlJson::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_discarded()) {
    return document;
  }
  return LoadedYaml(text).Read();
}

}  // namespace muster::agent
