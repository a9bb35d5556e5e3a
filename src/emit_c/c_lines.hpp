// Lines of C with their indentation.
#pragma once

#include <string>
#include <string_view>

namespace mir::c {

class CLines {
 public:
  explicit CLines(std::size_t depth = 0) : depth_(depth) {}

  void line(std::string_view text) {
    text_.append(2 * depth_, ' ');
    text_ += text;
    text_ += '\n';
  }
  /// Begins a block whose head has no brace.
  void open(std::string_view head) {
    line(head.empty() ? "{" : std::string(head) + " {");
    ++depth_;
  }
  void close() {
    --depth_;
    line("}");
  }
  /// A line for the preprocessor, which begins at the left.
  void directive(std::string_view text) {
    text_ += text;
    text_ += '\n';
  }
  /// Lines that were written apart.
  void append(const CLines& lines) { text_ += lines.text_; }
  std::size_t depth() const { return depth_; }
  void close_to(std::size_t depth) {
    while (depth_ > depth) close();
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t depth_;
};

}  // namespace mir::c
