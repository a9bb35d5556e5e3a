// The table of token kinds: names in messages and names of enumerators.
#include <array>

#include "mir/parse.hpp"

namespace mir {

namespace {

struct TokenName {
  std::string_view enumerator;
  std::string_view human;  // a quoted spelling, or a noun with its article left out
};

constexpr std::array<TokenName, kTokenKinds> kTokens = {{
    {"End", "end of file"},
    {"Error", "unreadable text"},
    {"Undefined", "unreadable text"},
    {"Resume", "text"},
    {"ResumeBody", "text"},
    {"Symbol", "symbol"},
    {"OpName", "operation"},
    {"Label", "jump label"},
    {"Address", "address"},
    {"Angle", "'<...>'"},
    {"NameAngle", "op name"},
    {"NameSquare", "op name"},
    {"BlockName", "block name"},
    {"Loc", "location"},
    {"Arrow", "'->'"},
    {"LParen", "'('"},
    {"RParen", "')'"},
    {"LBrace", "'{'"},
    {"RBrace", "'}'"},
    {"LBracket", "'['"},
    {"LBracketSymbol", "'['"},
    {"LBracketBlock", "'['"},
    {"RBracket", "']'"},
    {"Comma", "','"},
    {"Colon", "':'"},
    {"Equal", "'='"},
    {"TypedValue", "value"},
    {"Value", "value"},
    {"Type", "type"},
    {"Tensor", "type"},
    {"OpaqueType", "type"},
    {"Less", "'<'"},
    {"Greater", "'>'"},
    {"ShapeOpen", "'['"},
    {"ShapeClose", "']'"},
    {"Dim", "dimension"},
    {"Word", "word"},
    {"Key", "attribute key"},
    {"Int", "integer"},
    {"Float", "number"},
    {"String", "string"},
    {"True", "'true'"},
    {"False", "'false'"},
    {"Null", "'null'"},
    {"Bare", "unquoted string"},
    {"Invalid", "'<InvalidAttribute NYI>'"},
    {"Hash", "attribute alias"},
    {"ArrayOpen", "'['"},
    {"ArrayClose", "']'"},
    {"DictOpen", "'{'"},
    {"DictClose", "'}'"},
    {"QuantSpec", "quantisation spec"},
    {"QuantSpecOpen", "'QuantSpec('"},
    {"QuantAnnotationOpen", "'QuantAnnotation('"},
    {"NoneOpen", "'None('"},
    {"DataLParen", "'('"},
    {"DataRParen", "')'"},
    {"FieldColon", "':'"},
}};

}  // namespace

std::string_view describe(TokenKind kind) {
  return kTokens[static_cast<std::size_t>(kind)].human;
}

std::string_view enumerator_name(TokenKind kind) {
  return kTokens[static_cast<std::size_t>(kind)].enumerator;
}

}  // namespace mir
