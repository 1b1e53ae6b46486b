#include "tests/tidy/reach.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace muster::tidy {
namespace {

std::string_view FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string HeaderOf(const std::string& path) {
  return path.substr(0, path.size() - Ending(path).size()) + ".h";
}

// The verbs of the command line stand in a source each, in many folders, and in one header.
constexpr std::string_view kVerbs = "cli/frame/verbs.h";

bool IsVerb(std::string_view path) {
  return path.substr(path.rfind('/') + 1).starts_with("cmd_");
}

bool IsTest(const Source& source) {
  return source.path.starts_with("tests/");
}

// Also what is loaded by another's program, by a name that that one knows.
bool HasMain(const Source& source) {
  return source.code.starts_with("int main(") ||
         source.code.find("\nint main(") != std::string::npos ||
         source.code.find(" pam_sm_open_session(") != std::string::npos;
}

// The product's files: what each needs when it is part of a program.
class Product {
 public:
  explicit Product(const std::vector<Source>& tree) {
    for (const Source& source : tree) {
      if (IsCode(source) && !IsTest(source)) {
        files_[source.path] = &source;
      }
    }
    for (const auto& [path, source] : files_) {
      for (const Include& include : IncludesOf(*source)) {
        if (files_.count(include.target) != 0) {
          Add(path, include.target);
        }
      }
    }
  }

  [[nodiscard]] std::set<std::string> ReachedFrom(std::vector<std::string> left) const {
    std::set<std::string> reached;
    while (!left.empty()) {
      const std::string path = left.back();
      left.pop_back();
      const auto needs = needs_.find(path);
      if (reached.insert(path).second && needs != needs_.end()) {
        left.insert(left.end(), needs->second.begin(), needs->second.end());
      }
    }
    return reached;
  }

  [[nodiscard]] std::vector<std::string> Mains() const {
    std::vector<std::string> mains;
    for (const auto& [path, source] : files_) {
      if (HasMain(*source)) {
        mains.push_back(path);
      }
    }
    return mains;
  }

  [[nodiscard]] const std::map<std::string, const Source*>& files() const { return files_; }

 private:
  void Add(const std::string& path, const std::string& header) {
    needs_[path].push_back(header);
    const bool has_header = files_.count(HeaderOf(path)) != 0;
    const bool implements =
        has_header ? HeaderOf(path) == header
                   : FolderOf(path) == FolderOf(header) || (header == kVerbs && IsVerb(path));
    if (!IsHeader(*files_[path]) && implements && !HasMain(*files_[path])) {
      needs_[header].push_back(path);
    }
  }

  std::map<std::string, const Source*> files_;
  std::map<std::string, std::vector<std::string>> needs_;
};

}  // namespace

std::vector<Finding> CheckDeadHeaders(const std::vector<Source>& tree,
                                      const std::set<std::string>& besides) {
  const Product product(tree);
  std::vector<std::string> starts = product.Mains();
  const std::set<std::string> by_mains = product.ReachedFrom(starts);
  starts.insert(starts.end(), besides.begin(), besides.end());
  const std::set<std::string> reached = product.ReachedFrom(starts);
  std::vector<Finding> findings;
  for (const auto& [path, source] : product.files()) {
    if (IsHeader(*source) && reached.count(path) == 0) {
      findings.push_back({path, 0,
                          "is reached by no program. Delete it, or move it under tests/ when only "
                          "tests need it: what nobody runs is kept up for nothing"});
    }
  }
  for (const std::string& path : besides) {
    if (product.files().count(path) == 0 || by_mains.count(path) != 0) {
      findings.push_back({path, 0,
                          "is on the list of headers that no program reaches, but is not there or "
                          "one does. Remove it from the list, which may only shrink"});
    }
  }
  return findings;
}

std::vector<Finding> CheckUntestedHeaders(const std::vector<Source>& tree, const Source& known) {
  std::set<std::string> included;
  for (const Source& source : tree) {
    if (IsTest(source) && IsCode(source)) {
      for (Include& include : IncludesOf(source)) {
        included.insert(std::move(include.target));
      }
    }
  }
  std::set<std::string> untested;
  for (const Source& source : tree) {
    if (IsHeader(source) && !IsTest(source) && included.count(source.path) == 0) {
      untested.insert(source.path);
    }
  }
  std::vector<Finding> findings;
  std::string_view text = known.text;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string path(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (untested.erase(path) == 0) {
      findings.push_back({known.path, line,
                          "names " + path +
                              ", which a test includes, or which is not there. Remove the line: "
                              "the list may only shrink"});
    }
  }
  for (const std::string& path : untested) {
    findings.push_back({path, 0,
                        "is included by no test. Write one of what it promises: what is tested "
                        "through others alone is not tested where it can fail"});
  }
  return findings;
}

}  // namespace muster::tidy
