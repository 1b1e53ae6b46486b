#pragma once

// Which file a program's name means along a path of directories.
//
// Thread promise: reads files, changes nothing; safe from any thread. Invariant: what is returned
// was an executable file a moment ago, in a directory that does not depend on ours.

#include <string>

namespace muster {

// Where the system's programs are, whatever PATH we were started with.
inline constexpr const char* kSystemPath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// The program `name` in the first of the directories of `path`, separated by colons, that has it.
// Relative ones are passed over. Empty: there is none.
std::string FindAlong(const std::string& name, const std::string& path);

}  // namespace muster
