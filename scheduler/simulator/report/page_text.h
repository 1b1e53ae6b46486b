#pragma once

// A page's text with its data in it, where the page has the mark @DATA@.
//
// Invariant: the data cannot end the script element that it stands in.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace muster::sim {

// REQUIRES: the mark is there.
std::string PageWith(std::string_view page, const nlohmann::json& data);

}  // namespace muster::sim
