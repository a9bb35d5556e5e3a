// Lexical rules of MLLM IR text, as docs/language.md states them. Each start condition is a context
// that the scanner itself tracks; src/syntax/lexer.cpp holds the few scans that look ahead.
#include "syntax/lexer.hpp"

#include "mir/codes/syntax.hpp"

/*!types:re2c:lexer*/

namespace mir {

namespace {

// Contexts of Lexer::Nesting in its order; kType is entered before its shape and left after it.
constexpr int kConditionOf[] = {yycbody, yyclist, yycattrs, yycsymref, yycdata,
                                yycdata, yycspec, yycentries, yyctail,   yycshape};

}  // namespace

void Lexer::enter(Nesting inside) { condition_ = kConditionOf[static_cast<int>(inside)]; }

TokenKind Lexer::scan() {
  const Byte* cursor = cursor_;
  const Byte* marker = nullptr;
  /*!stags:re2c:lexer format = 'const Byte* @@ = nullptr;\n'; */
  if (condition_ == yyclist && skip_to_known_value()) return finish(TokenKind::kTypedValue);
  // Actions that read on from the end of the match need the members to be current.
#define MIR_ACCEPT (cursor_ = cursor, *this)
again:
  begin_ = cursor;
  /*!local:re2c:lexer
  re2c:define:YYCTYPE = "unsigned char";
  re2c:define:YYCURSOR = cursor;
  re2c:define:YYMARKER = marker;
  re2c:define:YYGETCONDITION = "condition_";
  re2c:define:YYGETCONDITION:naked = 1;
  re2c:define:YYSETCONDITION = "condition_ = @@;";
  re2c:define:YYSETCONDITION:naked = 1;
  re2c:yyfill:enable = 0;

  ws       = [ \t\r\n];
  blank    = [ \t];
  comment  = "//" [^\n\x00]*;
  gap      = (ws | comment "\n")*;
  done     = ws* ([,\]] | "//");
  digits   = [0-9]+;
  word     = [A-Za-z_][A-Za-z0-9_]*;
  symchars = [A-Za-z0-9_.$/-];
  relative = "." [A-Za-z0-9_.$-]* [A-Za-z0-9_.$];
  numbered = "#" word "(" digits ")";
  integer  = "-"? digits;
  float    = "-"? ((digits "." [0-9]* | "." digits | digits) ([eE] [+-]? digits)? | "inf" | "nan");
  string   = ["] ([^"\\\n\x00] | "\\" [^\n\x00])* ["];
  dimatom  = digits | "$" word;
  dimchar  = [A-Za-z0-9_$+*%() \t-];
  dimexpr  = [0-9($-] (dimchar | "/" dimchar)*;
  pack     = "$" word "..";
  dim      = integer | "?" | "$" word ([+*/%-] dimatom)* | pack;
  dimopen  = ([(-] blank*)*;
  dimclose = (blank* ")")*;
  dimop    = blank* [+*/%-] blank* | blank+ ("min" | "max") blank+;
  type     = "tensor<[" (dim (", " dim)*)? "], " word ", " word ">";
  field    = word ": " (integer | word);
  quant    = "QuantSpec(" word "(" (field (", " field)*)? ")" (", " word "=" integer)* ")";

  // -- every context --------------------------------------------------------------------------
  <*> [\x00]  { if (begin_ == limit_) { cursor_ = limit_; return TokenKind::kEnd; }
                return MIR_ACCEPT.fail(diag::kNulByte, "NUL byte in the text"); }
  <*> [\x1b]  { return MIR_ACCEPT.fail_log_line(); }
  <*> *       { return MIR_ACCEPT.fail_stray(); }
  <*> ws+     { goto again; }
  <body, list, attrs, data, spec, entries, tensor, shape, tail, label> comment { goto again; }

  // -- bodies and op heads --------------------------------------------------------------------
  <body> "@"                          { return MIR_ACCEPT.symbol_in_head(); }
  <body> "@" string                   { return MIR_ACCEPT.finish(TokenKind::kSymbol); }
  <body> "addr" ws* ":" ws* "0x" [0-9a-fA-F]+ { return MIR_ACCEPT.finish(TokenKind::kAddress); }
  <body> "prog.jump"                  { condition_ = yyclabel; return MIR_ACCEPT.finish(TokenKind::kOpName); }
  <body> word ("." [A-Za-z0-9_$-]+)*  { return MIR_ACCEPT.op_name(false); }
  <body> "." word                     { return MIR_ACCEPT.finish(TokenKind::kOpName); }
  <body> "prog." word ".inst." [A-Za-z0-9_+]+ { return MIR_ACCEPT.op_name(false); }
  <body> "linalg." word "." [^(<[{ \t\r\n\x00\x1b]* { return MIR_ACCEPT.op_name(true); }
  <body> "loc" ws* "("                { return MIR_ACCEPT.balanced(TokenKind::kLoc, '(', ')'); }
  <body> "<" ws* relative ws* ">"     { return MIR_ACCEPT.finish(TokenKind::kNameAngle); }
  <body> "<" [^<>{}"\n\x00\x1b-]* ">" { return MIR_ACCEPT.finish(TokenKind::kAngle); }
  <body> "<"                          { return MIR_ACCEPT.balanced(TokenKind::kAngle, '<', '>'); }
  <body> "<" ws* "name" ws* "=" ws* ["] { return MIR_ACCEPT.op_name_tag('>', TokenKind::kNameAngle); }
  <body> "[" ws* "name" ws* "=" ws* ["] { return MIR_ACCEPT.op_name_tag(']', TokenKind::kNameSquare); }
  <body> "#" word                     { return MIR_ACCEPT.finish(TokenKind::kHash); }
  <body> "!" word                     { return MIR_ACCEPT.finish(TokenKind::kOpaqueType); }
  <body> "="                          { condition_ = yycvalue; return MIR_ACCEPT.finish(TokenKind::kEqual); }

  <body, list> "["                { return MIR_ACCEPT.push(Nesting::kAttributes, TokenKind::kLBracket); }
  <body, list> "[" / (ws* "@")    { return MIR_ACCEPT.push(Nesting::kSymbolRef, TokenKind::kLBracketSymbol); }
  <body, list> "[" / (gap "^")    { return MIR_ACCEPT.push(Nesting::kList, TokenKind::kLBracketBlock); }
  <body, list> "^" symchars+      { return MIR_ACCEPT.finish(TokenKind::kBlockName); }
  <body, list> "("                { return MIR_ACCEPT.push(Nesting::kList, TokenKind::kLParen); }
  <body, list> ")"                { return MIR_ACCEPT.pop(Nesting::kList, TokenKind::kRParen); }
  <body, list> "]"                { return MIR_ACCEPT.pop(Nesting::kList, TokenKind::kRBracket); }
  <body, list> "->"               { return MIR_ACCEPT.finish(TokenKind::kArrow); }
  <body, list> "{"                { return MIR_ACCEPT.push(Nesting::kBody, TokenKind::kLBrace); }
  <body, list> "}"                { return MIR_ACCEPT.pop(Nesting::kBody, TokenKind::kRBrace); }
  <body, list> ","                { return MIR_ACCEPT.finish(TokenKind::kComma); }
  <body, list> ":"                { return MIR_ACCEPT.finish(TokenKind::kColon); }

  <label> [^ \t\r\n\x00\x1b]      { return MIR_ACCEPT.jump_label(); }

  // -- value lists ----------------------------------------------------------------------------
  <list> "%" [A-Za-z0-9_.$-]* ":" type { MIR_ACCEPT.note_type(); return finish(TokenKind::kTypedValue); }
  <list> "%" [A-Za-z0-9_.$-]*     { return MIR_ACCEPT.value_name(); }
  <body> "%" [A-Za-z0-9_.$-]*     { return MIR_ACCEPT.finish(TokenKind::kValue); }
  <list> word                     { return MIR_ACCEPT.finish(TokenKind::kWord); }
  <list> type                     { return MIR_ACCEPT.finish(TokenKind::kType); }
  <list> "tensor" / (gap "<")     { condition_ = yyctensor; return MIR_ACCEPT.finish(TokenKind::kTensor); }
  <list> "!" symchars+            { return MIR_ACCEPT.balanced(TokenKind::kOpaqueType, '<', '>'); }

  // -- tensor types that are not one token ----------------------------------------------------
  <tensor> "<"                    { auto kind = MIR_ACCEPT.push(Nesting::kType, TokenKind::kLess);
                                    condition_ = yyctensor; return kind; }
  <tensor> "["                    { return MIR_ACCEPT.push(Nesting::kShape, TokenKind::kShapeOpen); }
  <tensor> [^<[ \t\r\n\x00\x1b]   { cursor = begin_; condition_ = yyctail; goto again; }
  <shape> "]"                     { return MIR_ACCEPT.pop(Nesting::kShape, TokenKind::kShapeClose); }
  <shape> ","                     { return MIR_ACCEPT.finish(TokenKind::kComma); }
  <shape> "?" | integer | pack    { return MIR_ACCEPT.finish(TokenKind::kDim); }
  <shape> dimexpr                 { MIR_ACCEPT.trim_end(); return finish(TokenKind::kDim); }
  <tail> ">"                      { return MIR_ACCEPT.pop(Nesting::kType, TokenKind::kGreater); }

  // -- attribute lists ------------------------------------------------------------------------
  <symref> "@"                    { return MIR_ACCEPT.symbol_in_brackets(); }
  <symref> "@" string             { return MIR_ACCEPT.finish(TokenKind::kSymbol); }
  <symref> "]"                    { return MIR_ACCEPT.pop(Nesting::kSymbolRef, TokenKind::kRBracket); }
  <attrs> string                  { return MIR_ACCEPT.finish(TokenKind::kKey); }
  <attrs> [A-Za-z0-9_.$-]+        { return MIR_ACCEPT.attribute_key(); }
  <attrs> ":"                     { condition_ = yycvalue; return MIR_ACCEPT.finish(TokenKind::kColon); }
  <attrs> "*"                     { return MIR_ACCEPT.finish(TokenKind::kWord); }
  <attrs> "#" word | numbered     { return MIR_ACCEPT.finish(TokenKind::kHash); }
  <attrs> ","                     { return MIR_ACCEPT.finish(TokenKind::kComma); }
  <attrs> "]"                     { return MIR_ACCEPT.pop(Nesting::kAttributes, TokenKind::kRBracket); }
  <attrs> "("                     { return MIR_ACCEPT.finish(TokenKind::kLParen); }
  <attrs> ")"                     { return MIR_ACCEPT.finish(TokenKind::kRParen); }

  // -- attribute values -----------------------------------------------------------------------
  <value> integer / done   { return MIR_ACCEPT.value_done(TokenKind::kInt); }
  <value> float / done     { return MIR_ACCEPT.value_done(TokenKind::kFloat); }
  <value> "true" / done    { return MIR_ACCEPT.value_done(TokenKind::kTrue); }
  <value> "false" / done   { return MIR_ACCEPT.value_done(TokenKind::kFalse); }
  <value> "null" / done    { return MIR_ACCEPT.value_done(TokenKind::kNull); }
  <value> dimexpr done     { return MIR_ACCEPT.bare_value(); }
  <value> ("?" | pack) / done { return MIR_ACCEPT.value_done(TokenKind::kDim); }
  <value> "<InvalidAttribute NYI>" { return MIR_ACCEPT.value_done(TokenKind::kInvalid); }
  <value> ["]                     { condition_ = yycattrs;
                                    return MIR_ACCEPT.fail(diag::kUnterminatedString, "string without a closing quote"); }
  <data, spec, entries, tail> ["]   { return MIR_ACCEPT.fail(diag::kUnterminatedString, "string without a closing quote"); }

  <value, data, tail> string      { return MIR_ACCEPT.value_done(TokenKind::kString); }
  <value, data, tail> "["         { return MIR_ACCEPT.push(Nesting::kArray, TokenKind::kArrayOpen); }
  <value, data, tail> "{"         { return MIR_ACCEPT.push(Nesting::kDict, TokenKind::kDictOpen); }
  <value, data> "@" symchars*     { return MIR_ACCEPT.value_done(TokenKind::kSymbol); }
  <value, data> "@" string        { return MIR_ACCEPT.value_done(TokenKind::kSymbol); }
  <value, data, tail, entries> "#" symchars+ { return MIR_ACCEPT.balanced(TokenKind::kHash, '<', '>'); }
  <value, data, entries> numbered { return MIR_ACCEPT.value_done(TokenKind::kHash); }
  <value, data> "!" symchars+     { return MIR_ACCEPT.balanced(TokenKind::kOpaqueType, '<', '>'); }
  <value, data> type              { return MIR_ACCEPT.value_done(TokenKind::kType); }
  <value, data> "tensor" / (gap "<") { value_done(TokenKind::kTensor); condition_ = yyctensor;
                                    return MIR_ACCEPT.finish(TokenKind::kTensor); }
  <value, data, entries> quant      { return MIR_ACCEPT.value_done(TokenKind::kQuantSpec); }
  <value, data, entries> "QuantSpec" ws* "("       { return MIR_ACCEPT.push(Nesting::kSpec, TokenKind::kQuantSpecOpen); }
  <value, data> "QuantAnnotation" ws* "(" { return MIR_ACCEPT.push(Nesting::kAnnotation, TokenKind::kQuantAnnotationOpen); }

  <value> [^ \t\r\n\x00\x1b]      { return MIR_ACCEPT.bare_value(); }

  // -- inside arrays and dictionaries ---------------------------------------------------------
  <data> "]"                      { return MIR_ACCEPT.pop(Nesting::kArray, TokenKind::kArrayClose); }
  <data> "}"                      { return MIR_ACCEPT.pop(Nesting::kDict, TokenKind::kDictClose); }
  <data, tail> ","                { return MIR_ACCEPT.finish(TokenKind::kComma); }
  <data> ":"                      { return MIR_ACCEPT.finish(TokenKind::kColon); }
  <data, tail> integer            { return MIR_ACCEPT.finish(TokenKind::kInt); }
  <data> float                    { return MIR_ACCEPT.finish(TokenKind::kFloat); }
  <data, tail> "true"             { return MIR_ACCEPT.finish(TokenKind::kTrue); }
  <data, tail> "false"            { return MIR_ACCEPT.finish(TokenKind::kFalse); }
  <data, tail> "null"             { return MIR_ACCEPT.finish(TokenKind::kNull); }
  <data, tail> word               { return MIR_ACCEPT.finish(TokenKind::kWord); }
  <data> "?" | pack               { return MIR_ACCEPT.finish(TokenKind::kDim); }
  <data> (dimopen digits dimclose dimop)* dimopen "$" word dimclose (dimop dimopen dimatom dimclose)*
                                  { return MIR_ACCEPT.finish(TokenKind::kDim); }

  // -- quantisation specs ---------------------------------------------------------------------
  <spec> "None" ws* "(" / (gap ",") { return MIR_ACCEPT.finish(TokenKind::kNoneOpen); }
  <spec, entries> word              { return MIR_ACCEPT.finish(TokenKind::kWord); }
  <spec, entries> integer           { return MIR_ACCEPT.finish(TokenKind::kInt); }
  <spec> "("                      { return MIR_ACCEPT.push(Nesting::kSpec, TokenKind::kDataLParen); }
  <spec> ")"                      { return MIR_ACCEPT.pop(Nesting::kSpec, TokenKind::kDataRParen); }
  <entries> ")"                     { return MIR_ACCEPT.pop(Nesting::kAnnotation, TokenKind::kDataRParen); }
  <spec, entries> ","               { return MIR_ACCEPT.finish(TokenKind::kComma); }
  <spec> ":"                      { return MIR_ACCEPT.finish(TokenKind::kFieldColon); }
  <entries> ":"                     { return MIR_ACCEPT.finish(TokenKind::kColon); }
  <spec> "="                      { return MIR_ACCEPT.finish(TokenKind::kEqual); }
  */
#undef MIR_ACCEPT
}

}  // namespace mir
