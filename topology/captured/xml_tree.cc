#include "topology/captured/xml_tree.h"

#include <expat.h>

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"

namespace muster::topology {
namespace {

constexpr std::size_t kDepthMax = 512;

struct FreeParser {
  void operator()(XML_Parser parser) const { XML_ParserFree(parser); }
};
using Parser = std::unique_ptr<XML_ParserStruct, FreeParser>;

// Takes expat's calls; `open` holds the elements that have not ended.
struct Taker {
  XML_Parser parser = nullptr;
  std::vector<XmlElement> open = std::vector<XmlElement>(1);
  bool too_deep = false;
};

void XMLCALL Begin(void* data, const XML_Char* name, const XML_Char** attributes) {
  Taker& taker = *static_cast<Taker*>(data);
  if (taker.open.size() > kDepthMax) {
    taker.too_deep = true;
    XML_StopParser(taker.parser, XML_FALSE);
    return;
  }
  XmlElement element;
  element.name = name;
  element.line = XML_GetCurrentLineNumber(taker.parser);
  for (; *attributes != nullptr; attributes += 2) {
    element.attributes.emplace_back(attributes[0], attributes[1]);
  }
  taker.open.push_back(std::move(element));
}

void XMLCALL End(void* data, const XML_Char* name) {
  (void)name;
  Taker& taker = *static_cast<Taker*>(data);
  XmlElement ended = std::move(taker.open.back());
  taker.open.pop_back();
  taker.open.back().children.push_back(std::move(ended));
}

}  // namespace

const std::string* XmlElement::Find(const std::string& attribute) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(),
                   [&attribute](const auto& entry) { return entry.first == attribute; });
  return found == attributes.end() ? nullptr : &found->second;
}

absl::StatusOr<XmlElement> ParseXml(const std::string& text, const std::string& name) {
  const Parser parser(XML_ParserCreate(nullptr));
  if (parser == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(name, ": no memory to read it"));
  }
  Taker taker;
  taker.parser = parser.get();
  XML_SetUserData(parser.get(), &taker);
  XML_SetElementHandler(parser.get(), Begin, End);
  const auto size = static_cast<int>(std::min<std::size_t>(text.size(), 1U << 30U));
  if (XML_Parse(parser.get(), text.data(), size, XML_TRUE) != XML_STATUS_OK) {
    const std::string what = taker.too_deep
                                 ? absl::StrCat("more than ", kDepthMax, " elements deep")
                                 : XML_ErrorString(XML_GetErrorCode(parser.get()));
    return absl::InvalidArgumentError(
        absl::StrCat(name, ":", XML_GetCurrentLineNumber(parser.get()), ": malformed XML: ", what,
                     ": mend it, or write the file again"));
  }
  return std::move(taker.open.front().children.front());
}

std::string RootElementOf(const std::string& text) {
  std::size_t at = 0;
  while ((at = text.find('<', at)) != std::string::npos) {
    if (text.compare(at, 4, "<!--") == 0) {
      at = text.find("-->", at);
      continue;
    }
    const std::size_t name = at + 1;
    if (name < text.size() && text[name] != '?' && text[name] != '!') {
      return text.substr(name, text.find_first_of(" \t\r\n/>", name) - name);
    }
    at = name;
  }
  return "";
}

}  // namespace muster::topology
