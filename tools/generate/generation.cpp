// Module text of a loop that generates tokens, by the likeliest token or by sampling.
#include "generation.hpp"

#include <fmt/args.h>
#include <fmt/format.h>

#include <string_view>

#include "mir/print.hpp"

namespace mir::generate {

namespace {

constexpr std::string_view kHead =
    "@main [mir_version:2] (%ids:tensor<[1, $S], Int64, CPU>, "
    "%end:{one}{random_in}) -> (%tokens:tensor<[1, $T], Int64, CPU>) {{\n";

constexpr std::string_view kLikeliest = R"(    graph.SubGraphOp @next <CPU> {{
        (%scores:tensor<[1, {scored}, {vocab}], Float32, CPU>) -> (%token:{token}) {{
            linalg.CPU.SliceOp [indices:[{{}}, {{start:-1,end:0}}, {{}}]] (%scores) -> (%last)
            linalg.CPU.TopKOp [k:1] (%last) -> (%value, %index)
            linalg.CPU.CastTypeOp [dtype:Int64] (%index) -> (%wide)
            linalg.CPU.ViewOp [to_shape:[1, 1]] (%wide) -> (%token)
            cf.ReturnOp (%token) -> ()
        }}
    }}
)";

/// The last sum is that of all shares. A number below it is drawn; the token is the first one whose
/// sum is above.
constexpr std::string_view kDrawn = R"(    graph.SubGraphOp @next <CPU> {{
        (%scores:tensor<[1, {scored}, {vocab}], Float32, CPU>, %random:{state_type}) -> (%token:{token}, %later:{state_type}) {{
            linalg.CPU.SliceOp [indices:[{{}}, {{start:-1,end:0}}, {{}}]] (%scores) -> (%last)
            linalg.CPU.TopKOp [k:{top_k}] (%last) -> (%best, %index)
            linalg.CPU.DivOp(%best, %temperature:tensor<[1], Float32, CPU>[constant:[{temperature}]]) -> (%scaled)
            linalg.CPU.SoftmaxOp [axis:-1] (%scaled) -> (%shares)
            linalg.CPU.CumSumOp [dim:-1, exclusive:true] (%shares) -> (%before)
            linalg.CPU.LessOp(%before, %top_p:tensor<[1], Float32, CPU>[constant:[{top_p}]]) -> (%is_kept)
            linalg.CPU.WhereOp(%is_kept, %shares, %none:tensor<[1], Float32, CPU>[constant:[0]]) -> (%kept)
            linalg.CPU.CumSumOp [dim:-1] (%kept) -> (%sums)
            linalg.CPU.SliceOp [indices:[{{}}, {{}}, {{start:-1,end:0}}]] (%sums) -> (%all)
            linalg.CPU.RandomUniformOp [shape:[1, 1, 1]] (%random) -> (%number, %later)
            linalg.CPU.MulOp(%number, %all) -> (%drawn)
            linalg.CPU.LessEqualOp(%sums, %drawn) -> (%is_passed)
            linalg.CPU.CastTypeOp [dtype:Int32] (%is_passed) -> (%passed)
            linalg.CPU.ReduceSumOp [dim:-1, keep_dim:false] (%passed) -> (%place)
            linalg.CPU.ViewOp [to_shape:[{top_k}]] (%index) -> (%candidates)
            linalg.CPU.GatherOp [dim:0] (%candidates, %place) -> (%chosen)
            linalg.CPU.CastTypeOp [dtype:Int64] (%chosen) -> (%token)
            cf.ReturnOp (%token, %later) -> ()
        }}
    }}
)";

/// The loop carries the number of tokens, the place of the last token, this token and a list with
/// room for all of them; after it, those that are there are selected.
constexpr std::string_view kLoop =
    R"(    linalg.CPU.IotaOp [shape:[1, $S], dtype:Int64, dim:1] () -> (%positions)
    graph.CallGraphOp @decoder (%ids, %positions) -> (%logits)
    graph.CallGraphOp @next (%logits{random}) -> (%first{state_1})
    linalg.CPU.IotaOp [shape:[1, $S+1], dtype:Int64, dim:1] () -> (%counted)
    linalg.CPU.SliceOp [indices:[{{}}, {{start:-1,end:0}}]] (%counted) -> (%length)
    linalg.CPU.IotaOp [shape:[1, {most}], dtype:Int64, dim:1] () -> (%places)
    linalg.CPU.MulOp(%places, %zero:{token}[constant:[0]]) -> (%empty)
    linalg.CPU.AddOp(%empty, %first) -> (%begun)
    cf.WhileOp (%one:{one}[constant:[1]], %length, %first, %begun{state_1}) -> (%count:{one}, %position:{token}, %token:{token}, %list:{list}{state_out}) {{
        (%n:{one}, %p:{token}, %t:{token}, %list:{list}{state_in}) -> (%n:{one}, %p:{token}, %t:{token}, %list:{list}{state_in}) {{
            linalg.CPU.ViewOp [to_shape:[1]] (%t) -> (%flat)
            linalg.CPU.NotEqualOp(%flat, %end) -> (%goes_on)
            linalg.CPU.LessOp(%n, %limit:{one}[constant:[{most}]]) -> (%has_room)
            linalg.CPU.AndOp(%goes_on, %has_room) -> (%both)
            cf.ConditionOp (%both, %n, %p, %t, %list{state}) -> ()
        }}
        (%n:{one}, %p:{token}, %t:{token}, %list:{list}{state_in}) -> (%m:{one}, %q:{token}, %u:{token}, %longer:{list}{later_out}) {{
            graph.CallGraphOp @decoder (%t, %p) -> (%scores)
            graph.CallGraphOp @next (%scores{state}) -> (%u{later})
            linalg.CPU.NotEqualOp(%places, %n) -> (%is_other)
            linalg.CPU.WhereOp(%is_other, %list, %u) -> (%longer)
            linalg.CPU.AddOp(%n, %one:{one}[constant:[1]]) -> (%m)
            linalg.CPU.AddOp(%p, %one) -> (%q)
            cf.YieldOp (%m, %q, %u, %longer{later}) -> ()
        }}
    }}
    linalg.CPU.LessOp(%places, %count) -> (%is_there)
    linalg.CPU.ViewOp [to_shape:[{most}]] (%is_there) -> (%made)
    linalg.CPU.CompressOp [dim:1] (%list, %made) -> (%tokens)
    cf.ReturnOp (%tokens) -> ()
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

std::string generating_text(const Module& graphs, const DecoderShape& shape, std::int64_t most,
                            const std::optional<Sampling>& sampling) {
  fmt::dynamic_format_arg_store<fmt::format_context> words;
  const auto word = [&](const char* name, const auto& value) {
    words.push_back(fmt::arg(name, value));
  };
  const std::string list = fmt::format("tensor<[1, {}], Int64, CPU>", most);
  const std::string state_type = "tensor<[2], Int64, CPU>";
  word("one", "tensor<[1], Int64, CPU>");
  word("token", "tensor<[1, 1], Int64, CPU>");
  word("list", list);
  word("state_type", state_type);
  word("most", most);
  word("vocab", shape.vocab);
  word("scored", shape.last_logits ? "1" : "$S");
  const Sampling chosen = sampling.value_or(Sampling());
  word("top_k", chosen.top_k);
  word("top_p", chosen.top_p);
  word("temperature", chosen.temperature);
  // Mentions of the state, which only a module that draws tokens has.
  const auto mention = [&](const char* name, std::string_view value, bool is_typed) {
    const std::string type = is_typed ? ":" + state_type : "";
    word(name, sampling ? fmt::format(", %{}{}", value, type) : std::string());
  };
  mention("random_in", "random", true);
  mention("random", "random", false);
  mention("state_1", "state_1", false);
  mention("state_out", "last_state", true);
  mention("state_in", "state", true);
  mention("state", "state", false);
  mention("later", "later", false);
  mention("later_out", "later", true);
  std::string text = fmt::vformat(kHead, words);
  text += body_of(print(graphs));
  text += fmt::vformat(sampling ? kDrawn : kLikeliest, words);
  return text + fmt::vformat(kLoop, words);
}

}  // namespace mir::generate
