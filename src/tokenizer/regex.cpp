// Searches by PCRE2 with a limit on the work for a text.
#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/regex.hpp"

#include <fmt/format.h>
#include <pcre2.h>

#include <algorithm>
#include <array>

#include "mir/codes/limits.hpp"
#include "mir/codes/tokenizers.hpp"
#include "tokenizer/code_points.hpp"
#include "tokenizer/limits.hpp"
#include "tokenizer/regex_syntax.hpp"

namespace mir::tokenizer {
namespace {

/// Steps at each place of the text. Expressions of tokenizers take a few for each code point that
/// they match, so more are needed for long matches alone.
constexpr std::uint32_t kUsualSteps = 4000;
/// Steps for all places that need more: a constant and a share for each byte.
constexpr std::uint64_t kFreeSteps = 50'000'000;
constexpr std::uint64_t kStepsOfByte = 64;
constexpr std::uint32_t kMaxHeapKilobytes = 128 * 1024;

PCRE2_SPTR units_of(std::string_view text) {
  // PCRE2 takes no null pointer, not even for an empty text.
  return reinterpret_cast<PCRE2_SPTR>(text.empty() ? "" : text.data());
}

std::string pcre2_message(int number) {
  std::array<PCRE2_UCHAR, 256> buffer{};
  pcre2_get_error_message(number, buffer.data(), buffer.size());
  return reinterpret_cast<const char*>(buffer.data());
}

template <auto kFree>
struct Pcre2Deleter {
  template <class T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using MatchContext = std::unique_ptr<pcre2_match_context, Pcre2Deleter<pcre2_match_context_free>>;
using CompileContext =
    std::unique_ptr<pcre2_compile_context, Pcre2Deleter<pcre2_compile_context_free>>;

bool is_out_of_steps(int found) {
  return found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_JIT_STACKLIMIT;
}

}  // namespace

struct Regex::State {
  std::unique_ptr<pcre2_code, Pcre2Deleter<pcre2_code_free>> code;
  MatchContext usual;
};

struct RegexSearch::Scratch {
  std::unique_ptr<pcre2_match_data, Pcre2Deleter<pcre2_match_data_free>> match;
  MatchContext patient;  ///< made when it is needed
};

Regex::Regex(std::unique_ptr<State> state) : state_(std::move(state)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::compile(std::string_view expression) {
  constexpr std::uint32_t kOptions =
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  if (expression.size() > kMaxPatternBytes)
    return Error{diag::kTokenizerMalformed,
                 fmt::format("the regular expression has {} bytes, at most {} are read",
                             expression.size(), kMaxPatternBytes)};
  const auto translated = pcre2_syntax(expression);
  if (!translated) return translated.error();
  const CompileContext context(pcre2_compile_context_create(nullptr));
  auto state = std::make_unique<State>();
  state->usual.reset(pcre2_match_context_create(nullptr));
  if (context == nullptr || state->usual == nullptr)
    return Error{diag::kLimitExceeded, "no memory is left for a regular expression"};
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  int number = 0;
  PCRE2_SIZE offset = 0;
  state->code.reset(pcre2_compile(units_of(*translated), translated->size(), kOptions, &number,
                                  &offset, context.get()));
  if (state->code == nullptr)
    return Error{diag::kTokenizerMalformed,
                 fmt::format("the regular expression is refused: {}", pcre2_message(number))};
  // Searches work without compiled code, too, so a failure is harmless.
  pcre2_jit_compile(state->code.get(), PCRE2_JIT_COMPLETE);
  pcre2_set_match_limit(state->usual.get(), kUsualSteps);
  pcre2_set_heap_limit(state->usual.get(), kMaxHeapKilobytes);
  return Regex(std::move(state));
}

RegexSearch::RegexSearch(const Regex& regex, std::string_view text)
    : regex_(*regex.state_),
      text_(text),
      scratch_(std::make_unique<Scratch>()),
      budget_(kFreeSteps + kStepsOfByte * text.size()) {
  scratch_->match.reset(pcre2_match_data_create_from_pattern(regex_.code.get(), nullptr));
}

RegexSearch::~RegexSearch() = default;

Result<std::optional<ByteRange>> RegexSearch::next() {
  while (at_ <= text_.size()) {
    auto found = find(at_);
    if (!found || !found->has_value()) return found;
    const ByteRange match = **found;
    const bool is_empty = match.begin == match.end;
    if (is_empty && last_end_ == match.end) {
      at_ += match.end < text_.size() ? code_point_size(text_[match.end]) : 1;
      continue;
    }
    at_ = match.end;
    last_end_ = match.end;
    return found;
  }
  return std::optional<ByteRange>();
}

Result<std::optional<ByteRange>> RegexSearch::find(std::size_t from) {
  if (scratch_->match == nullptr)
    return Error{diag::kLimitExceeded, "no memory is left for a search"};
  const int found = pcre2_match(regex_.code.get(), units_of(text_), text_.size(), from,
                                PCRE2_NO_UTF_CHECK, scratch_->match.get(), regex_.usual.get());
  if (found == PCRE2_ERROR_NOMATCH) return std::optional<ByteRange>();
  if (is_out_of_steps(found)) return find_slowly(from);
  if (found < 0)
    return Error{diag::kTextNotTokenized,
                 fmt::format("a search by the regular expression ended: {}", pcre2_message(found))};
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(scratch_->match.get());
  // `\K` may put the start of a match after its end.
  return std::optional<ByteRange>({std::min(bounds[0], bounds[1]), bounds[1]});
}

/// Tries one place after the other, each with as many steps as it needs. What a long match took is
/// paid by its length.
Result<std::optional<ByteRange>> RegexSearch::find_slowly(std::size_t from) {
  if (scratch_->patient == nullptr) {
    scratch_->patient.reset(pcre2_match_context_create(nullptr));
    if (scratch_->patient == nullptr)
      return Error{diag::kLimitExceeded, "no memory is left for a search"};
    pcre2_set_heap_limit(scratch_->patient.get(), kMaxHeapKilobytes);
  }
  const auto search = [&](std::size_t at, std::uint64_t steps) {
    pcre2_set_match_limit(scratch_->patient.get(), static_cast<std::uint32_t>(steps));
    return pcre2_match(regex_.code.get(), units_of(text_), text_.size(), at,
                       PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED, scratch_->match.get(),
                       scratch_->patient.get());
  };
  constexpr std::uint64_t kMaxSteps = 1 << 30;
  for (std::size_t at = from; at <= text_.size();) {
    std::uint64_t steps = kUsualSteps, spent = 0;
    int found = search(at, steps);
    while (found == PCRE2_ERROR_MATCHLIMIT && steps < kMaxSteps) {
      steps *= 8;
      spent += steps;
      if (spent > budget_) break;
      found = search(at, steps);
    }
    if (found >= 0) {
      const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(scratch_->match.get());
      const ByteRange match{std::min(bounds[0], bounds[1]), bounds[1]};
      budget_ -= spent - std::min(spent, kStepsOfByte * (match.end - match.begin));
      return std::optional<ByteRange>(match);
    }
    if (found != PCRE2_ERROR_NOMATCH)
      return Error{diag::kTextNotTokenized,
                   fmt::format("a search by the regular expression takes too many steps: {}",
                               pcre2_message(found))};
    budget_ -= spent;
    at += at < text_.size() ? code_point_size(text_[at]) : 1;
  }
  return std::optional<ByteRange>();
}

}  // namespace mir::tokenizer
