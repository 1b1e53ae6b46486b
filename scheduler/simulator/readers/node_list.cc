#include "scheduler/simulator/readers/node_list.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/readers/line_reader.h"
#include "scheduler/simulator/readers/number_text.h"
#include "scheduler/simulator/readers/table_formats.h"

namespace muster::sim {
namespace {

constexpr std::size_t kClassesMax = 10'000;
constexpr std::int64_t kValueMax = 1'000'000'000;
constexpr std::int64_t kNodesMax = 10'000'000;

// Columns by meaning; nullptr where a table has none.
struct NodeTable {
  const char* told_by;
  const char* cpus;
  std::int64_t cpus_divisor;
  const char* gpus;
  const char* memory;  // MiB
  const char* model;
  std::array<const char*, 2> count;  // of nodes: their product
};

constexpr std::array<NodeTable, 3> kTables = {{
    {"sn", "cpu_milli", 1000, "gpu", "memory_mib", "model", {}},
    {"gpu_capacity_num", "cpu_num", 1, "gpu_capacity_num", nullptr, "gpu_model", {}},
    {"num_node_p_switch",
     "num_cpu_p_node",
     1,
     "num_gpu_p_node",
     nullptr,
     nullptr,
     {"num_switch", "num_node_p_switch"}},
}};

class Lister {
 public:
  explicit Lister(const std::string& path) : path_(path) {}

  // Which table it is, by its first line.
  bool ReadHeader(std::string_view line) {
    std::vector<std::string_view> names;
    SplitLine(line, ',', &names);
    columns_.assign(names.begin(), names.end());
    for (const NodeTable& table : kTables) {
      if (Has(table.told_by) && Has(table.cpus) && Has(table.gpus)) {
        table_ = &table;
        return true;
      }
    }
    return false;
  }

  absl::Status ReadNode(const Line& line) {
    SplitLine(line.text, ',', &parts_);
    if (line.too_long || parts_.size() != columns_.size()) {
      return Error(line, absl::StrCat(parts_.size(), " columns where the first line names ",
                                      columns_.size(), ": is the file cut off?"));
    }
    TraceNodeClass node;
    node.nodes = 1;
    RETURN_IF_ERROR(Number(line, table_->cpus, &node.cpus));
    RETURN_IF_ERROR(Number(line, table_->gpus, &node.gpus));
    RETURN_IF_ERROR(Number(line, table_->memory, &node.memory_mib));
    for (const char* factor : table_->count) {
      std::int64_t count = 1;
      RETURN_IF_ERROR(Number(line, factor, &count));
      node.nodes *= count;
    }
    node.cpus /= table_->cpus_divisor;
    if (table_->model != nullptr && Has(table_->model)) {
      node.model = std::string(parts_[PlaceOf(table_->model)]);
    }
    return Add(line, node);
  }

  TraceNodes Finish() {
    for (auto& [key, node] : classes_) {
      list_.nodes += node.nodes;
      list_.cpus += node.nodes * node.cpus;
      list_.gpus += node.nodes * node.gpus;
      list_.classes.push_back(node);
    }
    return std::move(list_);
  }

 private:
  using Key = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>;

  [[nodiscard]] std::size_t PlaceOf(const char* column) const {
    return static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), column) -
                                    columns_.begin());
  }
  [[nodiscard]] bool Has(const char* column) const { return PlaceOf(column) < columns_.size(); }

  [[nodiscard]] absl::Status Error(const Line& line, const std::string& what) const {
    return absl::DataLossError(absl::StrCat(path_, ":", line.number, ": ", what));
  }

  absl::Status Number(const Line& line, const char* column, std::int64_t* number) {
    if (column == nullptr || !Has(column)) {
      return absl::OkStatus();
    }
    const std::string_view text = Trimmed(parts_[PlaceOf(column)]);
    if (!ReadWhole(text, number) || *number < 0 || *number > kValueMax) {
      return Error(line, absl::StrCat(column, " is ", Shown(text),
                                      ": write a whole number from 0 to ", kValueMax));
    }
    return absl::OkStatus();
  }

  absl::Status Add(const Line& line, const TraceNodeClass& node) {
    nodes_ += node.nodes;
    if (node.nodes > kNodesMax || nodes_ > kNodesMax) {
      return Error(line, absl::StrCat("more than ", kNodesMax, " nodes: mend the table"));
    }
    const Key key(node.model, node.gpus, node.cpus, node.memory_mib);
    const auto [at, is_new] = classes_.emplace(key, node);
    if (!is_new) {
      at->second.nodes += node.nodes;
    }
    return classes_.size() <= kClassesMax
               ? absl::OkStatus()
               : Error(line, "more than 10000 different kinds of nodes: is this a list of nodes?");
  }

  std::string path_;
  std::vector<std::string> columns_;
  const NodeTable* table_ = nullptr;
  std::vector<std::string_view> parts_;
  std::map<Key, TraceNodeClass> classes_;
  std::int64_t nodes_ = 0;
  TraceNodes list_;
};

}  // namespace

absl::StatusOr<bool> IsNodeList(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  if (source->file_size() == 0) {
    return false;  // What can be read only once is not looked at.
  }
  LineReader lines(std::move(source));
  Line line;
  const absl::StatusOr<bool> any = lines.Next(&line);
  return any.ok() && *any && Lister(path).ReadHeader(line.text);
}

absl::StatusOr<TraceNodes> ReadNodeList(const std::string& path) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, ByteSource::Open(path));
  LineReader lines(std::move(source));
  Lister lister(path);
  Line line;
  ASSIGN_OR_RETURN(bool more, lines.Next(&line));
  if (!more || !lister.ReadHeader(line.text)) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ":1: these are no columns of a known list of nodes: name another file"));
  }
  for (;;) {
    ASSIGN_OR_RETURN(more, lines.Next(&line));
    if (!more) {
      return lister.Finish();
    }
    if (!Trimmed(line.text).empty()) {
      RETURN_IF_ERROR(lister.ReadNode(line));
    }
  }
}

}  // namespace muster::sim
