#include "daemon/gateway/page/page_files.h"

// The assembler takes the files in; the build knows that this unit depends on them.
#define MUSTER_PAGE_FILE(NAME, FILE)                                            \
  __asm__(".section .rodata\n.global page_" #NAME "_begin\n.global page_" #NAME \
          "_end\n"                                                              \
          "page_" #NAME "_begin:\n.incbin \"" MUSTER_PAGE_DIRECTORY "/" FILE    \
          "\"\n"                                                                \
          "page_" #NAME "_end:\n.byte 0\n.text\n");                             \
  extern "C" const char page_##NAME##_begin[];                                  \
  extern "C" const char page_##NAME##_end[]

MUSTER_PAGE_FILE(html, "page.html");
MUSTER_PAGE_FILE(css, "page.css");
MUSTER_PAGE_FILE(script, "page.js");

namespace muster::daemon {

const std::vector<PageFile>& PageFiles() {
  static const std::vector<PageFile> files = {
      {"/",
       "text/html; charset=utf-8",
       {page_html_begin, static_cast<std::size_t>(page_html_end - page_html_begin)}},
      {"/page.css",
       "text/css; charset=utf-8",
       {page_css_begin, static_cast<std::size_t>(page_css_end - page_css_begin)}},
      {"/page.js",
       "text/javascript; charset=utf-8",
       {page_script_begin, static_cast<std::size_t>(page_script_end - page_script_begin)}},
  };
  return files;
}

const PageFile* FindPageFile(const std::string& path) {
  for (const PageFile& file : PageFiles()) {
    if (file.path == path) {
      return &file;
    }
  }
  return nullptr;
}

}  // namespace muster::daemon
