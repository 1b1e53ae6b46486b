#pragma once

// A small XML file as a tree of elements, each with its line.
//
// Text between elements is dropped, and no entity or document outside the file is ever read.
// Invariants: a tree is returned whole or not at all.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::topology {

struct XmlElement {
  std::string name;
  std::size_t line = 0;  // from 1
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;

  // The attribute's value; null when it is not there.
  [[nodiscard]] const std::string* Find(const std::string& attribute) const;
};

// InvalidArgument "NAME:LINE: malformed XML: …" for what is not well formed, or nested too deep.
absl::StatusOr<XmlElement> ParseXml(const std::string& text, const std::string& name);

// The name of the outermost element, without reading the rest; empty when there is none.
std::string RootElementOf(const std::string& text);

}  // namespace muster::topology
