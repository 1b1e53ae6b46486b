#include "cli/slurm/nodes/sinfo_page.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "cli/page/text.h"
#include "cli/slurm/document/envelope.h"
#include "cli/slurm/format/cell.h"
#include "cli/slurm/nodes/node_document.h"
#include "cli/slurm/nodes/node_words.h"

namespace muster::cli::slurm {
namespace {

constexpr std::size_t kFitLeast = 9;

int StateRank(const NodeRow& row) {
  return row.nodes.empty() ? -1 : WordOf(*row.nodes.front()).rank;
}

void SortBy(const std::string& key, const NodeScene& scene, std::vector<NodeRow>& rows) {
  const bool backwards = key[0] == '-';
  const std::size_t at = key.find_first_not_of("+-#");
  const NodeField* field = at == std::string::npos ? nullptr : FindNodeField(key[at]);
  if (field == nullptr || (key[at] == 'P' && key.find('#') != std::string::npos)) {
    return;  // partitions stand in the configuration's order already
  }
  const bool by_state = key[at] == 't' || key[at] == 'T';
  std::stable_sort(rows.begin(), rows.end(), [&](const NodeRow& left, const NodeRow& right) {
    const NodeRow& a = backwards ? right : left;
    const NodeRow& b = backwards ? left : right;
    return by_state ? StateRank(a) < StateRank(b) : field->value(a, scene) < field->value(b, scene);
  });
}

void Sort(const SinfoRequest& request, const NodeScene& scene, std::vector<NodeRow>& rows) {
  const bool whole = request.shape.by_node || request.choice.with_reason;
  if (request.sort.empty()) {
    if (whole) {
      SortBy("N", scene, rows);
      return;
    }
    // Within each partition by state, what does not answer first. All point into one vector.
    std::stable_sort(rows.begin(), rows.end(), [](const NodeRow& a, const NodeRow& b) {
      return a.partition == b.partition ? StateRank(a) > StateRank(b)
                                        : std::less<>()(a.partition, b.partition);
    });
    return;
  }
  for (auto key = request.sort.rbegin(); key != request.sort.rend(); ++key) {
    SortBy(*key, scene, rows);
  }
}

// The columns with their widths.
std::vector<NodeColumn> Fitted(const SinfoRequest& request, const std::vector<NodeRow>& rows,
                               const NodeScene& scene) {
  std::vector<NodeColumn> columns;
  for (const SinfoColumn& one : request.columns) {
    columns.push_back(one.column);
    if (!one.fits) {
      continue;
    }
    std::size_t& width = columns.back().slot.width;
    width = std::max(kFitLeast, std::string_view(one.column.field->title).size());
    for (const NodeRow& row : rows) {
      width = std::max(width, DisplayWidth(one.column.field->value(row, scene)));
    }
  }
  return columns;
}

std::string ReservationPage(const ClusterAnswer& cluster, bool header) {
  std::string page = header ? "RESV_NAME     STATE           START_TIME             END_TIME     "
                              "DURATION  NODELIST\n"
                            : "";
  for (const PolicyView& reservation : cluster.reservations) {
    for (const auto& [text, slot] :
         {std::pair{reservation.name, Slot{.width = 9, .suffix = "  "}},
          std::pair{reservation.state, Slot{.width = 8, .right = true, .suffix = "  "}},
          std::pair{Property(reservation, "StartTime", "Unknown"),
                    Slot{.width = 19, .right = true, .suffix = "  "}},
          std::pair{Property(reservation, "EndTime", "Unknown"),
                    Slot{.width = 19, .right = true, .suffix = "  "}},
          std::pair{Property(reservation, "Duration", "-"),
                    Slot{.width = 11, .right = true, .suffix = "  "}}}) {
      page += InSlot(Harmless(text, ""), slot);
    }
    absl::StrAppend(&page, Property(reservation, "Nodes", "ALL"), "\n");
  }
  return page;
}

}  // namespace

std::string SinfoPage(const SinfoRequest& request, const ClusterAnswer& cluster) {
  if (request.reservations) {
    return ReservationPage(cluster, request.header);
  }
  std::vector<NodeColumn> columns;
  for (const SinfoColumn& one : request.columns) {
    columns.push_back(one.column);
  }
  std::vector<NodeRow> rows = RowsOf(cluster.nodes, cluster.partitions, request.choice,
                                     request.shape, columns, cluster.scene);
  Sort(request, cluster.scene, rows);
  columns = Fitted(request, rows, cluster.scene);
  std::string page;
  if (request.with_date) {
    page =
        absl::StrCat(absl::FormatTime("%a %b %d %H:%M:%S %Y",
                                      absl::FromUnixMillis(cluster.now.time_since_epoch().count()),
                                      cluster.scene.clock.zone()),
                     "\n");
  }
  page += request.header ? TitleLine(request.prefix, columns) : "";
  for (const NodeRow& row : rows) {
    page += ValueLine(request.prefix, columns, row, cluster.scene);
  }
  return page;
}

std::string SinfoDocument(const SinfoRequest& request, const ClusterAnswer& cluster) {
  const NodeField* const partition = FindNodeField("Partition");
  const NodeField* const state = FindNodeField("StateLong");
  RowShape shape = request.shape;
  shape.exact = true;
  Json lines = Json::array();
  for (const NodeRow& row :
       RowsOf(cluster.nodes, cluster.partitions, request.choice, shape,
              {{.field = partition, .slot = {}}, {.field = state, .slot = {}}}, cluster.scene)) {
    lines.push_back(SinfoEntry(*row.partition, row.nodes, cluster.scene.cluster));
  }
  return SlurmDocument("sinfo", std::move(lines), cluster.scene.cluster);
}

}  // namespace muster::cli::slurm
