// Small modules of every shape, the same for the same seed.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "mir/rewriter.hpp"

namespace mir::test {

/// Fills a new module with random ops, regions, blocks, names, types and attributes. It need not
/// verify; it is one that text can say: operands are visible where they are used, and only a
/// portable module uses a value above its definition.
class RandomModule {
 public:
  RandomModule(IRContext& context, std::uint64_t seed, bool portable)
      : context_(context),
        engine_(seed),
        portable_(portable),
        module_(context.create_module(name())),
        rewriter_(module_) {
    if (portable_) rewriter_.set_version(1);
    Block* body = rewriter_.create_block(module_.body(), types(below(3)));
    name_arguments(*body);
    fill(*body, 0, arguments_of(*body));
    rewriter_.state_results(module_.body(), results());
  }

  Module& module() const { return module_; }

 private:
  using Values = std::vector<Value*>;

  std::size_t below(std::size_t bound) { return engine_() % bound; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <std::size_t N>
  std::string_view pick(const std::string_view (&list)[N]) {
    return list[below(N)];
  }
  Symbol intern(std::string_view text) { return context_.intern(text); }

  // -- names, types, attributes ---------------------------------------------------------------

  std::string name() {
    constexpr std::string_view kPlain[] = {"main", "model.layers.0", "", "net-1", "a/b"};
    constexpr std::string_view kOdd[] = {"two words", "0.weight", "x(%0)", "quote\"d",
                                         "a<b>",      "tab\t",    "[k:1]"};
    return std::string(one_in(4) ? pick(kOdd) : pick(kPlain));
  }

  /// Few numbers, so that dumps define the same ones again and again.
  ValueName value_name() {
    if (portable_) {
      const ValueName fresh = module_.fresh_name();
      if (!one_in(4)) return fresh;
      return ValueName::symbol(intern("v" + std::to_string(fresh.number())));
    }
    if (one_in(8)) return ValueName::symbol(intern(one_in(2) ? "hidden" : "0x7"));
    if (one_in(30)) return {};
    const ValueName number = ValueName::number(static_cast<std::uint32_t>(below(6)));
    module_.reserve_name(number);
    return number;
  }

  const Type* type() {
    constexpr std::string_view kDialectTypes[] = {
        "!tt.buffer<4, tensor<[2], Float32, L1>>", "!builtin.index", "!builtin.scalar<Float32>",
        "!builtin.function<[tensor<[$S], Float32, CPU>, !builtin.index], [!tt.token]>"};
    if (one_in(10)) return *context_.parse_type(pick(kDialectTypes));
    constexpr std::string_view kDims[] = {"1", "2", "1024", "$S", "$past+$S", "?", "4*$S", "-1"};
    std::vector<Dim> dims;
    for (std::size_t rank = below(4); rank != 0; --rank) {
      dims.push_back(*context_.dims().parse(pick(kDims)));
    }
    constexpr std::string_view kDTypes[] = {"Float32", "Int64", "UInt16PerTensor", "Exotic7"};
    constexpr std::string_view kDevices[] = {"CPU", "QNN", "Unknown"};
    const Attr* encoding =
        one_in(8) ? context_.scalar(AttrKind::kDialect, "#tt.layout<32x32>") : nullptr;
    return context_.tensor(dims, intern(pick(kDTypes)), intern(pick(kDevices)), encoding);
  }
  std::vector<const Type*> types(std::size_t count) {
    std::vector<const Type*> list;
    while (count-- != 0) list.push_back(type());
    return list;
  }

  const Attr* string() {
    constexpr std::string_view kWords[] = {"SiLU", "model.norm", "_x", "e5"};
    constexpr std::string_view kDumpTexts[] = {"two words", "one, two (three)", "",
                                               "3x",        "a\"b\"",           "x: y"};
    constexpr std::string_view kTexts[] = {
        "", "a \"b\" \\ ]", "// no comment", "line\nbreak", "nul\x01", "1e5", "true", "µ"};
    if (one_in(3)) return context_.string(pick(kTexts));
    return context_.word(!portable_ && one_in(2) ? pick(kDumpTexts) : pick(kWords));
  }

  const Attr* scalar() {
    constexpr std::string_view kDims[] = {"2*$S-1", "?", "-$S", "$S/4", "($a+1)*$b/(3*$S)%7"};
    constexpr std::string_view kFloats[] = {
        "1e-06", "0.5", "-3.0", "inf", "-inf", "nan", "99999999999999999999"};
    switch (below(8)) {
      case 0:
        return context_.scalar(AttrKind::kFloat, pick(kFloats));
      case 1:
        return context_.boolean(one_in(2));
      case 2:
        return context_.null();
      case 3:
        return context_.symbol_ref(name());
      case 4:
        return context_.dim(*context_.dims().parse(pick(kDims)));
      case 5:
        return context_.scalar(AttrKind::kDialect, "#d.x<(a) -> b, \"c\">");
      case 6:
        return context_.type(type());
      default:
        return context_.integer(static_cast<std::int64_t>(engine_()));
    }
  }

  const Attr* data(int depth) {
    if (depth == 0 || one_in(2)) return one_in(3) ? context_.string("s\"]") : scalar();
    std::vector<const Attr*> elements;
    for (std::size_t n = below(4); n != 0; --n) elements.push_back(data(depth - 1));
    if (one_in(2)) return context_.array(elements);
    std::vector<NamedAttr> entries;
    for (const Attr* element : elements) {
      entries.push_back({intern("k " + std::to_string(entries.size())), element});
    }
    return context_.dict(entries);
  }

  const Attr* quantisation() {
    constexpr std::string_view kSpecs[] = {
        "QuantSpec(SymPerTensor(quant_min: -128, quant_max: 127), uuid=3, solved=1)",
        "QuantSpec(None(, uuid=5, solved=0)", "QuantSpec(Raw(type: Int8), uuid=4)",
        "QuantSpec(None)"};
    const auto spec = [&] { return context_.scalar(AttrKind::kQuantSpec, pick(kSpecs)); };
    if (one_in(2)) return spec();
    const NamedAttr slots[] = {{intern("inputs_0"), spec()}, {}, {intern("outputs_0"), spec()}, {}};
    return context_.quant_annotation(std::span(slots).first(2 + below(3)));
  }

  const Attr* attribute() {
    switch (below(5)) {
      case 0:
        return string();
      case 1:
        return data(3);
      case 2:
        return quantisation();
      case 3:
        return portable_ ? scalar() : context_.scalar(AttrKind::kInvalid, "<InvalidAttribute NYI>");
      default:
        return scalar();
    }
  }

  std::vector<NamedAttr> attributes() {
    constexpr std::string_view kKeys[] = {"axis", "a.b-c$1", "last key!", "odd:key", "5", "[k]"};
    std::vector<NamedAttr> list;
    for (std::size_t n = below(4); n != 0; --n) {
      std::string key(pick(kKeys));
      if (portable_) key += std::to_string(n);  // no key twice
      list.push_back({intern(key), attribute()});
    }
    return list;
  }

  // -- regions ----------------------------------------------------------------------------------

  void name_arguments(Block& block) {
    for (Value& argument : block.arguments()) {
      rewriter_.set_name(argument, value_name());
      if (one_in(6)) rewriter_.set_attributes(argument, attributes());
    }
  }
  static Values arguments_of(Block& block) {
    Values list;
    for (Value& argument : block.arguments()) list.push_back(&argument);
    return list;
  }

  std::vector<RegionResult> results() {
    std::vector<RegionResult> list;
    for (std::size_t n = below(3); n != 0; --n) {
      list.push_back({.name = ValueName::number(static_cast<std::uint32_t>(n)), .type = type()});
    }
    return list;
  }

  Value* free_value(Region& region) {
    Value* value = rewriter_.create_free_value(region, type(), value_name());
    const NamedAttr constant{intern("constant"), context_.array(std::vector{context_.integer(1)})};
    if (portable_ || one_in(2)) rewriter_.set_attributes(*value, std::span(&constant, 1));
    if (one_in(4)) rewriter_.set_symbol(*value, intern(name()));
    return value;
  }

  void fill(Block& block, int depth, Values visible) {
    std::vector<Op*> made;
    Value* free = nullptr;
    for (std::size_t n = below(depth == 0 ? 9 : 4); n != 0; --n) {
      Values operands;
      for (std::size_t i = below(4); i != 0; --i) {
        if (one_in(5)) {
          if (free == nullptr) free = free_value(*block.parent());
          operands.push_back(free);
        } else if (!visible.empty()) {
          operands.push_back(visible[below(visible.size())]);
        }
      }
      Op* op = make(operands);
      rewriter_.insert(*op, block, nullptr);
      made.push_back(op);
      for (Value& result : op->results()) visible.push_back(&result);
      if (depth < 3 && one_in(3)) add_regions(*op, depth + 1, visible);
    }
    if (portable_ && made.size() > 1 && made.front()->operand_count() != 0 &&
        made.back()->result_count() != 0) {
      rewriter_.set_operand(*made.front(), 0, made.back()->result());  // a use above its definition
    }
  }

  Op* make(const Values& operands) {
    constexpr std::string_view kNames[] = {
        "linalg.CPU.AddOp",   "linalg.QNN.Kernel_7", "graph.CallGraphOp", "tensor.CPU.alloc",
        "prog.kernel_launch", "my.dialect.Op",       "cf.ReturnOp"};
    const bool lists = !operands.empty() || !one_in(4);
    Op* op = rewriter_.create_detached({.name = context_.op_name(pick(kNames)),
                                        .operands = operands,
                                        .result_types = types(lists ? below(3) : 0),
                                        .has_signature = lists});
    for (Value& result : op->results()) {
      rewriter_.set_name(result, value_name());
      if (one_in(6)) rewriter_.set_attributes(result, attributes());
      if (one_in(6)) rewriter_.set_symbol(result, intern(name()));
    }
    rewriter_.set_attributes(*op, attributes(), one_in(4));
    if (one_in(4)) rewriter_.set_symbol(*op, intern(name()));
    if (one_in(4)) rewriter_.set_path(*op, intern(one_in(3) ? "odd name" : "model.q_proj"));
    if (op->has_path()) rewriter_.set_square_path(*op, one_in(2));
    if (one_in(4)) rewriter_.set_location(*op, location());
    if (one_in(2)) add_extra(*op);
    if (!portable_) state_mentions(*op);
    return op;
  }

  Location location() {
    LocationTable& table = context_.locations();
    constexpr std::string_view kStated[] = {
        "loc(\"model.cpp\":12:3)", "loc(callsite(\"f\" at \"g\"(\"a.py\":1)))",
        "loc(fused<\"tiled\">[\"a\", unknown])", "loc(what is this)", "loc(unknown)"};
    const Location both[] = {table.parse(pick(kStated)), table.named("second")};
    return one_in(2) ? both[0] : table.fused(both);
  }

  void add_extra(Op& op) {
    constexpr std::string_view kAngles[] = {"CPU", "code", "notype", "Linear", "a -> b<c>"};
    std::vector<Symbol> angles;
    for (std::size_t n = below(3); n != 0; --n) angles.push_back(intern(pick(kAngles)));
    rewriter_.set_angles(op, angles);
    if (one_in(3)) {
      rewriter_.set_address(op, one_in(3) ? ~std::uint64_t{0} : engine_() >> below(64));
    }
    if (!op.has_signature() || one_in(2)) return;
    Values operands;
    for (const Use& use : op.operand_uses()) operands.push_back(use.value());
    std::vector<SuccessorSpec> successors;
    std::size_t first = operands.size();
    for (std::size_t n = below(3); n != 0; --n) {
      const std::size_t count = below(first + 1);
      first -= count;
      successors.insert(successors.begin(),
                        {.stated = intern("bb" + std::to_string(n)),
                         .operands = std::span(operands).subspan(first, count)});
    }
    rewriter_.set_operands(op, std::span(operands).first(first));
    rewriter_.set_successors(op, successors);
  }

  /// Mentions that state another type or other attributes than their values have.
  void state_mentions(Op& op) {
    for (const Use& use : op.operand_uses()) {
      if (one_in(5)) {
        rewriter_.set_mention(use, {.type = type(),
                                    .attributes = rewriter_.keep(attributes()),
                                    .symbol = intern(name()),
                                    .has_symbol = true});
      }
    }
  }

  /// Names of blocks that there are mean those blocks.
  void settle_successors(const Region& region) {
    for (Block* block : region.blocks()) {
      for (Op* op : block->ops()) {
        std::vector<Values> operands;
        std::vector<SuccessorSpec> specs;
        for (const OpExtra::Successor& each : op->extra().successors) {
          Values& list = operands.emplace_back();
          for (std::uint32_t i = 0; i < each.operand_count; ++i) {
            list.push_back(op->operand(each.first_operand + i));
          }
          Block* to = region.entry();
          while (to != nullptr && to->name() != each.stated) to = to->next();
          specs.push_back({.block = to, .stated = each.stated});
        }
        for (std::size_t i = 0; i < specs.size(); ++i) specs[i].operands = operands[i];
        if (!specs.empty()) rewriter_.set_successors(*op, specs);
      }
    }
  }

  void add_regions(Op& op, int depth, const Values& visible) {
    const bool signature = one_in(2);
    for (std::size_t n = 1 + below(2); n != 0; --n) {
      Region& region = *rewriter_.add_region(op);
      rewriter_.set_has_signature(region, signature);
      if (signature) rewriter_.state_results(region, results());
      Block* entry = rewriter_.create_block(region, types(signature ? below(3) : 0));
      name_arguments(*entry);
      Values inside = visible;
      for (Value* argument : arguments_of(*entry)) inside.push_back(argument);
      fill(*entry, depth, inside);
      // Text cannot say that an entry with neither arguments nor ops comes before other blocks.
      const bool silent_entry = entry->empty() && !signature;
      for (std::size_t blocks = silent_entry ? 0 : below(3); blocks != 0; --blocks) {
        Block* block =
            rewriter_.create_block(region, types(below(3)), intern("bb" + std::to_string(blocks)));
        name_arguments(*block);
        Values here = inside;
        for (Value* argument : arguments_of(*block)) here.push_back(argument);
        fill(*block, depth, here);
      }
      settle_successors(region);
    }
  }

  IRContext& context_;
  std::mt19937_64 engine_;
  bool portable_;
  Module& module_;
  Rewriter rewriter_;
};

}  // namespace mir::test
