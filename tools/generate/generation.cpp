#include "generation.hpp"

#include <fmt/args.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "mir/print.hpp"

namespace mir::generate {

namespace {

constexpr std::string_view kHead =
    "@main [mir_version:2] (%ids:tensor<[1, $S], Int64, CPU>, %end:{one}) -> "
    "(%tokens:{list}, %count:{one}) {{\n";

/// The likeliest token after the last one; the loop, which carries the number of tokens, the place
/// of the last token, this token and all of them.
constexpr std::string_view kLoop = R"(    graph.SubGraphOp @likeliest <CPU> {{
        (%scores:tensor<[1, {scored}, {vocab}], Float32, CPU>) -> (%token:{token}) {{
            linalg.CPU.SliceOp [indices:[{{}}, {{start:-1,end:0}}, {{}}]] (%scores) -> (%last)
            linalg.CPU.TopKOp [k:1] (%last) -> (%value, %index)
            linalg.CPU.CastTypeOp [dtype:Int64] (%index) -> (%wide)
            linalg.CPU.ViewOp [to_shape:[1, 1]] (%wide) -> (%token)
            cf.ReturnOp (%token) -> ()
        }}
    }}
    linalg.CPU.IotaOp [shape:[1, $S], dtype:Int64, dim:1] () -> (%positions)
    graph.CallGraphOp @decoder (%ids, %positions) -> (%logits)
    graph.CallGraphOp @likeliest (%logits) -> (%first)
    linalg.CPU.IotaOp [shape:[1, $S+1], dtype:Int64, dim:1] () -> (%counted)
    linalg.CPU.SliceOp [indices:[{{}}, {{start:-1,end:0}}]] (%counted) -> (%length)
    linalg.CPU.IotaOp [shape:[1, {most}], dtype:Int64, dim:1] () -> (%places)
    linalg.CPU.NotEqualOp(%places, %zero:{token}[constant:[0]]) -> (%is_later)
    linalg.CPU.WhereOp(%is_later, %unused:{list}[constant:[{unused}]], %first) -> (%begun)
    cf.WhileOp (%one:{one}[constant:[1]], %length, %first, %begun) -> (%count:{one}, %position:{token}, %token:{token}, %tokens:{list}) {{
        (%n:{one}, %p:{token}, %t:{token}, %list:{list}) -> (%n:{one}, %p:{token}, %t:{token}, %list:{list}) {{
            linalg.CPU.ViewOp [to_shape:[1]] (%t) -> (%flat)
            linalg.CPU.NotEqualOp(%flat, %end) -> (%goes_on)
            linalg.CPU.LessOp(%n, %limit:{one}[constant:[{most}]]) -> (%has_room)
            linalg.CPU.AndOp(%goes_on, %has_room) -> (%both)
            cf.ConditionOp (%both, %n, %p, %t, %list) -> ()
        }}
        (%n:{one}, %p:{token}, %t:{token}, %list:{list}) -> (%m:{one}, %q:{token}, %u:{token}, %longer:{list}) {{
            graph.CallGraphOp @decoder (%t, %p) -> (%scores)
            graph.CallGraphOp @likeliest (%scores) -> (%u)
            linalg.CPU.NotEqualOp(%places, %n) -> (%is_other)
            linalg.CPU.WhereOp(%is_other, %list, %u) -> (%longer)
            linalg.CPU.AddOp(%n, %one:{one}[constant:[1]]) -> (%m)
            linalg.CPU.AddOp(%p, %one) -> (%q)
            cf.YieldOp (%m, %q, %u, %longer) -> ()
        }}
    }}
    cf.ReturnOp (%tokens, %count) -> ()
}}
)";

/// Without the head of the module, its return and its end.
std::string_view body_of(std::string_view module) {
  constexpr std::string_view kEnd = "    cf.ReturnOp () -> ()\n}\n";
  module.remove_prefix(module.find('\n') + 1);
  module.remove_suffix(kEnd.size());
  return module;
}

}  // namespace

std::string generating_text(const Module& graphs, const DecoderShape& shape, std::int64_t most) {
  const std::string list = fmt::format("tensor<[1, {}], Int64, CPU>", most);
  const std::vector<int> unused(static_cast<std::size_t>(most), -1);
  fmt::dynamic_format_arg_store<fmt::format_context> words;
  words.push_back(fmt::arg("one", "tensor<[1], Int64, CPU>"));
  words.push_back(fmt::arg("token", "tensor<[1, 1], Int64, CPU>"));
  words.push_back(fmt::arg("list", list));
  words.push_back(fmt::arg("most", most));
  words.push_back(fmt::arg("vocab", shape.vocab));
  words.push_back(fmt::arg("scored", shape.last_logits ? "1" : "$S"));
  words.push_back(fmt::arg("unused", fmt::format("{}", fmt::join(unused, ", "))));
  const std::string module = print(graphs);
  return fmt::vformat(kHead, words) + std::string(body_of(module)) + fmt::vformat(kLoop, words);
}

}  // namespace mir::generate
