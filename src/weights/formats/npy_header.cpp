// Parses the dictionary literal of an NPY header, and maps NumPy's type names.
#include "weights/formats/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "mir/codes/tensors.hpp"
#include "mir/codes/weights.hpp"
#include "weights/named_tensor.hpp"

namespace mir {
namespace {

struct NpyType {
  std::string_view name;  ///< without byte order
  DType dtype;
};

constexpr NpyType kTypes[] = {
    {"b1", DType::kBool},        {"i1", DType::kInt8},         {"i2", DType::kInt16},
    {"i4", DType::kInt32},       {"i8", DType::kInt64},        {"u1", DType::kUInt8},
    {"u2", DType::kUInt16},      {"u4", DType::kUInt32},       {"u8", DType::kUInt64},
    {"f2", DType::kFloat16},     {"f4", DType::kFloat32},      {"f8", DType::kFloat64},
    {"c8", DType::kComplexFP32}, {"c16", DType::kComplexFP64},
};

/// Reads the literal from left to right. The first failure is kept, and reading stops there.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : rest_(text) {}

  Result<NpyHeader> parse() {
    expect('{');
    while (!failed_ && !take('}')) {
      entry();
      if (!take(',') && !peek('}')) fail("expected ',' or '}'");
    }
    skip_blanks();
    if (!failed_ && rest_ != "\n") fail("expected blanks and a newline after the dictionary");
    if (!failed_ && seen_ != kAllSeen) fail("a key is missing");
    if (failed_) return *std::move(failed_);
    return std::move(header_);
  }

 private:
  static constexpr unsigned kAllSeen = 7;

  void entry() {
    const auto key = string();
    const unsigned bit = key == "descr" ? 1 : key == "fortran_order" ? 2 : key == "shape" ? 4 : 0;
    if (bit == 0) return fail(fmt::format("unknown key '{}'", key));
    if ((seen_ & bit) != 0) return fail(fmt::format("two keys '{}'", key));
    seen_ |= bit;
    expect(':');
    if (bit == 1) element_type();
    if (bit == 2) fortran_order();
    if (bit == 4) shape();
  }

  void element_type() {
    if (peek('[')) return unsupported("structured elements are not supported");
    const auto text = string();
    if (failed_) return;
    const auto order = text.empty() ? '\0' : text.front();
    const auto row = std::ranges::find(kTypes, text.substr(text.empty() ? 0 : 1), &NpyType::name);
    if (std::string_view("<>|=").find(order) == std::string_view::npos || row == std::end(kTypes))
      return unsupported(fmt::format("element type '{}' is not supported", text));
    header_.dtype = row->dtype;
    const bool is_wide = info(row->dtype).unit_bytes > 1;
    if (order == '|' && is_wide) fail(fmt::format("element type '{}' lacks a byte order", text));
    header_.big_endian = order == '>' && is_wide;
  }

  void fortran_order() {
    header_.fortran_order = take_word("True");
    if (!header_.fortran_order && !take_word("False")) fail("expected True or False");
  }

  void shape() {
    expect('(');
    bool needs_comma = false;
    while (!failed_ && !take(')')) {
      if (needs_comma) return fail("expected ',' or ')'");
      header_.shape.push_back(integer());
      needs_comma = !take(',');
      if (header_.shape.size() > kMaxFileRank)
        return fail(fmt::format("more than {} extents", kMaxFileRank));
    }
    // `(3)` is a number in parentheses, `(3,)` a tuple.
    if (header_.shape.size() == 1 && needs_comma) fail("the shape is not a tuple");
  }

  std::int64_t integer() {
    skip_blanks();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || rest_.front() == '-') {
      fail("an extent is not a whole number from 0 to 2^63 - 1");
      return 0;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2
    return value;
  }

  std::string_view string() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const auto end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fail("expected a string");
      return {};
    }
    const auto text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '\\'; };
    if (!std::ranges::all_of(text, is_plain)) fail("a string has escapes or is not plain ASCII");
    return text;
  }

  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

  bool peek(char wanted) {
    skip_blanks();
    return rest_.starts_with(wanted);
  }

  bool take(char wanted) {
    if (!peek(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("expected '{}'", wanted));
  }

  void fail(std::string_view text) {
    if (!failed_) failed_ = malformed_npy(fmt::format("in the header: {}", text));
    rest_ = {};
  }

  void unsupported(std::string_view text) {
    if (!failed_) failed_ = Error{diag::kTensorDtypeUnsupported, std::string(text)};
    rest_ = {};
  }

  std::string_view rest_;
  NpyHeader header_;
  unsigned seen_ = 0;
  std::optional<Error> failed_;
};

}  // namespace

Error malformed_npy(std::string_view text) {
  return {diag::kNpyMalformed, std::string(text)};
}

Result<NpyHeader> parse_npy_header(std::string_view text) {
  return HeaderParser(text).parse();
}

std::optional<std::string> npy_name(DType dtype) {
  const auto row = std::ranges::find(kTypes, dtype, &NpyType::dtype);
  if (row == std::end(kTypes)) return std::nullopt;
  return fmt::format("{}{}", info(dtype).unit_bytes > 1 ? '<' : '|', row->name);
}

}  // namespace mir
