#include "graph_text.hpp"

#include <fmt/format.h>

namespace mir::test {

std::string attribute_list(const IRContext& context, std::span<const NamedAttr> attributes) {
  if (attributes.empty()) return "";
  std::string text;
  for (const NamedAttr& attribute : attributes) {
    text += fmt::format("{}{}:{}", text.empty() ? "[" : ", ", context.text(attribute.key),
                        attribute.value->spelling());
  }
  return text + "]";
}

namespace {

class GraphWriter {
 public:
  GraphWriter(const IRContext& context, const Plan& plan, bool portable)
      : context_(context), plan_(plan), portable_(portable) {}

  std::string run() {
    const PlannedGraph& body = plan_.graphs.back();
    line(0, "@main {}{} -> {} {{", version(), portable_ ? list(body.inputs) : "()",
         portable_ ? list(body.outputs) : "()");
    parameters();
    if (!plan_.has_control_flow) steps(body.steps, 1);
    for (std::size_t i = 0; i + 1 < plan_.graphs.size(); ++i) graph(plan_.graphs[i]);
    if (plan_.has_control_flow) steps(body.steps, 1);
    if (portable_) line(1, "cf.ReturnOp {} -> ()", list(body.outputs));
    line(0, "}}");
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(int depth, fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(4 * depth), ' ');
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  std::string list(std::span<const std::size_t> values) const {
    std::string text;
    for (const std::size_t value : values) {
      text += fmt::format("{}%{}:{}{}", text.empty() ? "" : ", ", value,
                          plan_.values[value].type->spelling(), plan_.values[value].constant);
    }
    return "(" + text + ")";
  }

  std::string_view version() const {
    if (!portable_) return "";
    return plan_.has_control_flow ? "[mir_version:2] " : "[mir_version:1] ";
  }

  void parameters() {
    if (plan_.parameters.empty()) return;
    line(1, "graph.SubGraphOp @init <notype> {{");
    line(2, "() -> () {{");
    std::size_t number = plan_.values.size();
    for (const PlannedParameter& parameter : plan_.parameters) {
      line(3, "tensor.CPU.register () -> (%{}:{}[@{}])[symbol:{}]", number++,
           parameter.type->spelling(), parameter.name, parameter.name);
    }
    if (portable_) line(3, "cf.ReturnOp () -> ()");
    line(2, "}}");
    line(1, "}}");
  }

  void graph(const PlannedGraph& of) {
    line(1, "graph.SubGraphOp @{} <CPU> {{", of.name);
    line(2, "{} -> {} {{", list(of.inputs), list(of.outputs));
    steps(of.steps, 3);
    line(3, "cf.ReturnOp {} -> ()", list(of.outputs));
    line(2, "}}");
    line(1, "}}");
  }

  /// A region with what ends it. The first one of a WhileOp decides and passes on the rest.
  void region(const PlannedRegion& of, bool decides, int depth) {
    const std::span<const std::size_t> outputs = of.outputs;
    line(depth, "{} -> {} {{", list(of.arguments), list(outputs.subspan(decides ? 1 : 0)));
    steps(of.steps, depth + 1);
    line(depth + 1, "cf.{} {} -> ()", decides ? "ConditionOp" : "YieldOp", list(outputs));
    line(depth, "}}");
  }

  void structured(const PlannedStep& step, int depth) {
    const bool is_while = step.control == PlannedControl::kWhile;
    const std::string_view name = is_while                               ? "WhileOp"
                                  : step.control == PlannedControl::kFor ? "ForOp"
                                                                         : "IfOp";
    line(depth, "cf.{} {} -> {} {{", name, list(step.operands), list(step.results));
    for (const PlannedRegion& each : step.regions) {
      region(each, is_while && &each == step.regions.data(), depth + 1);
    }
    line(depth, "}}");
  }

  std::string new_label() { return fmt::format("^b{}", labels_++); }

  /// A block with its arguments, or a branch to it with what they get.
  std::string block(std::string_view label, std::span<const std::size_t> values) const {
    return fmt::format("{}{}", label, values.empty() ? "" : list(values));
  }

  void branch(const std::string& to, int depth) { line(depth, "cf.BranchOp () -> () [{}]", to); }

  /// Blocks that meet again. One without ops is not written: the branch goes on to where they meet.
  void arms(const PlannedStep& step, int depth) {
    const std::string join = new_label();
    std::vector<std::string> labels, successors;
    for (const PlannedRegion& each : step.regions) {
      labels.push_back(each.steps.empty() ? "" : new_label());
      successors.push_back(each.steps.empty() ? block(join, each.outputs) : labels.back());
    }
    if (step.control == PlannedControl::kIf) {
      line(depth, "cf.CondBranchOp {} -> () [{}]", list(step.operands),
           fmt::join(successors, ", "));
    } else {
      line(depth, "cf.SwitchOp {} -> ()[cases:[{}]] [{}]", list(step.operands),
           fmt::join(step.cases, ", "), fmt::join(successors, ", "));
    }
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i].empty()) continue;
      line(depth - 1, "{}:", labels[i]);
      steps(step.regions[i].steps, depth);
      branch(block(join, step.regions[i].outputs), depth);
    }
    line(depth - 1, "{}:", block(join, step.results));
  }

  void loop(const PlannedStep& step, int depth) {
    const PlannedRegion &test = step.regions[0], &body = step.regions[1];
    const std::string head = new_label(), inside = new_label(), exit = new_label();
    const auto passed = std::span(test.outputs).subspan(1);
    branch(block(head, step.operands), depth);
    line(depth - 1, "{}:", block(head, test.arguments));
    steps(test.steps, depth);
    line(depth, "cf.CondBranchOp {} -> () [{}, {}]", list(std::span(test.outputs).first(1)),
         block(inside, passed), block(exit, passed));
    line(depth - 1, "{}:", block(inside, body.arguments));
    steps(body.steps, depth);
    branch(block(head, body.outputs), depth);
    line(depth - 1, "{}:", block(exit, step.results));
  }

  void control(const PlannedStep& step, int depth) {
    if (!step.in_blocks) {
      structured(step, depth);
    } else if (step.control == PlannedControl::kWhile) {
      loop(step, depth);
    } else {
      arms(step, depth);
    }
  }

  void steps(const std::vector<PlannedStep>& made_of, int depth) {
    for (const PlannedStep& step : made_of) {
      if (step.control != PlannedControl::kNone) {
        control(step, depth);
        continue;
      }
      if (step.callee >= 0) {
        line(depth, "graph.CallGraphOp @{} {} -> {}",
             plan_.graphs[static_cast<std::size_t>(step.callee)].name, list(step.operands),
             list(step.results));
        continue;
      }
      const std::string name = step.path.empty() ? "" : fmt::format(" <name=\"{}\">", step.path);
      const std::string attributes = attribute_list(context_, step.op.attributes);
      line(depth, "{}{}{}{}{}{} -> {}", step.op.spelling, name, attributes.empty() ? "" : " ",
           attributes, attributes.empty() ? "" : " ", list(step.operands), list(step.results));
    }
  }

  const IRContext& context_;
  const Plan& plan_;
  bool portable_;
  int labels_ = 0;
  std::string text_;
};

}  // namespace

std::string graph_text(const IRContext& context, const Plan& plan, bool portable) {
  return GraphWriter(context, plan, portable).run();
}

}  // namespace mir::test
