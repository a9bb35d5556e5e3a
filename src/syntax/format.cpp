// Formats whole texts or ranges of lines, and prints trees byte for byte.
#include "mir/format.hpp"

#include <type_traits>
#include <vector>

#include "syntax/gaps.hpp"
#include "syntax/layout.hpp"

namespace mir {

namespace {

/// An op that cannot be read is one token, which layout keeps as it is.
TokenKind layout_kind(TokenKind kind) {
  return kind == TokenKind::kError ? TokenKind::kOpName : kind;
}

/// Prints a tree in canonical layout. `begin_line`, unless it is null, is called before each token
/// that begins a line, with what precedes the token in the source.
template <class BeginLine>
class LayoutOfText {
 public:
  LayoutOfText(const SourceFile& file, LayoutPrinter& printer, const BeginLine& begin_line)
      : file_(file), printer_(printer), begin_line_(begin_line) {}

  void add(const Unit& unit) { for_each_token(file_, unit, done_, *this); }
  /// Prints what follows the last token.
  void finish() { comments(file_.text().substr(done_)); }

  void operator()(std::string_view gap, TokenKind scanned, std::string_view text) {
    const TokenKind kind = layout_kind(scanned);
    if constexpr (!std::is_null_pointer_v<BeginLine>) {
      if (starts_line(previous_, kind)) begin_line_(gap);
      previous_ = kind;
    }
    comments(gap);
    printer_.token(kind, text);
  }

 private:
  void comments(std::string_view gap) {
    if (gap.size() > 1) {
      for_each_comment(gap, at_start_, [&](std::string_view text, bool own_line) {
        printer_.comment(text, own_line);
      });
    }
    at_start_ = false;
  }

  const SourceFile& file_;
  LayoutPrinter& printer_;
  BeginLine begin_line_;
  std::size_t done_ = 0;  // the end of the last token
  bool at_start_ = true;
  [[maybe_unused]] TokenKind previous_ = TokenKind::kEnd;
};

template <class BeginLine>
void print_layout(const SyntaxTree& tree, LayoutPrinter& printer, const BeginLine& begin_line) {
  LayoutOfText layout(tree.file(), printer, begin_line);
  for (const Unit& unit : tree.units()) layout.add(unit);
  layout.finish();
}

/// Reserves more bytes than most texts take in canonical layout; what is not written costs nothing.
std::size_t expected_size(const SourceFile& file) {
  return std::size_t{file.size()} + file.size() / 8;
}

}  // namespace

std::string format(const SyntaxTree& tree) {
  LayoutPrinter printer(expected_size(tree.file()));
  print_layout(tree, printer, nullptr);
  return printer.finish();
}

std::optional<std::string> format(const SourceFile& file, Diagnostics& diagnostics,
                                  const std::function<void(const Unit&)>& see) {
  LayoutPrinter printer(expected_size(file));
  LayoutOfText layout(file, printer, nullptr);
  const bool is_whole = parse_units(file, diagnostics, [&](Unit&& unit) {
    if (see) see(unit);
    layout.add(unit);
    return true;
  });
  if (!is_whole) return std::nullopt;
  layout.finish();
  return printer.finish();
}

void format_in_parts(const SyntaxTree& tree,
                     const std::function<void(const FormattedPart&)>& take) {
  constexpr std::size_t kPart = std::size_t{1} << 16;
  const std::string_view source = tree.file().text();
  LayoutPrinter printer;
  std::size_t begin = 0;
  print_layout(tree, printer, [&](std::string_view gap) {
    if (printer.text().size() < kPart) return;
    const auto end = static_cast<std::size_t>(gap.data() - source.data());
    take({begin, end, printer.text()});
    printer.clear();
    begin = end;
  });
  take({begin, source.size(), printer.finish()});
}

std::string exact_text(const SyntaxTree& tree) {
  std::string result;
  result.reserve(tree.file().size());
  for_each_token(
      tree,
      [&](std::string_view gap, TokenKind, std::string_view text) {
        result.append(gap).append(text);
      },
      [&](std::string_view gap) { result += gap; });
  return result;
}

// -- ranges of lines ------------------------------------------------------------------------------

namespace {

/// A token with what precedes it, both as parts of the source.
struct Piece {
  std::string_view gap;
  std::string_view text;
  TokenKind kind;
};

/// The bytes of the lines `first` to `last`.
std::string_view lines_of(std::string_view text, std::uint32_t first, std::uint32_t last) {
  std::size_t begin = 0;
  std::uint32_t line = 1;
  for (; line < first; ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == text.npos) return text.substr(text.size());
    begin = end + 1;
  }
  std::size_t end = begin;
  for (; line <= last && end < text.size(); ++line)
    end = std::min(text.find('\n', end), text.size()) + 1;
  return text.substr(begin, end - begin);
}

/// True if some byte of `text` lies in `range`.
bool meets(std::string_view text, std::string_view range) {
  return text.data() < range.data() + range.size() && range.data() < text.data() + text.size();
}

/// Formats the lines that meet a range. Earlier lines only advance the state of the layout.
class RangeFormatter {
 public:
  RangeFormatter(std::string_view text, std::string_view range) : text_(text), range_(range) {}

  void line(std::span<const Piece> pieces) {
    if (is_done_) return;
    const char* begin = pieces.front().text.data();
    const char* end = pieces.back().text.data() + pieces.back().text.size();
    const bool is_anew = meets({begin, static_cast<std::size_t>(end - begin)}, range_);
    if (is_anew && !has_begun_) edit_.begin = offset_of(pieces.front().gap);
    if (!is_anew && has_begun_) return end_before(pieces.front().gap);
    has_begun_ = is_anew;
    for (const Piece& piece : pieces) {
      if (is_anew) {
        // Only what lies before the whole may be out of range.
        comments(&piece == &pieces.front() ? keep_lines(piece.gap) : piece.gap);
        printer_.token(piece.kind, piece.text);
      } else {
        printer_.copy(piece.kind, piece.text);
      }
      at_start_ = false;
    }
    if (!is_anew) printer_.clear();
  }

  TextSplice finish(std::string_view tail) {
    if (is_done_) return std::move(edit_);
    edit_.end = text_.size();
    if (!has_begun_) return {text_.size(), text_.size(), ""};
    comments(keep_lines(tail));
    edit_.text = printer_.finish();
    return std::move(edit_);
  }

 private:
  std::size_t offset_of(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - text_.data());
  }

  void end_before(std::string_view gap) {
    edit_.end = offset_of(gap);
    edit_.text = printer_.text();
    is_done_ = true;
  }

  /// Copies the lines of a gap that precede the range, without the last line end; returns the rest.
  std::string_view keep_lines(std::string_view gap) {
    if (gap.data() < range_.data() && range_.data() <= gap.data() + gap.size()) {
      const auto kept = static_cast<std::size_t>(range_.data() - gap.data());
      printer_.copy(gap.substr(0, kept - 1));
      gap.remove_prefix(kept - 1);
    }
    return gap;
  }

  void comments(std::string_view gap) {
    for_each_comment(gap, at_start_, [&](std::string_view text, bool own_line) {
      printer_.comment(text, own_line);
    });
  }

  LayoutPrinter printer_;
  std::string_view text_, range_;
  TextSplice edit_;
  bool at_start_ = true;
  bool has_begun_ = false;
  bool is_done_ = false;
};

}  // namespace

TextSplice format_lines_splice(const SyntaxTree& tree, std::uint32_t first, std::uint32_t last) {
  const std::string_view text = tree.file().text();
  RangeFormatter formatter(text, lines_of(text, first, last));
  std::vector<Piece> line;
  TokenKind previous = TokenKind::kEnd;
  TextSplice result;
  for_each_token(
      tree,
      [&](std::string_view gap, TokenKind scanned, std::string_view token) {
        const TokenKind kind = layout_kind(scanned);
        const bool empty_body = previous == TokenKind::kLBrace && kind == TokenKind::kRBrace;
        if (!line.empty() && starts_line(previous, kind) && !empty_body) {
          formatter.line(line);
          line.clear();
        }
        line.push_back({gap, token, kind});
        previous = kind;
      },
      [&](std::string_view tail) {
        if (!line.empty()) formatter.line(line);
        result = formatter.finish(tail);
      });
  return result;
}

std::string format_lines(const SyntaxTree& tree, std::uint32_t first, std::uint32_t last) {
  const TextSplice splice = format_lines_splice(tree, first, last);
  std::string text(tree.file().text());
  text.replace(splice.begin, splice.end - splice.begin, splice.text);
  return text;
}

}  // namespace mir
