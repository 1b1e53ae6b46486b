#include "cli/images/image_table.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/page/table.h"
#include "cli/page/text.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli {
namespace {

constexpr std::size_t kDigestShown = 12;
constexpr std::size_t kNameLeast = 16;
constexpr std::size_t kNodesLeast = 12;

// One image on all the nodes that have it.
struct ImageRow {
  std::uint64_t size = 0;  // the largest of them
  std::uint64_t all = 0;   // of all together
  Time used = kNoTime;
  bool in_use = false;
  std::vector<std::string> nodes;
};

using RowKey = std::tuple<std::string, std::string, std::string>;  // container, name, digest

RowKey KeyOf(const NodeImage& image) {
  return {image.container, image.name, image.digest};
}

std::map<RowKey, ImageRow> RowsOf(const std::vector<NodeImage>& images) {
  std::map<RowKey, ImageRow> rows;
  for (const NodeImage& image : images) {
    ImageRow& row = rows[KeyOf(image)];
    row.size = std::max(row.size, image.size.value());
    row.all += image.size.value();
    row.used = std::max(row.used, image.used);
    row.in_use = row.in_use || image.in_use;
    row.nodes.push_back(image.node);
  }
  return rows;
}

std::string ShortDigest(const std::string& digest) {
  const std::string scheme = "sha256:";
  return absl::StartsWith(digest, scheme) ? digest.substr(scheme.size(), kDigestShown) : "-";
}

// The digest that it was pinned to has a column of its own.
std::string NameOf(const RowKey& key, bool data) {
  const auto& [container, name, digest] = key;
  if (data) {
    return name.empty() ? "-" : name;
  }
  if (!container.empty()) {
    return absl::StrCat("container ", container);
  }
  return name.empty() ? "-" : name.substr(0, name.find('@'));
}

std::string UsedText(const ImageRow& row, Time now) {
  if (row.in_use) {
    return "in use";
  }
  return row.used == kNoTime
             ? "-"
             : absl::StrCat(ElapsedText(std::max(now - row.used, Duration(0))), " ago");
}

std::string SilentLines(const std::vector<std::string>& silent) {
  std::string lines;
  for (const std::string& each : silent) {
    absl::StrAppend(&lines, Printable(each), "\n");
  }
  return lines;
}

}  // namespace

std::string PrintImages(const ImageTable& images, Time now, const Style& style) {
  Table table({{"IMAGE", false, kNameLeast},
               {"DIGEST"},
               {"SIZE", true},
               {"USED"},
               {"NODES", false, kNodesLeast}});
  for (const auto& [key, row] : RowsOf(images.images)) {
    table.Add({{NameOf(key, /*data=*/false)},
               {ShortDigest(std::get<2>(key))},
               {BytesText(row.size)},
               {UsedText(row, now)},
               {CompressHostlist(row.nodes)}});
  }
  return absl::StrCat(table.Print(style), SilentLines(images.silent));
}

std::string PrintCopies(const ImageTable& copies, Time now, const Style& style) {
  Table table(
      {{"SOURCE", false, kNameLeast}, {"SIZE", true}, {"USED"}, {"NODES", false, kNodesLeast}});
  for (const auto& [key, row] : RowsOf(copies.images)) {
    table.Add({{NameOf(key, /*data=*/true)},
               {BytesText(row.size)},
               {UsedText(row, now)},
               {CompressHostlist(row.nodes)}});
  }
  return absl::StrCat(table.Print(style), SilentLines(copies.silent));
}

std::string PrintPruned(const ImageTable& images, bool data) {
  std::vector<NodeImage> gone;
  std::vector<NodeImage> kept;
  std::partition_copy(images.images.begin(), images.images.end(), std::back_inserter(kept),
                      std::back_inserter(gone), [](const NodeImage& each) { return each.in_use; });
  std::string lines;
  for (const auto& [key, row] : RowsOf(gone)) {
    absl::StrAppend(&lines, Printable(NameOf(key, data)), ": removed from ",
                    Printable(CompressHostlist(row.nodes)), " (", BytesText(row.all), ")\n");
  }
  for (const auto& [key, row] : RowsOf(kept)) {
    absl::StrAppend(&lines, Printable(NameOf(key, data)), ": in use on ",
                    Printable(CompressHostlist(row.nodes)), ", stays\n");
  }
  return absl::StrCat(lines, SilentLines(images.silent));
}

std::vector<NodeImage> ImagesNamed(const std::vector<NodeImage>& images, const std::string& name) {
  std::vector<NodeImage> named;
  std::copy_if(images.begin(), images.end(), std::back_inserter(named),
               [&name](const NodeImage& each) {
                 return each.container.empty() &&
                        (each.name == name || each.name.substr(0, each.name.find('@')) == name);
               });
  return named;
}

}  // namespace muster::cli
