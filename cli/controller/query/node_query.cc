#include "cli/controller/query/node_query.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "cli/controller/controller.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {

absl::StatusOr<NodeAnswers> FetchNodes(const Invocation& invocation, const std::string& verb,
                                       bool with_machine) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  NodeAnswers answers;
  ASSIGN_OR_RETURN(NodeList list, connection->Call(ListNodes{invocation.arguments, with_machine}));
  answers.nodes = std::move(list.nodes);
  answers.largest = std::move(list.largest);
  answers.narrow_links = std::move(list.narrow_links);
  for (const std::string& name : invocation.arguments) {
    if (std::none_of(answers.nodes.begin(), answers.nodes.end(),
                     [&name](const NodeView& node) { return node.name == name; })) {
      std::cerr << "muster " << verb << ": no node " << Quote(name) << ": see muster nodes\n";
      answers.code = 1;
    }
  }
  return answers;
}

}  // namespace muster::cli
