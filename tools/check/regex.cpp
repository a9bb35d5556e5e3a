// Regular expressions by PCRE2, with a limit on the work of a search.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "regex.hpp"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "mir/codes/checks.hpp"
#include "mir/codes/limits.hpp"

namespace mir::tools {

namespace {

/// Enough for any expression that is meant to match a line; a few hundredths of a second.
constexpr std::uint32_t kMaxSteps = 1'000'000;
constexpr std::uint32_t kMaxHeapKilobytes = 20'000;

PCRE2_SPTR units(std::string_view text) {
  // PCRE2 takes no null pointer, not even for an empty text.
  return reinterpret_cast<PCRE2_SPTR>(text.empty() ? "" : text.data());
}

std::string message_of(int number) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(number, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

template <auto kFree>
struct FreedBy {
  template <class T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};

}  // namespace

struct Regex::State {
  std::unique_ptr<pcre2_code, FreedBy<pcre2_code_free>> code;
  std::unique_ptr<pcre2_match_context, FreedBy<pcre2_match_context_free>> context;
  std::unique_ptr<pcre2_match_data, FreedBy<pcre2_match_data_free>> match;
};

Regex::Regex(std::unique_ptr<State> state) : state_(std::move(state)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view expression) {
  constexpr std::uint32_t kOptions = PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
  int number = 0;
  PCRE2_SIZE offset = 0;
  auto state = std::make_unique<State>();
  state->code.reset(
      pcre2_compile(units(expression), expression.size(), kOptions, &number, &offset, nullptr));
  if (state->code == nullptr) return Error{diag::kCheckMalformed, message_of(number)};
  state->context.reset(pcre2_match_context_create(nullptr));
  state->match.reset(pcre2_match_data_create_from_pattern(state->code.get(), nullptr));
  if (state->context == nullptr || state->match == nullptr) {
    return Error{diag::kLimitExceeded, "no memory is left for a regular expression"};
  }
  pcre2_set_match_limit(state->context.get(), kMaxSteps);
  pcre2_set_heap_limit(state->context.get(), kMaxHeapKilobytes);
  return Regex(std::move(state));
}

Result<std::optional<Regex::Match>> Regex::search(std::string_view text, std::size_t from) const {
  const int found = pcre2_match(state_->code.get(), units(text), text.size(), from, 0,
                                state_->match.get(), state_->context.get());
  if (found == PCRE2_ERROR_NOMATCH) return std::optional<Match>();
  if (found < 0) {
    return Error{diag::kCheckMalformed,
                 fmt::format("the text cannot be searched for: {}", message_of(found))};
  }
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(state_->match.get());
  Match match;
  for (int group = 0; group < found; ++group) {
    // `\K` may put the start of a match after its end.
    const PCRE2_SIZE begin = bounds[2 * group], end = bounds[2 * group + 1];
    const bool taken_part = begin != PCRE2_UNSET;
    match.groups.push_back(taken_part ? ByteRange{std::min(begin, end), end} : ByteRange{});
  }
  match.whole = match.groups.front();
  return std::optional(std::move(match));
}

std::size_t Regex::group_number(const std::string& name) const {
  return static_cast<std::size_t>(pcre2_substring_number_from_name(
      state_->code.get(), reinterpret_cast<PCRE2_SPTR>(name.c_str())));
}

std::string quoted_regex(std::string_view text) {
  constexpr std::string_view kSpecial = "\\^$.[]|()?*+{}#-/&~";
  std::string expression;
  for (const char byte : text) {
    if (kSpecial.find(byte) != kSpecial.npos) expression += '\\';
    expression += byte;
  }
  return expression;
}

}  // namespace mir::tools
