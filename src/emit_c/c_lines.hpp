// Lines of C with their indentation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emit_c/c_names.hpp"

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
  /// Begins a block that close() writes `count` times, with the variable as 0, 1, ...
  void open_copies(std::string_view variable, std::int64_t count) {
    copies_.push_back({std::string(variable), count, depth_, text_.size()});
    open("");
  }
  /// How often a line is written.
  std::int64_t copies() const {
    std::int64_t product = 1;
    for (const Copies& each : copies_) product *= each.count;
    return product;
  }
  void close() {
    --depth_;
    line("}");
    if (copies_.empty() || copies_.back().depth != depth_) return;
    const Copies made = std::move(copies_.back());
    copies_.pop_back();
    const std::string block = text_.substr(made.begin + 2 * depth_ + 2);
    text_.resize(made.begin);
    for (std::int64_t i = 0; i < made.count; ++i) {
      line("{");
      ++depth_;
      if (words_of(block).contains(made.variable)) {
        line("const int64_t " + made.variable + " = " + std::to_string(i) + ";");
      }
      --depth_;
      text_ += block;
    }
  }
  /// A line for the preprocessor, which begins at the left.
  void directive(std::string_view text) {
    text_ += text;
    text_ += '\n';
  }
  /// Lines that were written apart.
  void append(const CLines& lines) { text_ += lines.text_; }
  /// Removes what was written from the line that begins at `at`, and returns it.
  std::string take_from(std::size_t at) {
    std::string taken = text_.substr(at);
    text_.resize(at);
    return taken;
  }
  std::size_t depth() const { return depth_; }
  void close_to(std::size_t depth) {
    while (depth_ > depth) close();
  }
  const std::string& text() const { return text_; }
  /// Inserts a line before the one that begins at `at`, with its indentation.
  void insert_line(std::size_t at, std::string_view text) {
    const std::size_t blanks = text_.find_first_not_of(' ', at) - at;
    text_.insert(at, std::string(blanks, ' ') + std::string(text) + '\n');
  }

 private:
  struct Copies {
    std::string variable;
    std::int64_t count = 1;
    std::size_t depth = 0, begin = 0;
  };

  std::string text_;
  std::size_t depth_;
  std::vector<Copies> copies_;  // open blocks, the outermost first
};

}  // namespace mir::c
