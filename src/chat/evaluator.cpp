// Executes statements of chat templates.
#include "chat/evaluator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "mir/codes/generation.hpp"
#include "mir/codes/limits.hpp"

namespace mir::chat {
namespace {

/// Nodes that are computed inside each other, over all macros.
constexpr std::size_t kMostDepth = 600;

}  // namespace

void Frame::set(std::string_view name, Value value) {
  const auto found =
      std::ranges::find_if(variables, [&](const auto& each) { return each.first == name; });
  if (found == variables.end()) {
    variables.emplace_back(name, std::move(value));
  } else {
    found->second = std::move(value);
  }
}

/// A level of nodes; too many are an error.
class Evaluator::Level {
 public:
  Level(Evaluator& evaluator, const Node& node) : evaluator_(evaluator) {
    if (++evaluator.depth_ > kMostDepth)
      evaluator.fail({diag::kLimitExceeded,
                      fmt::format("the template calls deeper than {} levels", kMostDepth)},
                     node.at);
    evaluator.kept(evaluator.budget_.work(1), node.at);
  }
  ~Level() { --evaluator_.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  Evaluator& evaluator_;
};

Evaluator::Evaluator(std::vector<std::pair<std::string, Value>> variables, std::int64_t now,
                     const RenderLimits& limits, Diagnostics& diagnostics)
    : given_(std::move(variables)), now_(now), budget_(limits), diagnostics_(diagnostics) {
  for (auto& [name, value] : given_) globals_.set(name, value);
  top_.outer = &globals_;
}

const Value* Evaluator::find_variable(std::string_view name, Span at) {
  for (const Frame* frame = frame_; frame != nullptr && !failed(); frame = frame->outer) {
    const auto found = std::ranges::find_if(frame->variables,
                                            [&](const auto& each) { return each.first == name; });
    const auto seen = static_cast<std::size_t>(found - frame->variables.begin());
    if (!kept(budget_.search(seen, name.size()), at)) return nullptr;
    if (found != frame->variables.end()) return &found->second;
  }
  return nullptr;
}

void Evaluator::set_variable(std::string_view name, Value value, Span at) {
  if (kept(budget_.search(frame_->variables.size(), name.size()), at))
    frame_->set(name, std::move(value));
}

void Evaluator::fail(const Error& error, Span at) {
  if (!failed_) diagnostics_.error(error.code, at, error.message);
  failed_ = true;
}

bool Evaluator::kept(Result<void> result, Span at) {
  if (!result) fail(result.error(), at);
  return result.ok();
}

std::optional<std::string> Evaluator::run(const Node& block) {
  std::string text;
  output_ = &text;
  execute_block(block);
  if (failed_) return std::nullopt;
  return text;
}

Evaluator::Flow Evaluator::execute_block(const Node& block) {
  for (const NodePtr& each : block.parts) {
    if (failed()) break;
    const Flow flow = execute(*each);
    if (flow != Flow::kNext) return flow;
  }
  return Flow::kNext;
}

Evaluator::Flow Evaluator::execute(const Node& node) {
  const Level level(*this, node);
  if (failed()) return Flow::kNext;
  switch (node.kind) {
    case NodeKind::kText:
      if (kept(budget_.bytes(node.text.size()), node.at)) *output_ += node.text;
      return Flow::kNext;
    case NodeKind::kPrint:
      print(evaluate(*node.parts[0]), node.at);
      return Flow::kNext;
    case NodeKind::kIf:
      return execute_if(node);
    case NodeKind::kFor:
      return execute_for(node);
    case NodeKind::kSet:
      assign(*node.parts[0], evaluate(*node.parts[1]));
      return Flow::kNext;
    case NodeKind::kSetBlock:
      assign(*node.parts[0], captured(*node.parts[1]));
      return Flow::kNext;
    case NodeKind::kMacro:
      define_macro(node);
      return Flow::kNext;
    case NodeKind::kFilterBlock:
      filter_block(node);
      return Flow::kNext;
    case NodeKind::kBreak:
      return Flow::kBreak;
    case NodeKind::kContinue:
      return Flow::kContinue;
    default:
      return execute_block(node);
  }
}

void Evaluator::print(const Value& value, Span at) {
  if (failed()) return;
  const auto text = text_of(value, budget_);
  if (!text) return fail(text.error(), at);
  if (kept(budget_.bytes(text->size()), at)) *output_ += *text;
}

Evaluator::Flow Evaluator::execute_if(const Node& node) {
  std::size_t i = 0;
  for (; i + 1 < node.parts.size(); i += 2) {
    const Value condition = evaluate(*node.parts[i]);
    if (failed()) return Flow::kNext;
    if (condition.truth()) return execute_block(*node.parts[i + 1]);
  }
  return node.parts[i] == nullptr ? Flow::kNext : execute_block(*node.parts[i]);
}

Evaluator::Flow Evaluator::execute_for(const Node& node) {
  const Node &target = *node.parts[0], &iterable = *node.parts[1];
  const Node *condition = node.parts[2].get(), *otherwise = node.parts[4].get();
  const Value whole = evaluate(iterable);
  if (failed()) return Flow::kNext;
  auto items = kept(items_of(whole, budget_), iterable.at);
  if (failed()) return Flow::kNext;
  Frame* const outer = frame_;
  if (condition != nullptr) {
    std::vector<Value> chosen;
    for (const Value& item : items) {
      Frame inside{.outer = outer};
      frame_ = &inside;
      unpack(target, item);
      const Value holds = evaluate(*condition);
      frame_ = outer;
      if (failed()) return Flow::kNext;
      if (holds.truth()) chosen.push_back(item);
    }
    items = std::move(chosen);
  }
  if (items.empty()) return otherwise == nullptr ? Flow::kNext : execute_block(*otherwise);
  const auto loop = std::make_shared<LoopState>();
  loop->items = std::move(items);
  for (; loop->index < loop->items.size() && !failed(); ++loop->index) {
    Frame inside{.outer = outer};
    frame_ = &inside;
    set_variable("loop", Value(std::shared_ptr<const LoopState>(loop)), node.at);
    unpack(target, loop->items[loop->index]);
    const Flow flow = execute_block(*node.parts[3]);
    frame_ = outer;
    if (flow == Flow::kBreak) break;
  }
  return Flow::kNext;
}

void Evaluator::assign(const Node& target, Value value) {
  if (failed()) return;
  if (target.kind != NodeKind::kAttribute) return unpack(target, value);
  const Value object = evaluate(*target.parts[0]);
  Namespace* space = object.space();
  if (failed()) return;
  if (space == nullptr)
    return fail(template_failed("only attributes of a namespace can be set"), target.at);
  if (value.is_object() || value.holds_objects())
    return fail(template_unsupported("a namespace that holds a namespace, loop or macro is not "
                                     "supported"),
                target.at);
  if (kept(budget_.bytes(sizeof(Value)), target.at) &&
      kept(budget_.search(space->members.size(), target.text.size()), target.at))
    space->set(target.text, std::move(value));
}

void Evaluator::unpack(const Node& target, const Value& value) {
  if (target.kind == NodeKind::kName) {
    if (kept(budget_.bytes(sizeof(Value)), target.at)) set_variable(target.text, value, target.at);
    return;
  }
  const auto items = kept(items_of(value, budget_), target.at);
  if (failed()) return;
  if (items.size() != target.parts.size())
    return fail(template_failed(fmt::format("cannot unpack {} values into {} names", items.size(),
                                            target.parts.size())),
                target.at);
  for (std::size_t i = 0; i < items.size(); ++i) unpack(*target.parts[i], items[i]);
}

void Evaluator::define_macro(const Node& node) {
  if (!kept(budget_.bytes(sizeof(Macro)), node.at)) return;
  frame_->macros.push_back(std::make_unique<Macro>(Macro{&node, frame_}));
  set_variable(node.text, Value(frame_->macros.back().get()), node.at);
}

Value Evaluator::captured(const Node& block) {
  std::string text;
  std::string* const outer = std::exchange(output_, &text);
  execute_block(block);
  output_ = outer;
  return Value(std::move(text));
}

void Evaluator::filter_block(const Node& node) {
  const Value text = captured(*node.parts[1]);
  if (failed()) return;
  print(evaluate_filter(*node.parts[0], &text), node.at);
}

template <class T>
T Evaluator::kept(Result<T> result, Span at) {
  if (result) return *std::move(result);
  fail(result.error(), at);
  return T();
}

Value Evaluator::evaluate(const Node& node) {
  const Level level(*this, node);
  if (failed()) return {};
  const auto part = [&](std::size_t i) { return evaluate(*node.parts[i]); };
  switch (node.kind) {
    case NodeKind::kConstant:
      return node.value;
    case NodeKind::kName:
      return evaluate_name(node);
    case NodeKind::kList:
    case NodeKind::kTuple:
      return evaluate_items(node, node.kind == NodeKind::kTuple);
    case NodeKind::kDict:
      return evaluate_dict(node);
    case NodeKind::kAttribute: {
      const Value object = part(0);
      return failed() ? Value() : kept(attribute_of(object, node.text, budget_), node.at);
    }
    case NodeKind::kItem: {
      const Value object = part(0), key = part(1);
      return failed() ? Value() : kept(item_of(object, key, budget_), node.at);
    }
    case NodeKind::kSlice:
      return evaluate_slice(node);
    case NodeKind::kCall:
      return evaluate_call(node);
    case NodeKind::kFilter:
      return evaluate_filter(node);
    case NodeKind::kTest:
      return evaluate_test(node);
    case NodeKind::kNot:
      return Value(!part(0).truth());
    case NodeKind::kNegative:
    case NodeKind::kPositive: {
      const Value operand = part(0);
      return failed() ? Value() : kept(negated(operand, node.kind == NodeKind::kNegative), node.at);
    }
    case NodeKind::kBinary: {
      const Value left = part(0), right = part(1);
      return failed() ? Value() : kept(binary_operation(node.text, left, right, budget_), node.at);
    }
    case NodeKind::kAnd: {
      Value left = part(0);
      return left.truth() ? part(1) : left;
    }
    case NodeKind::kOr: {
      Value left = part(0);
      return left.truth() ? left : part(1);
    }
    case NodeKind::kConcat:
      return evaluate_concat(node);
    case NodeKind::kCompare:
      return evaluate_compare(node);
    default:
      return evaluate_conditional(node);
  }
}

Value Evaluator::evaluate_name(const Node& node) {
  const Value* found = find_variable(node.text, node.at);
  if (failed()) return {};
  if (found != nullptr) return *found;
  // A template may ask whether a function is defined.
  static constexpr Macro kFunction;
  if (is_function(node.text)) return Value(&kFunction);
  constexpr std::string_view kOfMacros[] = {"varargs", "kwargs", "caller"};
  constexpr std::string_view kFunctions[] = {"cycler", "joiner", "lipsum"};
  const auto is_among = [&](std::span<const std::string_view> names) {
    return std::ranges::find(names, std::string_view(node.text)) != names.end();
  };
  if (is_among(kFunctions) || (macros_ > 0 && is_among(kOfMacros))) {
    fail(template_unsupported(fmt::format("'{}' is not supported", node.text)), node.at);
    return {};
  }
  if (!kept(budget_.bytes(sizeof(std::string)), node.at)) return {};
  return Undefined{fmt::format("'{}' is undefined", short_name(node.text))};
}

Value Evaluator::evaluate_items(const Node& node, bool is_tuple) {
  std::vector<Value> items;
  for (const NodePtr& each : node.parts) {
    items.push_back(evaluate(*each));
    if (failed()) return {};
  }
  return kept(budget_.list(std::move(items), is_tuple), node.at);
}

Value Evaluator::evaluate_dict(const Node& node) {
  std::vector<std::pair<Value, Value>> members;
  for (std::size_t i = 0; i < node.parts.size(); i += 2) {
    Value key = evaluate(*node.parts[i]);
    Value value = evaluate(*node.parts[i + 1]);
    if (failed()) return {};
    if (key.list() != nullptr || key.dict() != nullptr || key.is_object() || key.is_undefined()) {
      fail(
          template_unsupported(fmt::format("a key of type '{}' is not supported", key.type_name())),
          node.parts[i]->at);
      return {};
    }
    members.emplace_back(std::move(key), std::move(value));
  }
  return kept(budget_.dict(std::move(members)), node.at);
}

Value Evaluator::evaluate_slice(const Node& node) {
  const Value object = evaluate(*node.parts[0]);
  Value bounds[3];
  for (std::size_t i = 0; i < 3; ++i)
    if (node.parts[i + 1] != nullptr) bounds[i] = evaluate(*node.parts[i + 1]);
  if (failed()) return {};
  const auto bound = [&](std::size_t i) {
    return node.parts[i + 1] == nullptr ? nullptr : &bounds[i];
  };
  return kept(slice_of(object, bound(0), bound(1), bound(2), budget_), node.at);
}

Arguments Evaluator::arguments_of(const Node& node) {
  Arguments arguments;
  for (std::size_t i = 1; i < node.parts.size() && !failed(); ++i)
    arguments.positional.push_back(evaluate(*node.parts[i]));
  for (const auto& [name, part] : node.keywords) {
    if (failed()) break;
    arguments.named.emplace_back(name, evaluate(*part));
  }
  return arguments;
}

Value Evaluator::evaluate_call(const Node& node) {
  const Node& callee = *node.parts[0];
  if (callee.kind == NodeKind::kName && is_function(callee.text) &&
      find_variable(callee.text, callee.at) == nullptr) {
    const Arguments arguments = arguments_of(node);
    return failed() ? Value()
                    : kept(call_function(callee.text, arguments, now_, budget_), callee.at);
  }
  if (callee.kind == NodeKind::kAttribute) {
    const Value object = evaluate(*callee.parts[0]);
    if (failed()) return {};
    if (has_method(object, callee.text)) {
      const Arguments arguments = arguments_of(node);
      return failed() ? Value()
                      : kept(call_method(object, callee.text, arguments, budget_), callee.at);
    }
    const auto member = attribute_of(object, callee.text, budget_);
    if (!member || member->macro() == nullptr) {
      fail(member ? template_failed(fmt::format("a value of type '{}' has no method '{}'",
                                                object.type_name(), callee.text))
                  : member.error(),
           callee.at);
      return {};
    }
    return call_macro(node, *member->macro());
  }
  const Value value = evaluate(callee);
  if (failed()) return {};
  if (value.loop() != nullptr) {
    fail(template_unsupported("recursive loops are not supported"), callee.at);
    return {};
  }
  if (value.macro() == nullptr) {
    fail(value.is_undefined() ? undefined_used(value)
                              : template_failed(fmt::format("a value of type '{}' cannot be called",
                                                            value.type_name())),
         callee.at);
    return {};
  }
  return call_macro(node, *value.macro());
}

Value Evaluator::call_macro(const Node& call, const Macro& macro) {
  if (macro.node == nullptr) {
    fail(template_unsupported("a function as a value is not supported"), call.parts[0]->at);
    return {};
  }
  const Node& node = *macro.node;
  Arguments arguments = arguments_of(call);
  if (failed()) return {};
  const std::size_t count = node.names.size(), defaults = node.parts.size() - 1;
  // Each parameter is looked up among the names of the arguments and of the parameters before it.
  if (!kept(budget_.search(count * (count + arguments.named.size()), 0), call.at)) return {};
  if (arguments.positional.size() > count) {
    fail(template_failed(fmt::format("macro '{}' takes {} arguments, found {}", node.text, count,
                                     arguments.positional.size())),
         call.at);
    return {};
  }
  Frame inside{.outer = macro.scope};
  Frame* const outer = std::exchange(frame_, &inside);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = node.names[i];
    const auto named =
        std::ranges::find_if(arguments.named, [&](const auto& each) { return each.first == name; });
    if (i < arguments.positional.size()) {
      inside.set(name, std::move(arguments.positional[i]));
    } else if (named != arguments.named.end()) {
      inside.set(name, std::move(named->second));
      arguments.named.erase(named);
    } else if (i + defaults >= count) {
      inside.set(name, evaluate(*node.parts[1 + i + defaults - count]));
    } else {
      inside.set(name, Undefined{fmt::format("parameter '{}' was not given", short_name(name))});
    }
  }
  if (!arguments.named.empty())
    fail(template_failed(fmt::format("macro '{}' takes no argument '{}'", node.text,
                                     arguments.named.front().first)),
         call.at);
  ++macros_;
  Value text = failed() ? Value() : captured(*node.parts[0]);
  --macros_;
  frame_ = outer;
  return text;
}

Value Evaluator::evaluate_filter(const Node& node, const Value* operand) {
  // Filters of a block are nested; the text is the operand of the innermost.
  const Value value = node.parts[0] != nullptr
                          ? (operand != nullptr ? evaluate_filter(*node.parts[0], operand)
                                                : evaluate(*node.parts[0]))
                          : *operand;
  const Arguments arguments = arguments_of(node);
  if (failed()) return {};
  return kept(apply_filter(node.text, value, arguments, budget_), node.at);
}

Value Evaluator::evaluate_test(const Node& node) {
  const Value operand = evaluate(*node.parts[0]);
  const Arguments arguments = arguments_of(node);
  if (failed()) return {};
  const auto holds = apply_test(node.text, operand, arguments, budget_);
  if (holds) return Value(*holds);
  fail(holds.error(), node.at);
  return {};
}

Value Evaluator::evaluate_concat(const Node& node) {
  std::string text;
  for (const NodePtr& each : node.parts) {
    const Value value = evaluate(*each);
    if (failed()) return {};
    const std::string part = kept(text_of(value, budget_), each->at);
    if (!kept(budget_.bytes(part.size()), each->at)) return {};
    text += part;
  }
  return Value(std::move(text));
}

Value Evaluator::evaluate_compare(const Node& node) {
  Value left = evaluate(*node.parts[0]);
  for (std::size_t i = 0; i < node.names.size(); ++i) {
    Value right = evaluate(*node.parts[i + 1]);
    if (failed()) return {};
    const auto holds = compare(node.names[i], left, right, budget_);
    if (!holds) {
      fail(holds.error(), node.at);
      return {};
    }
    if (!*holds) return Value(false);
    left = std::move(right);
  }
  return Value(true);
}

Value Evaluator::evaluate_conditional(const Node& node) {
  const Value condition = evaluate(*node.parts[0]);
  if (failed()) return {};
  if (condition.truth()) return evaluate(*node.parts[1]);
  if (node.parts[2] == nullptr) return Undefined{"the condition has no 'else'"};
  return evaluate(*node.parts[2]);
}

}  // namespace mir::chat
