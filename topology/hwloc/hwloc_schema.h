#pragma once

// Brings hwloc's XML files of every schema to the one that the linked hwloc reads.
//
// hwloc 3 writes version="3.0", which hwloc 2 refuses though only one thing that we read differs:
// a device's kinds are a bit mask there and a number here. So such a file is rewritten in memory:
//   <topology version="3.x">  ->  version="2.0"
//   osdev_type="<bits>"       ->  osdev_type="<number>", the most telling kind winning

#include <string>

#include "absl/status/statusor.h"

namespace muster::topology {

// `xml` in schema 2 (schema 1 passes as it is). InvalidArgument, naming the file `name`, when there
// is no <topology> element or its schema is newer than 3.
absl::StatusOr<std::string> ToHwloc2Schema(std::string xml, const std::string& name);

}  // namespace muster::topology
