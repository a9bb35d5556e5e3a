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
    line(0, "@main {}{} -> {} {{", portable_ ? "[mir_version:1] " : "",
         portable_ ? list(body.inputs) : "()", portable_ ? list(body.outputs) : "()");
    parameters();
    steps(body, 1);
    for (std::size_t i = 0; i + 1 < plan_.graphs.size(); ++i) graph(plan_.graphs[i]);
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
    steps(of, 3);
    line(3, "cf.ReturnOp {} -> ()", list(of.outputs));
    line(2, "}}");
    line(1, "}}");
  }

  void steps(const PlannedGraph& of, int depth) {
    for (const PlannedStep& step : of.steps) {
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
  std::string text_;
};

}  // namespace

std::string graph_text(const IRContext& context, const Plan& plan, bool portable) {
  return GraphWriter(context, plan, portable).run();
}

}  // namespace mir::test
