// The rules of the canonical layout: the space and line breaks before a token, given what precedes
// it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "mir/parse.hpp"
#include "syntax/short_names.hpp"
#include "syntax/token_text.hpp"

namespace mir::layout {

using K = TokenKind;

// -- what is printed between two tokens -----------------------------------------------------------

enum class Gap : std::uint8_t {
  kNone,
  kBlank,
  kLine,      // begins a line of its own
  kContinue,  // goes on in the next line
};

/// Kinds that can be the last token of a module or of an alias definition.
constexpr bool ends_item(K kind) {
  return kind == K::kEnd || kind == K::kRBrace || kind == K::kString || kind == K::kHash ||
         kind == K::kArrayClose || kind == K::kDictClose || kind == K::kQuantSpec ||
         kind == K::kDataRParen || kind == K::kType || kind == K::kGreater ||
         kind == K::kOpaqueType;
}

constexpr bool begins_line(K previous, K kind) {
  switch (kind) {
    case K::kRBrace:
    case K::kAddress:
      return true;
    case K::kOpName:
      return previous != K::kAddress;
    case K::kBlockName:
      return previous != K::kLBracketBlock && previous != K::kComma;
    case K::kLParen:
      return previous == K::kLBrace || previous == K::kRBrace;
    case K::kSymbol:
    case K::kHash:
    case K::kOpaqueType:
      return ends_item(previous);
    default:
      return false;
  }
}

constexpr Gap gap_before_bracket(K previous) {
  switch (previous) {
    case K::kOpName:
    case K::kSymbol:
    case K::kAngle:
    case K::kNameAngle:
    case K::kNameSquare:
      return Gap::kBlank;
    default:
      return Gap::kNone;
  }
}

constexpr Gap gap_before_parenthesis(K previous) {
  switch (previous) {
    case K::kAngle:
    case K::kSymbol:
    case K::kLabel:
    case K::kRBracket:
      return Gap::kBlank;
    default:
      return Gap::kNone;
  }
}

constexpr Gap gap_between(K previous, K kind) {
  if (begins_line(previous, kind)) return Gap::kLine;
  if (previous == K::kComma || previous == K::kArrow || previous == K::kAddress ||
      previous == K::kFieldColon) {
    return Gap::kBlank;
  }
  if (previous == K::kEqual) return kind == K::kInt ? Gap::kNone : Gap::kBlank;
  switch (kind) {
    case K::kArrow:
    case K::kLBrace:
    case K::kLBracketBlock:
    case K::kLabel:
    case K::kNameAngle:
    case K::kNameSquare:
    case K::kAngle:
      return Gap::kBlank;
    case K::kLBracket:
      return gap_before_bracket(previous);
    case K::kLParen:
      return gap_before_parenthesis(previous);
    case K::kSymbol:
      return previous == K::kOpName || previous == K::kLabel ? Gap::kBlank : Gap::kNone;
    case K::kEqual:
      return previous == K::kHash || previous == K::kOpaqueType ? Gap::kBlank : Gap::kNone;
    case K::kLoc:
      return previous == K::kSymbol || previous == K::kLabel ? Gap::kContinue : Gap::kBlank;
    default:
      return Gap::kNone;
  }
}

// -- the same as a table --------------------------------------------------------------------------

/// State before a token: the kind of the previous one, or one of the cases that its kind leaves
/// open.
using Before = std::uint8_t;
inline constexpr Before kLinalgName = kTokenKinds;        // its mnemonic is any text
inline constexpr Before kRegisterName = kTokenKinds + 1;  // `linalg.CPU.register<Linear>()`
inline constexpr Before kTightAngle = kTokenKinds + 2;
inline constexpr Before kProgramName = kTokenKinds + 3;  // `prog.label[`
inline constexpr Before kListedName = kTokenKinds + 4;   // `cf.ReturnOp (`
inline constexpr Before kCompactComma = kTokenKinds + 5;
inline constexpr int kBefores = kTokenKinds + 6;

constexpr K kind_before(Before before) {
  switch (before) {
    case kLinalgName:
    case kRegisterName:
    case kProgramName:
    case kListedName:
      return K::kOpName;
    case kTightAngle:
      return K::kAngle;
    case kCompactComma:
      return K::kComma;
    default:
      return static_cast<K>(before);
  }
}

constexpr Gap gap_after(Before before, K kind) {
  const Gap usual = gap_between(kind_before(before), kind);
  if (usual == Gap::kLine) return usual;
  switch (before) {
    case kCompactComma:
      return Gap::kNone;
    case kLinalgName:
      return kind == K::kLoc ? Gap::kContinue : usual;
    case kRegisterName:
      return kind == K::kLoc ? Gap::kContinue : kind == K::kAngle ? Gap::kNone : usual;
    case kTightAngle:
      return kind == K::kLParen ? Gap::kNone : usual;
    case kProgramName:
      return kind == K::kLBracket ? Gap::kNone : usual;
    case kListedName:
      return kind == K::kLParen ? Gap::kBlank : usual;
    default:
      return usual;
  }
}

/// Kinds after which more than the last token has to be remembered, or with several spellings.
constexpr bool is_tracked(K kind) {
  switch (kind) {
    case K::kOpName:
    case K::kLBrace:
    case K::kDictOpen:
    case K::kArrayOpen:
    case K::kTensor:
    case K::kDataLParen:
    case K::kDictClose:
    case K::kArrayClose:
    case K::kGreater:
    case K::kDataRParen:
    case K::kBare:
      return true;
    default:
      return has_inner_space(kind);
  }
}

inline constexpr std::uint8_t kTracked = 0x80;

/// The gap, marked where the token is tracked, so that one comparison finds the plain cases.
inline constexpr auto kSteps = [] {
  std::array<std::array<std::uint8_t, kTokenKinds>, kBefores> table{};
  for (int before = 0; before < kBefores; ++before) {
    for (int kind = 0; kind < kTokenKinds; ++kind) {
      const Gap gap = gap_after(static_cast<Before>(before), static_cast<K>(kind));
      table[before][kind] = static_cast<std::uint8_t>(
          static_cast<int>(gap) | (is_tracked(static_cast<K>(kind)) ? kTracked : 0));
    }
  }
  return table;
}();

inline std::uint8_t step(Before before, K kind) {
  return kSteps[before][static_cast<std::size_t>(kind)];
}

inline Before before_of(K kind, bool compact) {
  return compact && kind == K::kComma ? kCompactComma : static_cast<Before>(kind);
}

inline Before before_of_op(std::string_view name) {
  if (name.starts_with('.')) return is_short_tensor_name(name) ? kListedName : kLinalgName;
  if (name.starts_with("linalg.")) return name.ends_with(".register") ? kRegisterName : kLinalgName;
  if (name.starts_with("prog.")) return kProgramName;
  if (name.starts_with("graph.") || name.starts_with("tensor.") || name.starts_with("cf.")) {
    return kListedName;
  }
  return before_of(K::kOpName, false);
}

}  // namespace mir::layout
