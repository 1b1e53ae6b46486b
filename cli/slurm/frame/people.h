#pragma once

// Users and groups as this machine's tables name them.
//
// Invariant: a number that has no name is its own digits.

#include <cstdint>
#include <optional>
#include <string>

namespace muster::cli::slurm {

std::string UserName(std::uint32_t uid);
// What the user is called in life, as the table says; "" when it does not.
std::string RealName(const std::string& user);
std::string GroupName(std::uint32_t gid);
// Of a name, or of a number; nothing where neither is known.
std::optional<std::uint32_t> UserNumber(const std::string& name);

}  // namespace muster::cli::slurm
