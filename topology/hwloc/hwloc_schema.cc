#include "topology/hwloc/hwloc_schema.h"

#include <charconv>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace muster::topology {
namespace {

struct DeviceKind {
  std::uint32_t bit;    // in schema 3
  std::string_view v2;  // in schema 2
};

// A device of several kinds is known by the first of these that it has: an InfiniBand port is also
// a network device, a compute GPU also a display.
constexpr DeviceKind kDeviceKinds[] = {
    {32, "3"},  // OpenFabrics
    {16, "2"},  // network
    {8, "5"},   // co-processor
    {4, "1"},   // GPU
    {64, "4"},  // DMA
    {1, "0"},   // storage
    {2, "0"},   // memory
};

// The span of the value of `attribute`, or an empty one at npos, in xml[from, to).
struct Span {
  std::size_t begin = std::string::npos;
  std::size_t size = 0;
};

Span FindAttribute(std::string_view xml, std::string_view attribute, std::size_t from,
                   std::size_t to) {
  const std::string key = absl::StrCat(" ", std::string(attribute), "=");
  const std::size_t at = xml.substr(0, to).find(key, from);
  if (at == std::string_view::npos || at + key.size() >= to) {
    return {};
  }
  const char quote = xml[at + key.size()];
  const std::size_t begin = at + key.size() + 1;
  const std::size_t end = xml.substr(0, to).find(quote, begin);
  if ((quote != '"' && quote != '\'') || end == std::string_view::npos) {
    return {};
  }
  return {begin, end - begin};
}

std::uint32_t Number(std::string_view text) {
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string RewriteDeviceKinds(std::string_view xml) {
  std::string out;
  out.reserve(xml.size());
  std::size_t done = 0;
  for (Span span = FindAttribute(xml, "osdev_type", 0, xml.size()); span.begin != std::string::npos;
       span = FindAttribute(xml, "osdev_type", done, xml.size())) {
    out.append(xml.substr(done, span.begin - done));
    const std::uint32_t bits = Number(xml.substr(span.begin, span.size));
    std::string_view kind = "0";
    for (const DeviceKind& candidate : kDeviceKinds) {
      if ((bits & candidate.bit) != 0) {
        kind = candidate.v2;
        break;
      }
    }
    out.append(kind);
    done = span.begin + span.size;
  }
  out.append(xml.substr(done));
  return out;
}

}  // namespace

absl::StatusOr<std::string> ToHwloc2Schema(std::string xml, const std::string& name) {
  const std::size_t tag = xml.find("<topology");
  const std::size_t tag_end = tag == std::string::npos ? tag : xml.find('>', tag);
  if (tag_end == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, ": not an hwloc XML file (no <topology> element): write one with lstopo --of xml"));
  }
  const Span version = FindAttribute(xml, "version", tag, tag_end);
  if (version.begin == std::string::npos) {
    return xml;  // schema 1 names no version
  }
  const std::string text = xml.substr(version.begin, version.size);
  const std::uint32_t major = Number(text);
  if (major > 3) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": hwloc XML version ", text,
                     " is newer than the 3.0 that can be read: write it again with lstopo --of xml "
                     "--export-xml-flags v2"));
  }
  if (major < 3) {
    return xml;
  }
  xml.replace(version.begin, version.size, "2.0");
  return RewriteDeviceKinds(xml);
}

}  // namespace muster::topology
