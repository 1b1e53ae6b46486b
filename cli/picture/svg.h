#pragma once

// A picture as one self-contained SVG document: shapes are added, the size follows from them.
//
// Text that comes from elsewhere (names, models) is escaped here and nowhere else. Pure. Thread
// promise: a value; one thread at a time. Invariants: the document is well-formed XML for any
// bytes that go in; it names no other file and runs no script.

#include <string>
#include <string_view>

namespace muster::cli {

// `text` for XML, with what XML cannot hold as Printable writes it.
std::string XmlText(std::string_view text);

class Svg {
 public:
  struct Box {
    double x = 0;
    double y = 0;
    double width = 0;
    double height = 0;
  };

  struct TextStyle {
    double size = 0;
    std::string anchor = "start";  // or "middle" or "end"
    std::string fill = "#222";
    bool bold = false;
  };
  // A curve that hangs between two points at `y`, `depth` below them.
  struct Arc {
    double x1 = 0;
    double x2 = 0;
    double y = 0;
    double depth = 0;
  };

  // A rectangle with what a browser shows when the pointer rests on it (empty: nothing).
  void AddBox(const Box& box, const std::string& fill, const std::string& stroke,
              std::string_view title, double round = 2);
  void AddText(double x, double y, std::string_view text, const TextStyle& style);
  void AddLine(double x1, double y1, double x2, double y2, const std::string& stroke, double width);
  void AddArc(const Arc& arc, const std::string& stroke, double width, std::string_view title);

  [[nodiscard]] std::string Document(std::string_view title) const;

 private:
  void Reach(double x, double y);

  std::string body_;
  double width_ = 0;
  double height_ = 0;
};

// The fill of the nth owner of something: neighbours differ plainly, also in brightness.
std::string OwnerColour(std::size_t n);

}  // namespace muster::cli
