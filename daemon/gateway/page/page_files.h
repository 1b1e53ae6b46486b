#pragma once

// The files of the page, in the program itself.
//
// Thread promise: immutable. Invariant: a file's text is what lies in this folder, or with the simulator's pages, byte
// for byte.

#include <string>
#include <string_view>
#include <vector>

namespace muster::daemon {

struct PageFile {
  std::string path;  // as it is asked for: "/", "/page.css"
  const char* type;  // of its content
  std::string_view text;
};

// Null when no file has that path.
const PageFile* FindPageFile(const std::string& path);
const std::vector<PageFile>& PageFiles();

}  // namespace muster::daemon
