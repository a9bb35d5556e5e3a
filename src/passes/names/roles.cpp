// Derives names of inputs and outputs, such as `ids`, from the ops that use them.
#include "passes/names/roles.hpp"

#include <algorithm>
#include <cstdint>

#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"
#include "mir/ops.hpp"
#include "support/characters.hpp"

namespace mir {

namespace {

struct Role {
  OpId op{};
  std::uint32_t operand = 0;
  std::string_view word;
};

/// Calls and moves that are followed.
constexpr std::size_t kMostSteps = 8;

constexpr Role kRoles[] = {
    {OpId::kLinalgEmbedding, 0, "ids"},      {OpId::kLinalgRoPE, 1, "sin"},
    {OpId::kLinalgRoPE, 2, "cos"},           {OpId::kLinalgMultimodalRoPE, 1, "sin"},
    {OpId::kLinalgMultimodalRoPE, 2, "cos"}, {OpId::kLinalgVisionRoPE, 1, "sin"},
    {OpId::kLinalgVisionRoPE, 2, "cos"},     {OpId::kLinalgConv1D, 0, "signal"},
    {OpId::kLinalgConv2D, 0, "pixels"},      {OpId::kLinalgConv3D, 0, "pixels"},
    {OpId::kLinalgCopy, 1, "cache"},
};

bool is_added_to_scores(const Op& op) {
  if (!op.is(OpId::kLinalgAdd) || op.result_count() != 1) return false;
  const Use* use = op.result()->first_use();
  return use != nullptr && use->next() == nullptr && use->user()->is(OpId::kLinalgSoftmax);
}

/// Keys that queries are multiplied with, or values that are multiplied with the weights of a
/// Softmax; empty for other uses.
std::string_view role_in_attention(const Use& use) {
  const Op& op = *use.user();
  if (!op.is(OpId::kLinalgMatMul) || use.index() != 1) return {};
  const Op* weights = op.operand(0)->defining_op();
  if (weights != nullptr && weights->is(OpId::kLinalgSoftmax)) return "values";
  const Attr* transposed = op.attribute(key::kTransposeB);
  return transposed != nullptr && transposed->boolean() ? "keys" : std::string_view();
}

bool moves_elements(const Op& op) {
  return op.is(OpId::kLinalgView, OpId::kLinalgTranspose, OpId::kLinalgCastType,
               OpId::kLinalgContiguous, OpId::kLinalgSlice) &&
         op.operand_count() > 0 && op.result_count() == 1;
}

/// The value that is the same elements inside of a callee, or after an op that only moves them.
const Value* followed(const Use& use) {
  const Op& user = *use.user();
  if (const auto call = dyn_cast<CallGraphOp>(use.user())) {
    const SubGraphOp target = call.target();
    if (!target) return nullptr;
    const ValueRange inputs = target.op()->region()->entry_arguments();
    return use.index() < inputs.size() ? &inputs[use.index()] : nullptr;
  }
  return moves_elements(user) && use.index() == 0 ? user.result() : nullptr;
}

/// The value of which a result is the elements: what a callee returns, or what is moved.
const Value* origin(const Value& value) {
  Op* const op = value.defining_op();
  if (op == nullptr) return nullptr;
  if (const auto call = dyn_cast<CallGraphOp>(op)) {
    const SubGraphOp target = call.target();
    if (!target || value.index() >= target.op()->region()->result_types().size()) return nullptr;
    return target.op()->region()->returned(value.index());
  }
  return moves_elements(*op) ? op->operand(0) : nullptr;
}

/// True for a name such as "model.lm_head".
bool is_name_of_head(std::string_view path) {
  const std::string_view last = path.substr(path.find_last_of('.') + 1);
  return last == "lm_head" || last == "head" || last == "classifier";
}

/// `uses_left` bounds the search over all values.
std::string_view find_role(const Value& value, std::size_t depth, std::size_t& uses_left) {
  for (const Use* use = value.first_use(); use != nullptr && uses_left > 0; use = use->next()) {
    --uses_left;
    const Op& user = *use->user();
    const auto role = std::ranges::find_if(
        kRoles, [&](const Role& each) { return user.is(each.op) && use->index() == each.operand; });
    if (role != std::end(kRoles)) return role->word;
    if (is_added_to_scores(user)) return "mask";
    if (const auto word = role_in_attention(*use); !word.empty()) return word;
    const Value* next = depth == 0 ? nullptr : followed(*use);
    if (next == nullptr) continue;
    const std::string_view found = find_role(*next, depth - 1, uses_left);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

std::string_view role_of_input(const Value& value) {
  constexpr std::size_t kMostUses = 64;
  std::size_t uses_left = kMostUses;
  return find_role(value, kMostSteps, uses_left);
}

std::string_view role_of_output(const Value& value) {
  const Value* at = &value;
  for (std::size_t step = 0; at != nullptr && step <= kMostSteps; ++step, at = origin(*at)) {
    const Op* op = at->defining_op();
    if (op == nullptr) break;
    if (op->is(OpId::kLinalgLinear) && op->has_path() &&
        is_name_of_head(op->module().context().text(op->path()))) {
      return "logits";
    }
  }
  return {};
}

std::string as_value_name(std::string_view text) {
  std::string name(text);
  std::ranges::replace_if(
      name, [](char c) { return !is_name_character(c, "_.-"); }, '_');
  const bool is_number = std::ranges::all_of(name, is_digit);
  return is_number ? "v" + name : name;
}

std::string word_for_results(std::string_view mnemonic, std::string_view path,
                             std::string_view graph) {
  if (path.starts_with(graph) && path.size() > graph.size() + 1 && path[graph.size()] == '.') {
    path.remove_prefix(graph.size() + 1);
  }
  if (!path.empty()) return as_value_name(path);
  if (mnemonic.ends_with("Op")) mnemonic.remove_suffix(2);
  std::string name(mnemonic);
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return as_value_name(name);
}

}  // namespace mir
