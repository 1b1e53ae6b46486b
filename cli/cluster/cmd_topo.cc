#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "cli/controller/query/documents.h"
#include "cli/controller/query/node_query.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/place/picture.h"
#include "cli/sheet/machine_tree.h"
#include "cli/sheet/node_table.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

std::string Trees(const std::vector<NodeView>& nodes, const Style& style) {
  std::string page;
  for (const NodeView& node : nodes) {
    absl::StrAppend(&page, page.empty() ? "" : "\n", PrintTree(MachineTree(node, style), style));
  }
  return page;
}

absl::StatusOr<int> Topo(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const NodeAnswers answers, FetchNodes(invocation, "topo", true));
  if (invocation.Has("svg")) {
    RETURN_IF_ERROR(WritePicture(invocation.Value("svg"), PictureOf(answers.nodes)));
    if (!invocation.Has("json")) {
      return answers.code;
    }
  }
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  RETURN_IF_ERROR(WriteOut(invocation.Has("json")
                               ? NodesDocument(answers.nodes, true, {}, answers.narrow_links)
                               : Trees(answers.nodes, style) +
                                     PrintNarrowLinks(answers.narrow_links, true, style)));
  return answers.code;
}

}  // namespace

Verb TopoVerb() {
  Verb verb;
  verb.name = "topo";
  verb.purpose = "Draw each node as a tree, down to cores and GPUs, and who holds what";
  verb.synopsis = "[NODE…]";
  verb.examples = {"muster topo", "muster topo node1", "muster topo --svg nodes.svg"};
  verb.options = {{.name = "svg",
                   .letter = 0,
                   .metavar = "FILE",
                   .text = "Write the nodes as a picture into FILE instead"},
                  JsonOption()};
  verb.arguments_max = kAnyNumber;
  verb.run = Topo;
  return verb;
}

}  // namespace muster::cli
