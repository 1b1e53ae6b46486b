#include "tests/tidy/rooms.h"

#include <algorithm>
#include <map>
#include <utility>

namespace muster::tidy {
namespace {

using Graph = std::map<std::string, std::set<std::string>>;

std::string FolderOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? std::string_view() : path.substr(0, slash));
}

std::string UnitOf(std::string_view path) {
  return std::string(path.substr(0, path.size() - Ending(path).size()));
}

std::string AsList(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : " ") + name;
  }
  return text;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) {
      words.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// The path of a room that a row names by its path below the wing.
std::string PathOf(std::string_view wing, std::string_view room) {
  return room == "." ? std::string(wing) : std::string(wing) + "/" + std::string(room);
}

bool IsInside(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && path.substr(folder.size()).starts_with("/");
}

bool IsProduct(const Source& source) {
  return IsCode(source) && !source.path.starts_with("tests/");
}

struct Edge {
  const Source* from = nullptr;
  Include include;
};

// The includes of product code that lead to product code.
std::vector<Edge> EdgesOf(const std::vector<Source>& tree) {
  std::set<std::string_view> product;
  for (const Source& source : tree) {
    if (IsProduct(source)) {
      product.insert(source.path);
    }
  }
  std::vector<Edge> edges;
  for (const Source& source : tree) {
    if (!IsProduct(source)) {
      continue;
    }
    for (Include& include : IncludesOf(source)) {
      if (product.count(include.target) != 0) {
        edges.push_back({&source, std::move(include)});
      }
    }
  }
  return edges;
}

// What can be reached from `start`, which is among it only by a circle.
std::set<std::string> ReachedFrom(const Graph& graph, const std::string& start) {
  std::set<std::string> reached;
  std::vector<std::string> left = {start};
  while (!left.empty()) {
    const auto next = graph.find(left.back());
    left.pop_back();
    if (next == graph.end()) {
      continue;
    }
    for (const std::string& target : next->second) {
      if (reached.insert(target).second) {
        left.push_back(target);
      }
    }
  }
  return reached;
}

// Every set of names that reach one another.
std::vector<std::set<std::string>> CirclesOf(const Graph& graph) {
  std::map<std::string, std::set<std::string>> reached;
  for (const auto& [name, targets] : graph) {
    reached[name] = ReachedFrom(graph, name);
  }
  std::set<std::set<std::string>> circles;
  for (const auto& [name, targets] : reached) {
    if (targets.count(name) == 0) {
      continue;
    }
    std::set<std::string> circle;
    for (const std::string& target : targets) {
      const auto back = reached.find(target);
      if (back != reached.end() && back->second.count(name) != 0) {
        circle.insert(target);
      }
    }
    circles.insert(std::move(circle));
  }
  return {circles.begin(), circles.end()};
}

// The wing of the table that a folder is in; of two the longer.
std::string_view WingOf(std::string_view folder, const std::vector<RoomRow>& table) {
  std::string_view wing;
  for (const RoomRow& row : table) {
    if ((folder == row.wing || IsInside(folder, row.wing)) && row.wing.size() > wing.size()) {
      wing = row.wing;
    }
  }
  return wing;
}

// The paragraph of a page that says what its room may include, or nothing.
std::string_view MayIncludeOf(std::string_view page) {
  const size_t at = page.find("\nMay include:");
  if (at == std::string_view::npos) {
    return {};
  }
  page.remove_prefix(at);
  return page.substr(0, page.find("\n\n"));
}

// Whether the paragraph names the room by its path, or by that below its wing.
bool IsSaid(std::string_view paragraph, std::string_view wing, std::string_view room) {
  const std::string path = PathOf(wing, room);
  for (const std::string_view name :
       {std::string_view(path), room == "." ? wing.substr(wing.rfind('/') + 1) : room}) {
    if (paragraph.find("`" + std::string(name) + "`") != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::vector<Finding> CheckRooms(const std::vector<Source>& tree,
                                const std::vector<RoomRow>& table) {
  Graph may;
  for (const RoomRow& row : table) {
    for (const std::string& room : Words(row.may)) {
      may[PathOf(row.wing, row.room)].insert(PathOf(row.wing, room));
    }
  }
  std::vector<Finding> findings;
  Graph used;
  for (const Edge& edge : EdgesOf(tree)) {
    const std::string from = FolderOf(edge.from->path);
    const std::string to = FolderOf(edge.include.target);
    const std::string_view wing = WingOf(from, table);
    if (from == to || wing.empty() || wing != WingOf(to, table)) {
      continue;
    }
    used[from].insert(to);
    if (may[from].count(to) == 0) {
      findings.push_back({edge.from->path, edge.include.line,
                          "includes \"" + edge.include.target + "\", but " + from +
                              " may include of " + std::string(wing) +
                              " only: " + AsList(may[from]) +
                              ". Move what both need to a room below them; where a new "
                              "dependency is meant, add it in tests/tidy/room_table.cc and to the "
                              "room's page"});
    }
  }
  for (const auto& [from, targets] : may) {
    for (const std::string& to : targets) {
      if (used[from].count(to) == 0) {
        findings.push_back({from, 0,
                            "may include " + to +
                                ", but nothing there does. Remove it from tests/tidy/room_table.cc "
                                "and from the room's page, so that it does not come back unseen"});
      }
    }
  }
  return findings;
}

std::vector<Finding> CheckRoomPagesSay(const std::vector<Source>& tree,
                                       const std::vector<RoomRow>& table) {
  std::map<std::string, const Source*> pages;
  for (const Source& source : tree) {
    if (FileName(source.path) == "README.md") {
      pages[FolderOf(source.path)] = &source;
    }
  }
  std::vector<Finding> findings;
  for (const RoomRow& row : table) {
    const auto page = pages.find(PathOf(row.wing, row.room));
    const std::string_view said =
        page == pages.end() ? std::string_view() : MayIncludeOf(page->second->text);
    for (const std::string& room : Words(row.may)) {
      if (!said.empty() && !IsSaid(said, row.wing, room)) {
        findings.push_back({page->second->path, 0,
                            "does not say that this room may include " + room +
                                ", as tests/tidy/room_table.cc has it. Name it after \"May "
                                "include:\": the page is where one looks"});
      }
    }
  }
  return findings;
}

std::vector<Finding> CheckRoomCircles(const std::vector<Source>& tree) {
  Graph rooms;
  for (const Edge& edge : EdgesOf(tree)) {
    const std::string from = FolderOf(edge.from->path);
    const std::string to = FolderOf(edge.include.target);
    if (from != to) {
      rooms[from].insert(to);
    }
  }
  std::vector<Finding> findings;
  for (const std::set<std::string>& circle : CirclesOf(rooms)) {
    findings.push_back({*circle.begin(), 0,
                        "includes itself through others: " + AsList(circle) +
                            ". Move what they have in common to a room below them: in a circle no "
                            "room can be understood before the others"});
  }
  return findings;
}

std::vector<Finding> CheckUnitCircles(const std::vector<Source>& tree,
                                      const std::set<std::string>& known) {
  Graph units;
  for (const Edge& edge : EdgesOf(tree)) {
    const std::string from = UnitOf(edge.from->path);
    const std::string to = UnitOf(edge.include.target);
    if (from != to) {
      units[from].insert(to);
    }
  }
  std::vector<Finding> findings;
  std::set<std::string> there;
  for (const std::set<std::string>& circle : CirclesOf(units)) {
    const std::string names = AsList(circle);
    there.insert(names);
    if (known.count(names) == 0) {
      findings.push_back({*circle.begin(), 0,
                          "needs itself through others: " + names +
                              ". Move what they share into a unit of its own, or make them one: "
                              "none of them can be tested without the others"});
    }
  }
  for (const std::string& names : known) {
    if (there.count(names) == 0) {
      findings.push_back({names.substr(0, names.find(' ')), 0,
                          "is in no such circle any more: " + names +
                              ". Remove it from the list, which may only shrink"});
    }
  }
  return findings;
}

}  // namespace muster::tidy
