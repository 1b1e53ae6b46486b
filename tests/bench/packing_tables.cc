#include "tests/bench/packing_tables.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/simulator/readers/byte_source.h"
#include "scheduler/simulator/readers/line_reader.h"
#include "scheduler/simulator/readers/number_text.h"

namespace muster::bench {
namespace {

constexpr std::int64_t kAmountMax = 1'000'000'000;
constexpr std::int64_t kGpusMax = 64;
constexpr std::size_t kModelsMax = 64;
constexpr std::int64_t kWhole = 1000;

// The parts of `text` between separators, as text of their own: a line goes with the next.
std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// A table with names in its first line, row by row.
class Table {
 public:
  // `optional` columns come after `columns`, and are empty in each row where the table lacks them.
  static absl::StatusOr<Table> Open(const std::string& path,
                                    const std::vector<std::string>& columns,
                                    const std::vector<std::string>& optional = {}) {
    ASSIGN_OR_RETURN(std::unique_ptr<sim::ByteSource> source, sim::ByteSource::Open(path));
    Table table(path, std::move(source));
    ASSIGN_OR_RETURN(const bool any, table.Next());
    if (!any) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": empty"));
    }
    for (const std::string& column : columns) {
      const auto found = std::find(table.cells_.begin(), table.cells_.end(), column);
      if (found == table.cells_.end()) {
        return table.Error(absl::StrCat("no column ", column));
      }
      table.at_.push_back(static_cast<std::size_t>(found - table.cells_.begin()));
    }
    table.width_ = table.cells_.size();
    for (const std::string& column : optional) {
      const auto found = std::find(table.cells_.begin(), table.cells_.end(), column);
      table.at_.push_back(static_cast<std::size_t>(found - table.cells_.begin()));
    }
    return table;
  }

  absl::StatusOr<bool> Next() {
    sim::Line line;
    ASSIGN_OR_RETURN(const bool any, lines_->Next(&line));
    if (!any) {
      return false;
    }
    number_ = line.number;
    if (line.too_long) {
      return Error("line too long");
    }
    cells_ = Split(sim::Trimmed(line.text), ',');
    if (width_ > 0 && cells_.size() != width_) {
      return Error(absl::StrCat(cells_.size(), " columns where the first line has ", width_));
    }
    return true;
  }

  [[nodiscard]] std::string Text(std::size_t column) const {
    return at_[column] < cells_.size() ? cells_[at_[column]] : "";
  }

  // A whole number from 0 to `most`; an empty cell is 0.
  [[nodiscard]] absl::StatusOr<std::int64_t> Number(std::size_t column, std::int64_t most) const {
    const std::string text = Text(column);
    std::int64_t number = 0;
    if (text.empty() || (sim::ReadWhole(text, &number) && number >= 0 && number <= most)) {
      return number;
    }
    return Error(absl::StrCat(sim::Shown(text), " is not a number from 0 to ", most));
  }

  [[nodiscard]] absl::Status Error(const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat(path_, ":", number_, ": ", what));
  }

 private:
  Table(std::string path, std::unique_ptr<sim::ByteSource> source)
      : path_(std::move(path)), lines_(std::make_unique<sim::LineReader>(std::move(source))) {}

  std::string path_;
  std::unique_ptr<sim::LineReader> lines_;
  std::uint64_t number_ = 0;
  std::size_t width_ = 0;
  std::vector<std::string> cells_;
  std::vector<std::size_t> at_;
};

using Models = std::map<std::string, std::uint32_t>;

absl::Status ReadNodes(const std::string& path, PackingCluster& cluster, Models& models) {
  ASSIGN_OR_RETURN(Table table,
                   Table::Open(path, {"sn", "cpu_milli", "memory_mib", "gpu", "model"}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool any, table.Next());
    if (!any) {
      break;
    }
    PackingNode node;
    node.name = table.Text(0);
    ASSIGN_OR_RETURN(const std::int64_t cpu, table.Number(1, kAmountMax));
    ASSIGN_OR_RETURN(const std::int64_t memory, table.Number(2, kAmountMax));
    ASSIGN_OR_RETURN(const std::int64_t gpus, table.Number(3, kGpusMax));
    if (gpus == 0) {
      continue;
    }
    node.room.cpu_milli = static_cast<std::uint32_t>(cpu);
    node.memory_mib = static_cast<std::uint64_t>(memory);
    node.room.gpus.assign(static_cast<std::size_t>(gpus), kWhole);
    node.room.model =
        models.emplace(table.Text(4), static_cast<std::uint32_t>(models.size())).first->second;
    if (models.size() > kModelsMax) {
      return table.Error(absl::StrCat("more than ", kModelsMax, " GPU models"));
    }
    cluster.nodes.push_back(std::move(node));
  }
  if (cluster.nodes.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": no node has a GPU"));
  }
  std::sort(cluster.nodes.begin(), cluster.nodes.end(),
            [](const PackingNode& a, const PackingNode& b) { return a.name < b.name; });
  return absl::OkStatus();
}

// A model that no node has will never do.
std::uint64_t ModelsOf(const std::string& spec, const Models& models) {
  if (spec.empty()) {
    return ~0ULL;
  }
  std::uint64_t mask = 0;
  for (const std::string& model : Split(spec, '|')) {
    const auto found = models.find(model);
    mask |= found == models.end() ? 0 : std::uint64_t{1} << found->second;
  }
  return mask;
}

absl::Status ReadPods(const std::string& path, const Models& models, PackingCluster& cluster) {
  ASSIGN_OR_RETURN(
      Table table,
      Table::Open(path, {"cpu_milli", "memory_mib", "num_gpu", "gpu_milli"}, {"gpu_spec"}));
  for (;;) {
    ASSIGN_OR_RETURN(const bool any, table.Next());
    if (!any) {
      return absl::OkStatus();
    }
    PackingPod pod;
    ASSIGN_OR_RETURN(const std::int64_t cpu, table.Number(0, kAmountMax));
    ASSIGN_OR_RETURN(const std::int64_t memory, table.Number(1, kAmountMax));
    ASSIGN_OR_RETURN(const std::int64_t gpus, table.Number(2, kGpusMax));
    ASSIGN_OR_RETURN(const std::int64_t milli, table.Number(3, kWhole));
    if (gpus > 1 && milli != kWhole) {
      return table.Error("several GPUs are whole ones: gpu_milli is 1000");
    }
    pod.job.cpu_milli = static_cast<std::uint32_t>(cpu);
    pod.memory_mib = static_cast<std::uint64_t>(memory);
    pod.job.gpus = static_cast<std::uint32_t>(gpus);
    pod.job.gpu_milli = gpus == 0 ? 0 : static_cast<std::uint32_t>(milli);
    pod.job.models = ModelsOf(table.Text(4), models);
    cluster.pods.push_back(pod);
  }
}

}  // namespace

absl::StatusOr<PackingCluster> ReadPackingCluster(const std::string& nodes,
                                                  const std::string& pods) {
  PackingCluster cluster;
  Models models;
  RETURN_IF_ERROR(ReadNodes(nodes, cluster, models));
  RETURN_IF_ERROR(ReadPods(pods, models, cluster));
  return cluster;
}

}  // namespace muster::bench
