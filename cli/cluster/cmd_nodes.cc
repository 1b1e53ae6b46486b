#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/controller/controller.h"
#include "cli/controller/each_node.h"
#include "cli/controller/query/documents.h"
#include "cli/controller/query/node_query.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/sheet/node_table.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr const char* kForget = "forget";

// `muster nodes forget NODE…`
absl::StatusOr<int> Forget(const Invocation& invocation) {
  const std::vector<std::string> words(invocation.arguments.begin() + 1,
                                       invocation.arguments.end());
  ASSIGN_OR_RETURN(const std::vector<std::string> nodes, NodesIn(words));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  return ForEachNode("nodes forget", nodes,
                     [&](const std::string& node) { return connection->Call(ForgetNode{node}); });
}

absl::StatusOr<int> Nodes(const Invocation& invocation) {
  if (invocation.arguments.size() > 1 && invocation.arguments.front() == kForget) {
    return Forget(invocation);
  }
  ASSIGN_OR_RETURN(const NodeAnswers answers, FetchNodes(invocation, "nodes", false));
  const bool header = !invocation.Has("noheader");
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  RETURN_IF_ERROR(
      WriteOut(invocation.Has("json")
                   ? NodesDocument(answers.nodes, false, answers.largest, answers.narrow_links)
                   : PrintNodes(answers.nodes, header, style) +
                         PrintLargest(answers.largest, header, style) +
                         PrintNarrowLinks(answers.narrow_links, header, style)));
  return answers.code;
}

}  // namespace

Verb NodesVerb() {
  Verb verb;
  verb.name = "nodes";
  verb.purpose = "List the nodes, what is taken of each, and why one is out of service";
  verb.synopsis = "[NODE…]";
  verb.forms = {"[--noheader] [--json] [NODE…]", "forget NODE…"};
  verb.examples = {"muster nodes", "muster nodes --json node1", "muster nodes forget 'old[1-8]'"};
  verb.options = {{.name = "noheader", .letter = 0, .metavar = "", .text = "No line of titles"},
                  JsonOption()};
  verb.arguments_max = kAnyNumber;
  verb.run = Nodes;
  return verb;
}

}  // namespace muster::cli
