#include "scheduler/runtime/config_file.h"

// Compiled in, because the packaged library is built to throw; parse errors come back as values.
#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/decimal.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/runtime/file.h"

namespace muster {

struct ConfigFile::Document {
  toml::table root;
};

namespace {

// The text of a string, a whole number or a truth value; false for anything else.
bool ScalarText(const toml::node& node, std::string* text) {
  if (const auto* string = node.as_string()) {
    *text = string->get();
  } else if (const auto* integer = node.as_integer()) {
    *text = absl::StrCat(integer->get());
  } else if (const auto* boolean = node.as_boolean()) {
    *text = boolean->get() ? "true" : "false";
  } else {
    return false;
  }
  return true;
}

// "FILE:LINE: "; without the line of what no file holds.
std::string Place(const std::string& name, std::size_t line) {
  return line == 0 ? absl::StrCat(name, ": ") : absl::StrCat(name, ":", line, ": ");
}

// The table that `path` leads to but for its last name, made where it is not there; null where
// something else is in the way.
toml::table* TableOf(toml::table* table, const std::vector<std::string>& path) {
  for (std::size_t i = 0; i + 1 < path.size() && table != nullptr; ++i) {
    table->insert(path[i], toml::table());  // does nothing to what is there
    table = table->get(path[i])->as_table();
  }
  return table;
}

// Appends the dotted path of every leaf under `table` that is not in `known`, with its line.
void CollectUnknown(const toml::table& table, const std::string& prefix,
                    const std::set<std::string>& known,
                    std::vector<std::pair<uint32_t, std::string>>* unknown) {
  for (const auto& [key, node] : table) {
    const std::string path =
        prefix.empty() ? std::string(key.str()) : absl::StrCat(prefix, ".", std::string(key.str()));
    if (const toml::table* child = node.as_table(); child != nullptr) {
      CollectUnknown(*child, path, known, unknown);
    } else if (known.count(path) == 0) {
      unknown->emplace_back(node.source().begin.line, path);
    }
  }
}

}  // namespace

ConfigFile::ConfigFile(std::string name, std::unique_ptr<Document> document)
    : name_(std::move(name)), document_(std::move(document)) {}
ConfigFile::ConfigFile(ConfigFile&&) noexcept = default;
ConfigFile& ConfigFile::operator=(ConfigFile&&) noexcept = default;
ConfigFile::~ConfigFile() = default;

absl::StatusOr<ConfigFile> ConfigFile::Load(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return Parse(text, path);
}

absl::StatusOr<ConfigFile> ConfigFile::Parse(const std::string& text, const std::string& name) {
  toml::parse_result result = toml::parse(text);
  if (result.failed()) {
    const toml::parse_error& error = result.error();
    return absl::InvalidArgumentError(
        absl::StrCat(name, ":", error.source().begin.line, ": ", std::string(error.description())));
  }
  auto document = std::make_unique<Document>();
  document->root = std::move(result).table();
  return ConfigFile(name, std::move(document));
}

absl::Status ConfigFile::ReadString(const std::string& key, std::string* out) {
  known_.insert(key);
  const auto node = document_->root.at_path(key);
  if (!node) {
    return absl::OkStatus();
  }
  if (!node.is_string()) {
    return ErrorAt(key, "expected a string in quotes");
  }
  *out = node.as_string()->get();
  return absl::OkStatus();
}

absl::Status ConfigFile::ReadInteger(const std::string& key, IntegerRange range, int64_t* out) {
  known_.insert(key);
  const auto node = document_->root.at_path(key);
  if (!node) {
    return absl::OkStatus();
  }
  if (!node.is_integer()) {
    return ErrorAt(key, "expected a whole number");
  }
  const int64_t value = node.as_integer()->get();
  if (value < range.min || value > range.max) {
    return ErrorAt(key, absl::StrCat(value, " is outside ", range.min, " to ", range.max));
  }
  *out = value;
  return absl::OkStatus();
}

absl::Status ConfigFile::ReadBool(const std::string& key, bool* out) {
  known_.insert(key);
  const auto node = document_->root.at_path(key);
  if (!node) {
    return absl::OkStatus();
  }
  if (!node.is_boolean()) {
    return ErrorAt(key, "expected true or false");
  }
  *out = node.as_boolean()->get();
  return absl::OkStatus();
}

absl::Status ConfigFile::ReadStrings(const std::string& key, std::vector<std::string>* out) {
  known_.insert(key);
  const auto node = document_->root.at_path(key);
  if (!node) {
    return absl::OkStatus();
  }
  const toml::array* array = node.as_array();
  if (array == nullptr || !array->is_homogeneous<std::string>()) {
    if (array == nullptr || !array->empty()) {
      return ErrorAt(key, "expected a list of strings, [\"a\", \"b\"]");
    }
  }
  out->clear();
  for (const toml::node& element : *array) {
    out->push_back(element.as_string()->get());
  }
  return absl::OkStatus();
}

absl::Status ConfigFile::ReadText(const std::string& key, std::string* out) {
  known_.insert(key);
  const auto node = document_->root.at_path(key);
  if (!node) {
    return absl::OkStatus();
  }
  std::string text;
  if (ScalarText(*node.node(), &text)) {
    *out = text;
    return absl::OkStatus();
  }
  const toml::array* array = node.as_array();
  if (array == nullptr) {
    return ErrorAt(key, "expected a string, a whole number, true or false, or a list of those");
  }
  std::vector<std::string> parts;
  for (const toml::node& element : *array) {
    if (!ScalarText(element, &text)) {
      return ErrorAt(key, "expected a list of strings or whole numbers");
    }
    parts.push_back(text);
  }
  *out = absl::StrJoin(parts, ",");
  return absl::OkStatus();
}

absl::Status ConfigFile::ReadDuration(const std::string& key, std::chrono::milliseconds* out) {
  std::string text;
  const absl::Status status = ReadString(key, &text);
  const absl::StatusOr<std::chrono::milliseconds> duration = ParseUnits(text);
  if (!Has(key)) {
    return absl::OkStatus();
  }
  if (!status.ok() || !duration.ok()) {
    return ErrorAt(key, "expected a duration such as \"250ms\", \"30s\", \"5m\", \"2h\" or \"7d\"");
  }
  *out = *duration;
  return absl::OkStatus();
}

absl::Status ConfigFile::ReadSize(const std::string& key, std::uint64_t* out) {
  std::string text;
  const absl::Status status = ReadText(key, &text);
  if (!Has(key)) {
    return absl::OkStatus();
  }
  const std::optional<std::uint64_t> size = ParseSize(text, PlainSize::kBytes, UINT64_MAX >> 1);
  if (!status.ok() || !size.has_value()) {
    return ErrorAt(key, "expected a size such as \"512M\", \"20G\" or \"1T\"");
  }
  *out = *size;
  return absl::OkStatus();
}

absl::Status ConfigFile::ReadDecimal(const std::string& key, int decimals, std::uint64_t max,
                                     std::uint64_t* out) {
  known_.insert(key);
  const auto node = document_->root.at_path(key);
  if (!node) {
    return absl::OkStatus();
  }
  std::string text;
  if (const auto* number = node.as_floating_point()) {
    // The shortest text that is this number, which is what the file says.
    std::array<char, 32> written{};
    const auto end = std::to_chars(written.data(), written.data() + written.size(), number->get());
    text.assign(written.data(), end.ptr);
  } else {
    ScalarText(*node.node(), &text);
  }
  const auto value = ParseDecimal(text, decimals, max, Rounding::kRefuse);
  if (!value.has_value()) {
    absl::uint128 whole = max;
    for (int i = 0; i < decimals; ++i) {
      whole /= 10;
    }
    return ErrorAt(key, absl::StrCat("expected a number from 0 to ", absl::Uint128Low64(whole),
                                     ", with at most ", decimals, " decimals"));
  }
  *out = absl::Uint128Low64(*value);
  return absl::OkStatus();
}

bool ConfigFile::Has(const std::string& key) const {
  return static_cast<bool>(document_->root.at_path(key));
}

std::vector<std::string> ConfigFile::KeysUnder(const std::string& key) const {
  const toml::table* table =
      key.empty() ? &document_->root : document_->root.at_path(key).as_table();
  std::vector<std::string> keys;
  if (table != nullptr) {
    for (const auto& entry : *table) {
      keys.emplace_back(entry.first.str());
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

absl::Status ConfigFile::Set(const std::string& key, const std::string& value) {
  const std::vector<std::string> path = absl::StrSplit(key, '.');
  if (std::find(path.begin(), path.end(), "") != path.end()) {
    return absl::InvalidArgumentError(absl::StrCat(key, ": is no path of names with dots between"));
  }
  toml::table* table = TableOf(&document_->root, path);
  if (table == nullptr) {
    return ErrorAt(key, "a part of it is a value and no table");
  }
  const toml::node* old = table->get(path.back());
  if (old != nullptr && old->is_table()) {
    return ErrorAt(key, "is a table: name one of its keys");
  }
  const bool is_quoted = value.size() > 1 && value.front() == '"' && value.back() == '"';
  const bool stays_text = old != nullptr && old->is_string();
  int64_t number = 0;
  if (is_quoted) {
    table->insert_or_assign(path.back(), value.substr(1, value.size() - 2));
  } else if (!stays_text && absl::SimpleAtoi(value, &number)) {
    table->insert_or_assign(path.back(), number);
  } else if (!stays_text && (value == "true" || value == "false")) {
    table->insert_or_assign(path.back(), value == "true");
  } else {
    table->insert_or_assign(path.back(), value);
  }
  return absl::OkStatus();
}

std::size_t ConfigFile::LineOf(const std::string& key) const {
  const auto node = document_->root.at_path(key);
  return node ? node.node()->source().begin.line : 0;
}

absl::Status ConfigFile::ErrorAt(const std::string& key, const std::string& problem) const {
  return absl::InvalidArgumentError(absl::StrCat(Place(name_, LineOf(key)), key, ": ", problem));
}

absl::Status ConfigFile::RefuseUnknownKeys() const {
  std::vector<std::pair<uint32_t, std::string>> unknown;
  CollectUnknown(document_->root, "", known_, &unknown);
  if (unknown.empty()) {
    return absl::OkStatus();
  }
  // The first in the file, whatever order the tree has.
  const auto first = std::min_element(unknown.begin(), unknown.end());
  return absl::InvalidArgumentError(
      absl::StrCat(Place(name_, first->first), first->second, ": unknown key"));
}

}  // namespace muster
