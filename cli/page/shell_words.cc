#include "cli/page/shell_words.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace muster::cli {
namespace {

constexpr const char* kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

}  // namespace

std::string ShellWords(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && word.find_first_not_of(kPlain) == std::string::npos;
    absl::StrAppend(&line, line.empty() ? "" : " ");
    if (plain) {
      absl::StrAppend(&line, word);
    } else {
      absl::StrAppend(&line, "'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
    }
  }
  return line;
}

}  // namespace muster::cli
