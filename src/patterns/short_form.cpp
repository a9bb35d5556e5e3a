// Reads the terms of a pattern in short form and writes its long form.
#include "patterns/short_form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/context/elements.hpp"
#include "ir/op_places.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/passes.hpp"
#include "mir/rewriter.hpp"
#include "support/characters.hpp"
#include "syntax/text_literal.hpp"

// note [terms]
//   term       = operation | value | constant ;
//   operation  = [ "%" name [ ":" type ] "=" ] op-name [ "<name=...>" ] [ attributes ] operands ;
//   attributes = "[" key ":" value { "," key ":" value } "]" ;
//   operands   = "(" [ term { "," term } ] ")" ;
//   value      = "%" name [ ".." ] [ ":" type ] ;
//   constant   = ( number | "$" word ) [ ":" type ] ;
// `Neg`, `NegOp` and `linalg.NegOp` are `linalg.D.NegOp`. A value that no operation
// before it defines is an input; the match has all inputs, in the order in which they occur.

namespace mir::patterns {

namespace {

/// Words and dots.
constexpr std::string_view kTermCharacters = kNameCharacters.substr(0, kWordCharacters.size() + 1);

/// See note [terms].
std::string full_spelling(std::string_view op) {
  constexpr std::string_view kDialect = "linalg.";
  std::string_view stem = op;
  if (stem.starts_with(kDialect)) stem.remove_prefix(kDialect.size());
  if (stem.find('.') != stem.npos) return std::string(op);
  return fmt::format("linalg.D.{}{}", stem, stem.ends_with("Op") ? "" : "Op");
}

/// An input of the match, which the rewrite has, too.
struct TermInput {
  std::string name;
  const Type* type = nullptr;
  bool is_many = false;  ///< stands for any number of values
};

/// Makes the ops of one term in a region of the long form.
class TermReader {
 public:
  TermReader(Rewriter& rewriter, Region& region, std::string_view text, const Type* any,
             std::span<const NamedAttr> classes)
      : rewriter_(rewriter),
        context_(rewriter.context()),
        region_(region),
        rest_(text),
        any_(any),
        classes_(classes) {
    block_ = rewriter_.create_block(region_);
  }

  /// The inputs come from the term itself.
  bool read_match(std::vector<TermInput>& inputs) {
    takes_inputs_ = true;
    if (!read()) return false;
    inputs = std::move(inputs_);
    return true;
  }
  bool read_rewrite(const std::vector<TermInput>& inputs) {
    for (const TermInput& each : inputs) add_input(each);
    return read();
  }
  const std::string& problem() const { return problem_; }

 private:
  bool read() {
    Value* result = term(0);
    if (result == nullptr) return false;
    skip_blanks();
    if (!rest_.empty()) return fail(fmt::format("unexpected '{}' after the term", rest_));
    rewriter_.set_insertion_point_to_end(*block_);
    rewriter_.create({.name = context_.op_name(OpId::kCfReturn),
                      .operands = {&result, 1},
                      .location = rewriter_.default_location()});
    const Type* type = result->type();
    rewriter_.set_result_types(region_, {&type, 1});
    return true;
  }

  bool fail(std::string message) {
    if (problem_.empty()) problem_ = std::move(message);
    return false;
  }
  std::nullptr_t refuse(std::string message) {
    fail(std::move(message));
    return nullptr;
  }

  // -- words --------------------------------------------------------------------------------------

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
  }
  bool sign(char expected) {
    skip_blanks();
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view word() {
    return take(std::min(rest_.find_first_not_of(kTermCharacters), rest_.size()));
  }
  /// Up to one of the characters `ends` outside of brackets and quotes.
  std::string_view balanced(std::string_view ends) {
    int depth = 0;
    bool in_quotes = false;
    std::size_t at = 0;
    for (; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (in_quotes) {
        at += c == '\\' ? 1 : 0;
        in_quotes = c != '"';
        continue;
      }
      in_quotes = c == '"';
      if (depth == 0 && ends.find(c) != ends.npos) break;
      depth += c == '[' || c == '(' || c == '<' || c == '{';
      depth -= c == ']' || c == ')' || c == '>' || c == '}';
    }
    const std::string_view taken = take(std::min(at, rest_.size()));
    return taken.substr(0, taken.find_last_not_of(" \t\r\n") + 1);
  }

  // -- terms --------------------------------------------------------------------------------------

  static constexpr int kMostNested = 50;

  Value* term(int depth) {
    if (depth > kMostNested) return refuse("the term is nested too deeply");
    skip_blanks();
    if (rest_.empty())
      return refuse("the term ends where a value, a number or an operation follows");
    if (rest_.front() == '%') return named(depth);
    constexpr std::string_view kEnds = ",): \t\r\n";
    const std::size_t end = std::min(rest_.find_first_of(kEnds), rest_.size());
    const std::string_view literal = rest_.substr(0, end);
    if (literal.starts_with('$') || read_number(literal)) return constant(take(end));
    return operation(depth, "", any_);
  }

  /// A value, or the operation whose result has this name.
  Value* named(int depth) {
    take(1);
    std::string name(word());
    const bool is_many = name.ends_with(kPackSuffix);
    if (is_many) name.resize(name.size() - kPackSuffix.size());
    if (name.empty()) return refuse("'%' without a name");
    const Type* stated = type();
    if (!problem_.empty()) return nullptr;
    if (sign('=')) {
      skip_blanks();
      return operation(depth, name, stated == nullptr ? any_ : stated);
    }
    const auto known = values_.find(name);
    if (known == values_.end()) {
      if (!takes_inputs_) return refuse(fmt::format("'%{}' is not a value of the match", name));
      return add_input({name, stated == nullptr ? any_ : stated, is_many});
    }
    if (stated != nullptr && stated != known->second->type()) {
      return refuse(fmt::format("'%{}' has two types", name));
    }
    return known->second;
  }

  /// `: type`; null if there is none.
  const Type* type() {
    if (!sign(':')) return nullptr;
    skip_blanks();
    const std::string_view text = balanced(",)=");
    const auto parsed = context_.parse_type(text);
    if (parsed) return *parsed;
    return refuse(fmt::format("'{}' is not a type", text));
  }

  Value* constant(std::string_view text) {
    const Attr* list = elements(fmt::format("[{}]", text));
    const Type* stated = type();
    if (!problem_.empty()) return nullptr;
    const NamedAttr numbers{key::kConstant, list};
    Value* value = rewriter_.create_free_value(region_, stated == nullptr ? any_ : stated,
                                               ValueName::symbol(context_.intern(text)));
    rewriter_.set_attributes(*value, {&numbers, 1});
    return value;
  }

  /// The one value that a text spells; null after an error.
  const Attr* elements(const std::string& text) {
    Diagnostics found(1);
    const auto list = read_elements(context_, text, 0, found);
    if (list && list->size() == 1) return list->front().value;
    return refuse(found.has_errors() ? found.sorted().front().message
                                     : fmt::format("'{}' cannot be read", text));
  }

  Value* operation(int depth, const std::string& name, const Type* type) {
    const std::string_view spelling = word();
    if (spelling.empty()) return refuse(fmt::format("expected an operation, found '{}'", rest_));
    const bool is_class = find_attribute(classes_, context_.intern(spelling)) != nullptr;
    OpSpec spec{.name = context_.op_name(is_class ? fmt::format("class.{}", spelling)
                                                  : full_spelling(spelling)),
                .result_types = {&type, 1},
                .location = rewriter_.default_location()};
    skip_blanks();
    constexpr std::string_view kPath = "<name=";
    if (rest_.starts_with(kPath)) {
      take(kPath.size());
      const auto path = unquote(balanced(">"));
      if (!path || !sign('>')) return refuse("a name is written <name=\"$n\">");
      spec.path = context_.intern(*path);
    }
    std::vector<NamedAttr> attributes;
    if (sign('[')) {
      const Attr* stated = elements(fmt::format("{{{}}}", balanced("]")));
      if (stated == nullptr || !sign(']')) return refuse("attributes are written [key:value, ...]");
      attributes.assign(stated->entries().begin(), stated->entries().end());
    }
    if (!sign('('))
      return refuse(fmt::format("expected the operands of '{}' in parentheses", spelling));
    std::vector<Value*> operands;
    while (!sign(')')) {
      if (!operands.empty() && !sign(',')) return refuse("operands are separated by commas");
      Value* operand = term(depth + 1);
      if (operand == nullptr) return nullptr;
      operands.push_back(operand);
    }
    spec.operands = operands;
    spec.attributes = attributes;
    rewriter_.set_insertion_point_to_end(*block_);
    Value* result = rewriter_.create(spec)->result();
    if (values_.contains(name)) return refuse(fmt::format("'%{}' is defined twice", name));
    define(name.empty() ? unwritable_name(spelling) : name, *result);
    return result;
  }

  /// A name of its own for a result, which no term can mention.
  std::string unwritable_name(std::string_view op) const {
    std::string name = fmt::format("{}?", op);
    for (int n = 2; values_.contains(name); ++n) name = fmt::format("{}?{}", op, n);
    return name;
  }

  Value* add_input(const TermInput& input) {
    Value* value = rewriter_.add_argument(*block_, input.type);
    const NamedAttr many{context_.intern("many"), context_.boolean(true)};
    if (input.is_many) rewriter_.set_attributes(*value, {&many, 1});
    define(input.name, *value);
    inputs_.push_back(input);
    return value;
  }

  void define(const std::string& name, Value& value) {
    values_.emplace(name, &value);
    rewriter_.set_name(value, ValueName::symbol(context_.intern(name)));
  }

  Rewriter& rewriter_;
  IRContext& context_;
  Region& region_;
  Block* block_ = nullptr;
  std::string_view rest_;
  const Type* any_;
  std::span<const NamedAttr> classes_;  // by name
  bool takes_inputs_ = false;
  std::map<std::string, Value*, std::less<>> values_;
  std::vector<TermInput> inputs_;
  std::string problem_;
};

/// The text of a term that an op states; empty after reporting that it states none.
std::string_view term_of(const Op& op, std::string_view key, Diagnostics& diagnostics) {
  const Attr* stated = op.attribute(key);
  const bool is_text = stated != nullptr && stated->kind() == AttrKind::kString;
  if (is_text && op.region_count() == 0 && !stated->text().empty()) return stated->text();
  diagnostics.error(diag::kBadPattern, op.span(),
                    "a pattern has two regions, or two terms: 'match' and 'rewrite'");
  return {};
}

}  // namespace

bool is_short_form(const Op& op) {
  return op.attribute(key::kMatch) != nullptr || op.attribute(key::kRewrite) != nullptr;
}

std::unique_ptr<Module> long_form(const Op& op, Diagnostics& diagnostics) {
  const std::string_view match = term_of(op, key::kMatch, diagnostics);
  if (match.empty()) return nullptr;
  const std::string_view rewrite = term_of(op, key::kRewrite, diagnostics);
  if (rewrite.empty()) return nullptr;
  IRContext& context = op.module().context();
  const Type* any = *context.dialect_type("builtin.any");
  auto module = std::make_unique<Module>(context, op.module().name());
  Rewriter rewriter(*module);
  rewriter.set_default_location(op.location());
  std::vector<NamedAttr> attributes;
  for (const NamedAttr& each : op.attributes()) {
    if (each.key != key::kMatch && each.key != key::kRewrite) attributes.push_back(each);
  }
  rewriter.set_insertion_point_to_end(*rewriter.create_block(module->body()));
  Op* pattern = rewriter.create({.name = op.op_name(),
                                 .attributes = attributes,
                                 .regions = 2,
                                 .symbol = op.symbol(),
                                 .location = op.location(),
                                 .has_signature = false});
  const Attr* classes = op.attribute(key::kClasses);
  std::vector<TermInput> inputs;
  for (const std::string_view key : {key::kMatch, key::kRewrite}) {
    Region& region = *pattern->region(key == key::kMatch ? 0 : 1);
    rewriter.set_has_signature(region, true);
    TermReader reader(rewriter, region, key == key::kMatch ? match : rewrite, any,
                      classes == nullptr ? std::span<const NamedAttr>() : classes->entries());
    if (key == key::kMatch ? reader.read_match(inputs) : reader.read_rewrite(inputs)) continue;
    const std::string_view name = context.text(op.symbol());
    diagnostics.error(diag::kBadPattern, OpPlaces().find(op, AttributePlace{key}),
                      fmt::format("pattern '{}': {}: {}", name, key, reader.problem()));
    return nullptr;
  }
  return module;
}

}  // namespace mir::patterns
