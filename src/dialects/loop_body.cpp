// Reads the loops, maps and buffers of a loop.KernelOp.
#include "dialects/loop_body.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "ir/ports.hpp"
#include "ir/symbol_relations.hpp"
#include "ir/type_extents.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/module.hpp"

namespace mir {

namespace {

using Step = KernelBody::Step;

class KernelReader {
 public:
  using Report = std::function<void(const KernelProblem&)>;

  KernelReader(const Op& kernel, const Report& report)
      : context_(kernel.module().context()), dims_(context_.dims()), report_(report) {
    body_.op = &kernel;
  }

  std::optional<KernelBody> read() {
    const Op& kernel = *body_.op;
    const Block* block = only_block(kernel, "loop_c1");
    if (block == nullptr) return std::nullopt;
    body_.nests.push_back({.op = &kernel});
    const bool is_read =
        read_arguments(*block) && read_steps(*block, 0) && read_results(*block->back());
    return is_read ? std::optional(std::move(body_)) : std::nullopt;
  }

 private:
  bool fail(const Op& op, std::optional<AttrKey> key, std::string_view constraint, DiagCode code,
            std::string message) {
    report_({op, key, constraint, code, std::move(message)});
    return false;
  }
  std::string_view text(Symbol symbol) const { return context_.text(symbol); }

  const Block* only_block(const Op& op, std::string_view constraint) {
    const Region* region = op.first_region();
    if (region == nullptr) return nullptr;
    if (region->empty() || region->has_several_blocks()) {
      fail(op, {}, constraint, diag::kRegionFlow,
           fmt::format("the region of '{}' must have one block", op.name()));
      return nullptr;
    }
    const Block& block = region->only_block();
    // Another end is reported with the flow of control.
    return block.back() != nullptr && block.back()->is(OpId::kCfYield) ? &block : nullptr;
  }

  // -- buffers ------------------------------------------------------------------------------------

  static std::string type_text(const Value& value) {
    return value.type() == nullptr ? "a value of unknown type"
                                   : std::string(value.type()->spelling());
  }

  /// True if the type is the buffer of a tensor, as far as the types are known.
  static bool is_buffer_of(const Type* type, const Type* tensor) {
    const auto shape = buffer_shape(type);
    const auto* held = dyn_cast<TensorType>(tensor);
    if (held == nullptr) return true;
    return shape && (!held->dtype() || *held->dtype() == shape->dtype) &&
           std::ranges::equal(shape->extents, held->dims());
  }

  bool read_arguments(const Block& block) {
    const Op& kernel = *body_.op;
    const ValueRange arguments = block.arguments();
    if (arguments.size() != kernel.operand_count()) {
      return fail(kernel, {}, "loop_c1", diag::kRegionFlow,
                  fmt::format("the region of '{}' takes {} buffers, expected one for each of {} "
                              "operands",
                              kernel.name(), arguments.size(), kernel.operand_count()));
    }
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
      const Type* tensor = kernel.operand(i)->type();
      const auto shape = buffer_shape(arguments[i].type());
      if (!shape || !is_buffer_of(arguments[i].type(), tensor)) {
        return fail(
            kernel, {}, "loop_c1", diag::kRegionFlow,
            fmt::format("argument {} of the region of '{}' is {}, expected a buffer of {}", i,
                        kernel.name(), type_text(arguments[i]), type_text(*kernel.operand(i))));
      }
      add_buffer(arguments[i], *shape, 0, true);
    }
    return true;
  }

  std::size_t add_buffer(const Value& value, BufferShape shape, std::size_t nest, bool is_operand) {
    const std::size_t number = body_.buffers.size();
    numbers_.emplace(&value, number);
    body_.buffers.push_back(
        {.value = &value, .shape = std::move(shape), .nest = nest, .is_operand = is_operand});
    return number;
  }

  bool read_results(const Op& end) {
    const Op& kernel = *body_.op;
    if (end.operand_count() != kernel.result_count()) {
      return fail(end, {}, "loop_c1", diag::kRegionFlow,
                  fmt::format("the region of '{}' passes {} buffers, expected {}", kernel.name(),
                              end.operand_count(), kernel.result_count()));
    }
    for (std::uint32_t i = 0; i < end.operand_count(); ++i) {
      const auto found = numbers_.find(end.operand(i));
      const bool is_made = found != numbers_.end() && !body_.buffers[found->second].is_operand &&
                           body_.buffers[found->second].nest == 0;
      if (!is_made || !is_buffer_of(end.operand(i)->type(), kernel.result(i)->type())) {
        return fail(end, {}, "loop_c1", diag::kRegionFlow,
                    fmt::format("the region of '{}' passes {} as result {}, expected a buffer of "
                                "{} that 'loop.BufferOp' made in its block",
                                kernel.name(), type_text(*end.operand(i)), i,
                                type_text(*kernel.result(i))));
      }
      body_.results.push_back(found->second);
    }
    return true;
  }

  // -- steps --------------------------------------------------------------------------------------

  bool read_steps(const Block& block, std::size_t nest) {
    for (const Op* op : block.ops()) {
      if (op == block.back()) continue;
      Step step{.op = op};
      if (!read_step(*op, nest, step)) return false;
      body_.nests[nest].steps.push_back(step);
    }
    return true;
  }

  bool read_step(const Op& op, std::size_t nest, Step& step) {
    switch (op.op_id()) {
      case OpId::kLoopNest:
        step.kind = Step::Kind::kNest;
        step.number = body_.nests.size();
        return read_nest(op, nest);
      case OpId::kLoopBuffer: {
        step.kind = Step::Kind::kBuffer;
        const auto shape =
            op.result_count() == 1 ? buffer_shape(op.result()->type()) : std::nullopt;
        if (shape) step.number = add_buffer(*op.result(), *shape, nest, false);
        return shape.has_value();  // reported by the rule of the op
      }
      case OpId::kLoopRead:
        step.kind = Step::Kind::kRead;
        step.number = body_.accesses.size();
        return read_access(op, nest, 0);
      case OpId::kLoopWrite:
        step.kind = Step::Kind::kWrite;
        step.number = body_.accesses.size();
        return read_access(op, nest, 1);
      default:
        step.number = body_.computations.size();
        body_.computations.push_back(&op);
        return check_computation(op);
    }
  }

  bool check_computation(const Op& op) {
    const bool computes = op.has(Trait::kElementwise) || op.is(OpId::kLinalgCastType);
    const bool is_step = computes && op.has(Trait::kPure) && op.is_in(DialectId::kLinalg);
    const auto is_number = [](const Value& value) {
      const TensorType* type = value.tensor_type();
      return type == nullptr || type->rank() == 0;
    };
    if (is_step && std::ranges::all_of(op.results(), is_number)) return true;
    return fail(op, {}, "loop_c2", diag::kRegionFlow,
                fmt::format("'{}' is in a kernel, expected an op on buffers, or an elementwise "
                            "operation of linalg on single numbers",
                            op.name()));
  }

  // -- nests --------------------------------------------------------------------------------------

  bool read_nest(const Op& op, std::size_t around) {
    const Block* block = only_block(op, "loop_c2");
    if (block == nullptr) return false;
    if (!block->arguments().empty() || block->back()->operand_count() != 0) {
      return fail(op, {}, "loop_c2", diag::kRegionFlow,
                  fmt::format("the region of '{}' takes and passes no values", op.name()));
    }
    KernelBody::Nest nest{.op = &op, .around = around, .step = body_.nests[around].steps.size()};
    const std::size_t outer = bound_.size();
    const bool is_read = read_ranges(op, key::kLoops, nest.loops) &&
                         read_ranges(op, key::kSizes, nest.sizes) &&
                         read_indices(op, true, nest.indices) &&
                         read_relations_of(op, key::kBounds, nest.conditions);
    if (!is_read) return false;
    nest.bound_count = nest.conditions.size();
    if (!read_relations_of(op, key::kWhere, nest.conditions) ||
        !read_loops(op, key::kParallel, nest, nest.parallel) ||
        !read_loops(op, key::kVector, nest, nest.vector) ||
        !read_loops(op, key::kUnroll, nest, nest.unroll)) {
      return false;
    }
    const std::size_t number = body_.nests.size();
    body_.nests.push_back(std::move(nest));
    if (!read_steps(*block, number)) return false;
    bound_.resize(outer);
    return true;
  }

  bool bind(const Op& op, AttrKey key, Symbol name) {
    if (std::ranges::find(bound_, name) == bound_.end()) {
      bound_.push_back(name);
      return true;
    }
    return fail(op, key, "loop_c3", diag::kAttributeOutOfRange,
                fmt::format("'{}' binds '${}', which is bound already", key.text, text(name)));
  }

  bool read_ranges(const Op& op, AttrKey key, std::vector<GenericForm::Range>& ranges) {
    const Attr* stated = op.attribute(key);
    // A missing attribute, or one of another kind, is reported elsewhere.
    if (stated == nullptr) return key.symbol == key::kSizes.symbol;
    if (stated->kind() != AttrKind::kDict) return false;
    for (const NamedAttr& entry : stated->entries()) {
      const auto extent = extent_in(*entry.value);
      if (!extent || extent->is_negative() || (extent->is_symbolic() && extent->is_pack())) {
        return fail(op, key, "loop_c3", diag::kAttributeOutOfRange,
                    fmt::format("'{}' of '{}' is {}, expected an extent", text(entry.key), key.text,
                                entry.value->spelling()));
      }
      if (!bind(op, key, entry.key)) return false;
      ranges.push_back({entry.key, *extent});
    }
    if (ranges.size() <= kMostLoops) return true;
    return fail(op, key, "loop_c3", diag::kAttributeOutOfRange,
                fmt::format("'{}' has {} entries, expected at most {}", key.text, ranges.size(),
                            kMostLoops));
  }

  bool read_indices(const Op& op, bool binds, std::vector<GenericForm::Index>& indices) {
    const Attr* stated = op.attribute(key::kIndices);
    const std::size_t first = op.is(OpId::kLoopNest) ? 0 : op.is(OpId::kLoopRead) ? 1 : 2;
    if (stated != nullptr && stated->kind() != AttrKind::kDict) return false;
    if (stated != nullptr) {
      for (const NamedAttr& entry : stated->entries()) {
        const bool is_number = entry.value->kind() == AttrKind::kInt;
        const auto operand = is_number ? static_cast<std::size_t>(entry.value->integer()) : 0;
        if (!is_number || operand < first || operand >= op.operand_count()) {
          return fail(op, key::kIndices, "loop_c3", diag::kAttributeOutOfRange,
                      fmt::format("'{}' of '{}' is {}, expected the number of an operand that is "
                                  "an integer",
                                  text(entry.key), key::kIndices.text, entry.value->spelling()));
        }
        if (!bind(op, key::kIndices, entry.key)) return false;
        indices.push_back({entry.key, operand});
      }
    }
    for (std::size_t i = first; i < op.operand_count(); ++i) {
      if (!check_index(op, i, indices)) return false;
    }
    if (!binds) bound_.resize(bound_.size() - indices.size());
    return true;
  }

  /// Operands that are indices are single integers that a symbol stands for.
  bool check_index(const Op& op, std::size_t operand,
                   const std::vector<GenericForm::Index>& indices) {
    const TensorType* type = op.operand(operand)->tensor_type();
    const auto dtype = type == nullptr ? std::nullopt : type->dtype();
    const bool is_integer = dtype && type->rank() == 0 &&
                            (info(*dtype).type_class == DTypeClass::kSignedInt ||
                             info(*dtype).type_class == DTypeClass::kUnsignedInt) &&
                            info(*dtype).lanes == 1;
    const bool is_used =
        std::ranges::find(indices, operand, &GenericForm::Index::operand) != indices.end();
    if (is_integer && is_used) return true;
    return fail(
        op, {}, "loop_c3", diag::kDTypeMismatch,
        fmt::format("operand {} of '{}' is {}, expected one integer to which '{}' "
                    "gives a symbol",
                    operand, op.name(), type_text(*op.operand(operand)), key::kIndices.text));
  }

  /// Reports a symbol of an extent that nothing binds.
  bool check_bound(const Op& op, AttrKey key, std::string_view constraint, Dim extent,
                   const std::vector<GenericForm::Index>& own = {}) {
    bool is_bound = true;
    for_each_symbol_of(extent, dims_, [&](Symbol name) {
      if (!is_bound || std::ranges::find(bound_, name) != bound_.end() ||
          std::ranges::find(own, name, &GenericForm::Index::name) != own.end()) {
        return;
      }
      is_bound = false;
      std::vector<std::string> names;
      for (const Symbol each : bound_) names.push_back(fmt::format("${}", text(each)));
      for (const auto& each : own) names.push_back(fmt::format("${}", text(each.name)));
      fail(op, key, constraint, diag::kAttributeOutOfRange,
           fmt::format("'{}' has '${}', expected a symbol that the loops around bind{}{}", key.text,
                       text(name), names.empty() ? "" : ": ", fmt::join(names, ", ")));
    });
    return is_bound;
  }

  /// Appends the relations of an attribute.
  bool read_relations_of(const Op& op, AttrKey key, std::vector<SymbolRelation>& conditions) {
    const Attr* stated = op.attribute(key);
    if (stated == nullptr) return true;
    const auto errors = errors_of_symbol_relations(*stated, context_, key);
    if (!errors.empty()) {
      return fail(op, key, "loop_c4", diag::kAttributeOutOfRange, errors.front().message);
    }
    const SymbolRelations relations = read_relations(*stated, context_);
    for (const SymbolRelation& each : relations.all()) {
      if (!check_bound(op, key, "loop_c4", each.left) ||
          !check_bound(op, key, "loop_c4", each.right)) {
        return false;
      }
      if (key.symbol == key::kBounds.symbol &&
          each.comparison != SymbolRelation::Comparison::kLess) {
        return fail(op, key, "loop_c4", diag::kAttributeOutOfRange,
                    fmt::format("'{}' has '{}', expected an index below an extent", key.text,
                                each.text(dims_)));
      }
      conditions.push_back(each);
    }
    return true;
  }

  /// Reads a list of loops by their symbols.
  bool read_loops(const Op& op, AttrKey key, const KernelBody::Nest& nest,
                  std::vector<std::size_t>& loops) {
    const Attr* stated = op.attribute(key);
    if (stated == nullptr) return true;
    if (stated->kind() != AttrKind::kArray) {
      return fail(
          op, key, "loop_c3", diag::kAttributeOutOfRange,
          fmt::format("'{}' is {}, expected a list of loops", key.text, stated->spelling()));
    }
    for (const Attr* each : stated->elements()) {
      const Symbol name =
          each->kind() == AttrKind::kString ? context_.intern(each->text()) : Symbol();
      const auto loop = std::ranges::find(nest.loops, name, &GenericForm::Range::name);
      const auto number = static_cast<std::size_t>(loop - nest.loops.begin());
      const bool is_new = std::ranges::find(loops, number) == loops.end();
      if (each->kind() == AttrKind::kString && loop != nest.loops.end() && is_new) {
        loops.push_back(number);
        continue;
      }
      return fail(op, key, "loop_c3", diag::kAttributeOutOfRange,
                  fmt::format("'{}' has {}, expected a loop of the nest, each once", key.text,
                              each->spelling()));
    }
    return true;
  }

  // -- reads and writes ---------------------------------------------------------------------------

  bool read_access(const Op& op, std::size_t nest, std::size_t buffer_operand) {
    const Attr* at = op.attribute(key::kAt);
    const bool has_parts = op.operand_count() > buffer_operand && at != nullptr &&
                           at->kind() == AttrKind::kArray &&
                           op.result_count() == 1 - buffer_operand;
    if (!has_parts) return false;  // reported elsewhere
    const auto found = numbers_.find(op.operand(buffer_operand));
    if (found == numbers_.end()) {
      return fail(op, {}, "loop_c6", diag::kRegionFlow,
                  fmt::format("operand {} of '{}' is {}, expected a buffer of the kernel",
                              buffer_operand, op.name(), type_text(*op.operand(buffer_operand))));
    }
    KernelBody::Access access{.op = &op,
                              .is_write = buffer_operand == 1,
                              .buffer = found->second,
                              .nest = nest,
                              .step = body_.nests[nest].steps.size()};
    if (!read_indices(op, false, access.indices) || !read_map(op, access)) return false;
    if (access.is_write && !read_write(op, access)) return false;
    if (!access.is_write && !check_number(op, *op.result(), access)) return false;
    body_.accesses.push_back(std::move(access));
    return true;
  }

  bool read_map(const Op& op, KernelBody::Access& access) {
    for (const Attr* element : op.attribute(key::kAt)->elements()) {
      const auto index = extent_in(*element);
      if (!index || index->is_unknown() || (index->is_symbolic() && index->is_pack())) {
        return fail(op, key::kAt, "loop_c5", diag::kAttributeOutOfRange,
                    fmt::format("'{}' has {}, expected an index over symbols of loops",
                                key::kAt.text, element->spelling()));
      }
      if (!check_bound(op, key::kAt, "loop_c5", *index, access.indices)) return false;
      access.at.push_back(*index);
    }
    const std::size_t rank = body_.buffers[access.buffer].shape.extents.size();
    if (access.at.size() == rank) return true;
    return fail(op, key::kAt, "loop_c5", diag::kRankMismatch,
                fmt::format("'{}' has {} indices, the buffer has rank {}", key::kAt.text,
                            access.at.size(), rank));
  }

  bool read_write(const Op& op, KernelBody::Access& access) {
    const KernelBody::Buffer& buffer = body_.buffers[access.buffer];
    if (buffer.is_operand) {
      return fail(op, {}, "loop_c6", diag::kRegionFlow,
                  fmt::format("'{}' writes {}, which holds an operand of the kernel", op.name(),
                              buffer_text(body_, access.buffer)));
    }
    if (const Attr* join = op.attribute(key::kJoin)) {
      access.join = join->kind() == AttrKind::kString ? loop_sum(join->text()) : std::nullopt;
      if (!access.join) return false;  // reported with the choices of the attribute
      const bool is_logical = access.join == LoopSum::kAnd || access.join == LoopSum::kOr;
      if (is_logical != (buffer.shape.dtype == DType::kBool)) {
        return fail(op, key::kJoin, "loop_c6", diag::kDTypeMismatch,
                    fmt::format("'{}' joins elements of {}: 'and' and 'or' join Bool, the others "
                                "numbers",
                                op.name(), name_of(buffer.shape.dtype)));
      }
    }
    return check_number(op, *op.operand(0), access);
  }

  /// A number that is read or written is one element, or has the type in which ops compute.
  bool check_number(const Op& op, const Value& value, const KernelBody::Access& access) {
    const DType dtype = body_.buffers[access.buffer].shape.dtype;
    const TensorType* type = value.tensor_type();
    const DType number = *accumulation_type(dtype);
    if (type != nullptr && type->rank() == 0 && (type->dtype() == dtype || type->dtype() == number))
      return true;
    return fail(
        op, {}, "loop_c6", diag::kDTypeMismatch,
        fmt::format("'{}' has {}, expected one {}{}", op.name(), type_text(value), name_of(number),
                    number == dtype ? "" : fmt::format(" or {}", name_of(dtype))));
  }

  IRContext& context_;
  DimTable& dims_;
  const Report& report_;
  KernelBody body_;
  std::unordered_map<const Value*, std::size_t> numbers_;  // of buffers
  std::vector<Symbol> bound_;                              // by the nests around
};

}  // namespace

std::optional<BufferShape> buffer_shape(const Type* type) {
  const auto* buffer = dyn_cast<DialectType>(type);
  if (buffer == nullptr || buffer->kind().name != "loop.buffer" || !buffer->is_structured())
    return std::nullopt;
  const auto dtype = dtype_from_name(buffer->parameter(0)->text());
  if (!dtype || !accumulation_type(*dtype)) return std::nullopt;
  BufferShape shape{.dtype = *dtype, .extents = {}};
  for (const Attr* each : buffer->parameter(1)->elements()) {
    const auto extent = extent_in(*each);
    if (!extent || extent->is_negative()) return std::nullopt;
    shape.extents.push_back(*extent);
  }
  return shape;
}

std::vector<std::size_t> KernelBody::chain(std::size_t nest) const {
  std::vector<std::size_t> chain;
  for (; nest != kNone; nest = nests[nest].around) chain.push_back(nest);
  std::ranges::reverse(chain);
  return chain;
}

bool KernelBody::is_inside(std::size_t nest, std::size_t around) const {
  while (nest != around && nest != kNone) nest = nests[nest].around;
  return nest == around;
}

std::optional<KernelBody> read_kernel(const Op& kernel,
                                      const std::function<void(const KernelProblem&)>& report) {
  return KernelReader(kernel, report).read();
}

std::string buffer_text(const KernelBody& body, std::size_t buffer) {
  const std::string name =
      name_text(body.buffers[buffer].value->name(), body.op->module().context());
  return name.empty() ? fmt::format("buffer {}", buffer) : fmt::format("%{}", name);
}

}  // namespace mir
