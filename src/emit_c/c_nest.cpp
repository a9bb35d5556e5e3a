// Writes nests, buffers, reads and writes as they stand, with checks of what proofs leave open.
#include "emit_c/c_nest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "dialects/loop_proofs.hpp"
#include "emit_c/c_elements.hpp"
#include "emit_c/c_extents.hpp"
#include "emit_c/c_region.hpp"
#include "eval/parameters.hpp"
#include "mir/codes/passes.hpp"
#include "mir/module.hpp"

namespace mir::c {

namespace {

/// Buffers of nests that need more bytes are not on the stack.
constexpr std::int64_t kMostStackBytes = 1 << 15;
/// Larger integers of data end the run, so that arithmetic on them does not overflow.
constexpr std::int64_t kMostOfIndex = std::int64_t{1} << 62;

Error no_form(std::string message) {
  return {diag::kNoC, std::move(message)};
}

class CKernel {
 public:
  CKernel(const Op& op, const KernelBody& body, const CGenericPlace& place, const CNames& names,
          CLines& out)
      : context_(op.module().context()),
        dims_(context_.dims()),
        body_(body),
        proofs_(body, nullptr),
        place_(place),
        names_(&names),
        out_(&out),
        buffers_(body.buffers.size()) {}

  Result<void> emit() {
    for (auto step : {&CKernel::bind_nests, &CKernel::bind_buffers, &CKernel::bind_checks}) {
      if (auto done = (this->*step)(); !done) return done;
    }
    // Kernels of one function use the same names.
    out_->open("");
    if (auto done = emit_steps(0); !done) return done;
    emit_results();
    out_->close();
    return {};
  }

 private:
  using Access = KernelBody::Access;

  struct Buffer {
    std::string name, flags;  // flags: of elements with a number; empty if nothing asks for them
    std::vector<std::int64_t> extents;
    std::int64_t elements = 1;
    bool is_result = false;
    bool is_sum = false;  // NaNs of its elements may have any bits
  };

  // -- preparation --------------------------------------------------------------------------------

  Result<void> bind_nests() {
    for (const KernelBody::Nest& nest : body_.nests) {
      for (const GenericForm::Range& size : nest.sizes) {
        if (size.extent.is_constant()) sizes_.bind(size.name, size.extent.constant());
      }
      for (const GenericForm::Range& loop : nest.loops) {
        if (loop.extent.is_constant()) continue;
        return no_form(
            fmt::format("the extent of loop '${}' is a symbol; 'bind-symbols' gives it "
                        "a number",
                        context_.text(loop.name)));
      }
    }
    return {};
  }

  Result<void> bind_buffers() {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      Buffer& buffer = buffers_[i];
      const BufferShape& shape = body_.buffers[i].shape;
      if (!storage_type_of(shape.dtype)) return no_form("a buffer has another element type");
      for (const Dim extent : shape.extents) {
        if (!extent.is_constant()) return no_form("an extent of a buffer is a symbol");
        buffer.extents.push_back(extent.constant());
        const auto product = checked_multiply(buffer.elements, extent.constant());
        if (!product) return no_form("a buffer has too many elements");
        buffer.elements = *product;
      }
      if (body_.buffers[i].is_operand) {
        buffer.name = place_.operands[body_.buffers[i].value->index()];
      }
    }
    for (std::size_t i = body_.results.size(); i-- > 0;) {
      buffers_[body_.results[i]].name = place_.results[i];
      buffers_[body_.results[i]].is_result = true;
    }
    return {};
  }

  /// Finds out which elements a run must watch.
  Result<void> bind_checks() {
    std::vector<bool> is_watched(buffers_.size(), false);
    for (const Access& access : body_.accesses) {
      IndexFault fault;
      is_inside_.push_back(proofs_.is_inside(access, fault) == ExtentVerdict::kProved);
      const bool reads = !access.is_write || access.join;
      is_written_.push_back(!reads || proofs_.is_written_before(access));
      if (!is_written_.back()) is_watched[access.buffer] = true;
    }
    for (const std::size_t result : body_.results) {
      if (!proofs_.is_written(result)) is_watched[result] = true;
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      Buffer& buffer = buffers_[i];
      if (is_watched[i]) buffer.flags = names_.fresh("has_number");
      bool has_join = false, is_filled = false;
      for (const Access& access : body_.accesses) {
        if (!access.is_write || access.buffer != i) continue;
        has_join = has_join || access.join;
        is_filled = is_filled || (!access.join && is_copied(access));
      }
      buffer.is_sum = has_join && !is_filled && !buffer.is_result &&
                      body_.buffers[i].shape.dtype == DType::kFloat64;
    }
    return {};
  }

  DType dtype_of(const Access& access) const { return body_.buffers[access.buffer].shape.dtype; }
  static DType dtype_of(const Value& number) { return *number.tensor_type()->dtype(); }

  /// True if a write stores what a read has found as it is.
  bool is_copied(const Access& access) const {
    const Value& number = *access.op->operand(0);
    const Op* read = number.defining_op();
    return read != nullptr && read->is(OpId::kLoopRead) && dtype_of(number) == dtype_of(access);
  }

  // -- steps --------------------------------------------------------------------------------------

  Result<void> emit_steps(std::size_t nest) {
    using Kind = KernelBody::Step::Kind;
    for (const KernelBody::Step& step : body_.nests[nest].steps) {
      Result<void> done;
      switch (step.kind) {
        case Kind::kBuffer:
          declare(step.number, nest);
          break;
        case Kind::kNest:
          done = emit_nest(step.number);
          break;
        case Kind::kRead:
          done = emit_read(step.number);
          break;
        case Kind::kWrite:
          done = emit_write(step.number);
          break;
        case Kind::kCompute:
          done = emit_computation(*step.op);
          break;
      }
      if (!done) return done;
    }
    return {};
  }

  std::string wanted_name(const Value& value, std::string_view otherwise) const {
    const bool is_word = !value.name().is_none() && !value.name().is_number();
    return std::string(is_word ? context_.text(value.name().symbol()) : otherwise);
  }

  void declare(std::size_t number, std::size_t nest) {
    Buffer& buffer = buffers_[number];
    const DType dtype = body_.buffers[number].shape.dtype;
    const std::string_view type = *storage_type_of(dtype);
    if (buffer.name.empty()) {
      buffer.name = names_.fresh(wanted_name(*body_.buffers[number].value, "buffer"));
      // Compilers warn of elements that only conditions leave without a number.
      const bool is_cleared = !proofs_.is_written(number);
      declare_array(type, info(dtype).unit_bytes, buffer.name, buffer.elements, nest, is_cleared);
      if (!body_.buffers[number].value->has_uses()) {
        out_->line(fmt::format("(void){};", buffer.name));
      }
    }
    if (buffer.flags.empty()) return;
    const bool is_first = declared_flags_.insert(buffer.flags).second || nest != 0;
    if (is_first) declare_array("uint8_t", 1, buffer.flags, buffer.elements, nest, false);
    const std::string at = names_.fresh("e");
    out_->open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", at, buffer.elements));
    out_->line(fmt::format("{}[{}] = 0;", buffer.flags, at));
    out_->close();
  }

  void declare_array(std::string_view type, std::int64_t size, const std::string& name,
                     std::int64_t elements, std::size_t nest, bool is_cleared) {
    const std::int64_t count = std::max<std::int64_t>(elements, 1);
    if (nest != 0 && count <= kMostStackBytes / size) {
      out_->line(fmt::format("{} {}[{}]{};", type, name, count, is_cleared ? " = {0}" : ""));
      return;
    }
    const auto bytes = checked_multiply(count, size).value_or(std::int64_t{1} << 60);
    out_->line(fmt::format("{0}* const {1} = ({0}*)({2});", type, name, place_.scratch(bytes)));
    // Iterations of loops around share this memory.
    if (nest != 0) has_shared_memory_ = true;
  }

  // -- nests --------------------------------------------------------------------------------------

  Dim known(Dim extent) const { return dims_.substitute(extent, sizes_); }

  Result<void> emit_nest(std::size_t number) {
    const KernelBody::Nest& nest = body_.nests[number];
    const std::size_t variables = symbols_.variables.size();
    Variables named = variables_here();
    CNames outer_names = names_;
    auto outer_texts = texts_;
    const std::size_t depth = out_->depth();
    if (nest.loops.empty()) out_->open("");
    if (auto done = bind_indices(*nest.op, nest.indices); !done) return done;
    for (const GenericForm::Range& loop : nest.loops) {
      symbols_.variables.push_back(
          {.symbol = loop.name,
           .name = names_.fresh(context_.text(loop.name)),
           .range = {0, std::max<std::int64_t>(0, loop.extent.constant() - 1)}});
    }
    // The inside is written first, because a parallel loop that may end the run is no OpenMP loop.
    CLines inside(depth + std::max<std::size_t>(nest.loops.size(), 1));
    CLines* const outside = std::exchange(out_, &inside);
    const bool had_shared_memory = std::exchange(has_shared_memory_, false);
    std::size_t conditions = 0;
    Result<void> done;
    for (const SymbolRelation& each : nest.conditions) {
      done = emit_condition(each, conditions);
      if (!done) break;
    }
    if (done) done = emit_steps(number);
    if (done) inside.close_to(depth + std::max<std::size_t>(nest.loops.size(), 1));
    out_ = outside;
    if (!done) return done;
    const bool may_be_parallel =
        !has_shared_memory_ && inside.text().find("return ") == std::string::npos;
    has_shared_memory_ = has_shared_memory_ || had_shared_memory;
    std::optional<std::size_t> parallel;  // where the outermost parallel loop begins
    const auto first_loop = symbols_.variables.size() - nest.loops.size();
    std::size_t around = 0;
    for (std::size_t i = 0; i < nest.loops.size(); ++i) {
      const bool is_marked = std::ranges::find(nest.parallel, i) != nest.parallel.end();
      if (is_marked && may_be_parallel && !parallel) {
        parallel = out_->text().size();
        around = first_loop + i;
      }
      out_->open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})",
                             symbols_.variables[first_loop + i].name,
                             nest.loops[i].extent.constant()));
    }
    out_->append(inside);
    out_->close_to(depth);
    if (parallel) state_parallel(*parallel, around, std::move(named));
    symbols_.variables.resize(variables);
    names_ = std::move(outer_names);
    texts_ = std::move(outer_texts);
    for (const KernelBody::Step& step : nest.steps) {
      if (step.kind == KernelBody::Step::Kind::kBuffer) buffers_[step.number].name.clear();
    }
    return {};
  }

  using Variables = std::vector<std::pair<std::string, std::string>>;

  /// Numbers and arrays that have a name where a nest begins.
  Variables variables_here() const {
    Variables made;
    if (!place_.call_block) return made;
    for (const auto& [value, name] : texts_) {
      made.emplace_back(fmt::format("{} ", *storage_type_of(dtype_of(*value))), name);
    }
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      if (buffers_[i].name.empty() || body_.buffers[i].is_operand) continue;
      const auto type = *storage_type_of(body_.buffers[i].shape.dtype);
      made.emplace_back(fmt::format("{}* restrict ", type), buffers_[i].name);
      if (!buffers_[i].flags.empty()) made.emplace_back("uint8_t* restrict ", buffers_[i].flags);
    }
    return made;
  }

  /// Marks a parallel loop that begins at `at`; `count` variables of loops are around it.
  void state_parallel(std::size_t at, std::size_t count, Variables around) {
    if (place_.call_block) {
      for (std::size_t i = 0; i < count; ++i) {
        around.emplace_back("int64_t ", symbols_.variables[i].name);
      }
      call_blocks(*out_, at, symbols_.variables[count].name, std::move(around), place_);
    }
    const std::string loop = out_->take_from(at);
    out_->directive("#ifdef _OPENMP");
    out_->directive("#pragma omp parallel for");
    out_->directive("#endif");
    out_->directive(std::string_view(loop).substr(0, loop.size() - 1));
  }

  Result<void> emit_condition(const SymbolRelation& condition, std::size_t& count) {
    const auto number = [&](Symbol symbol) -> std::optional<Dim> {
      const auto size = sizes_.find(symbol);
      return size ? std::optional(Dim(*size)) : std::nullopt;
    };
    const auto relation = condition.substitute(dims_, number);
    const auto margin = relation ? symbols_.range(relation->margin) : std::nullopt;
    if (!margin) return no_form("a condition may exceed 64 bits, or its divisor may be 0");
    if (always_holds(*relation, *margin)) return {};
    out_->open(fmt::format("if ({} {} 0)", symbols_.text(relation->margin),
                           relation->is_equation() ? "==" : ">="));
    ++count;
    return {};
  }

  /// Defines the symbols of integers that operands hold.
  Result<void> bind_indices(const Op& op, const std::vector<GenericForm::Index>& indices) {
    for (const GenericForm::Index& index : indices) {
      const Value& value = *op.operand(index.operand);
      const auto text = text_of(value);
      if (!text) return text.error();
      const DType dtype = dtype_of(value);
      const int bits = 8 * info(dtype).unit_bytes;
      Interval range{-kMostOfIndex, kMostOfIndex};
      if (bits < 64) {
        range = is_signed(dtype) ? Interval{-(std::int64_t{1} << (bits - 1)),
                                            (std::int64_t{1} << (bits - 1)) - 1}
                                 : Interval{0, (std::int64_t{1} << bits) - 1};
      }
      const std::string name = names_.fresh(context_.text(index.name));
      if (bits == 64) {
        const std::string beyond = fmt::format("{} > INT64_C({})", *text, kMostOfIndex);
        out_->line(is_signed(dtype) ? fmt::format("if ({} || {} < -INT64_C({})) return {};", beyond,
                                                  *text, kMostOfIndex, kIndexOutside)
                                    : fmt::format("if ({}) return {};", beyond, kIndexOutside));
      }
      out_->line(fmt::format("const int64_t {} = (int64_t){};", name, *text));
      symbols_.variables.push_back({.symbol = index.name, .name = name, .range = range});
    }
    return {};
  }

  // -- elements -----------------------------------------------------------------------------------

  /// Writes the checks of an access that a run must make, and returns the place of the element in
  /// its buffer.
  Result<std::string> place_of(std::size_t number) {
    const Access& access = body_.accesses[number];
    const Buffer& buffer = buffers_[access.buffer];
    Dim flat(0);
    std::string apart = "0";
    for (std::size_t i = 0; i < access.at.size(); ++i) {
      const Dim index = known(access.at[i]);
      const std::int64_t extent = buffer.extents[i];
      const auto range = symbols_.range(index);
      if (!range) return no_form("an index may exceed 64 bits, or its divisor may be 0");
      if (!is_inside_[number]) check_index(symbols_.text(index), *range, extent);
      flat = dims_.add(dims_.multiply(flat, Dim(extent)), index);
      apart =
          i == 0 ? operand_text(symbols_.text(index))
                 : fmt::format("({} * {} + {})", apart, extent, operand_text(symbols_.text(index)));
    }
    const bool is_known = !flat.is_unknown() && symbols_.range(flat).has_value();
    return is_known ? symbols_.text(flat) : apart;
  }

  void check_index(const std::string& index, const Interval& range, std::int64_t extent) {
    std::string outside;
    if (range.least < 0) outside = fmt::format("{} < 0", index);
    if (range.most >= extent) {
      outside += fmt::format("{}{} >= {}", outside.empty() ? "" : " || ", index, extent);
    }
    if (!outside.empty()) out_->line(fmt::format("if ({}) return {};", outside, kIndexOutside));
  }

  Result<void> emit_read(std::size_t number) {
    const Access& access = body_.accesses[number];
    const std::size_t variables = symbols_.variables.size();
    if (auto done = bind_indices(*access.op, access.indices); !done) return done;
    const auto at = place_of(number);
    if (!at) return at.error();
    symbols_.variables.resize(variables);
    const Buffer& buffer = buffers_[access.buffer];
    if (!is_written_[number]) {
      out_->line(fmt::format("if ({}[{}] == 0) return {};", buffer.flags, *at, kOverNothing));
    }
    const Value& value = *access.op->result();
    const std::string name = names_.fresh(wanted_name(value, "x"));
    const DType dtype = dtype_of(access);
    const std::string element = fmt::format("{}[{}]", buffer.name, *at);
    const bool is_element = dtype_of(value) == dtype;
    out_->line(fmt::format("const {} {} = {};", *storage_type_of(dtype_of(value)), name,
                           is_element ? element : widened(dtype, element)));
    texts_[&value] = name;
    if (!value.has_uses()) out_->line(fmt::format("(void){};", name));
    return {};
  }

  /// A value as a variable or literal of its type.
  Result<std::string> text_of(const Value& value) {
    if (const auto found = texts_.find(&value); found != texts_.end()) return found->second;
    const auto constant = constant_tensor(value);
    if (!constant) return constant.error();
    if (!storage_type_of(constant->dtype())) return no_form("a constant has another type");
    // Compilers warn of comparisons with a literal at an end of its type, and of divisions by a
    // const variable that is 0.
    const std::string name = names_.fresh("c");
    out_->line(fmt::format("{} {} = {};", *storage_type_of(constant->dtype()), name,
                           element_literal(*constant, 0)));
    return name;
  }

  Result<void> emit_write(std::size_t number) {
    const Access& access = body_.accesses[number];
    const Value& value = *access.op->operand(0);
    const auto text = text_of(value);
    if (!text) return text.error();
    const std::size_t variables = symbols_.variables.size();
    if (auto done = bind_indices(*access.op, access.indices); !done) return done;
    const auto at = place_of(number);
    if (!at) return at.error();
    symbols_.variables.resize(variables);
    const Buffer& buffer = buffers_[access.buffer];
    const DType dtype = dtype_of(access);
    const std::string element = fmt::format("{}[{}]", buffer.name, *at);
    const std::string first = stored_text(access, *text);
    if (access.join) {
      const std::string_view type = number_type_of(dtype);
      const std::string joined =
          join_text(*access.join, is_floating(dtype), type, parenthesised(widened(dtype, element)),
                    parenthesised(widened(dtype_of(value), *text)));
      const std::string next = buffer.is_sum ? joined : stored(dtype, joined);
      out_->line(is_written_[number] ? fmt::format("{} = {};", element, next)
                                     : fmt::format("{} = {}[{}] != 0 ? {} : {};", element,
                                                   buffer.flags, *at, parenthesised(next), first));
    } else {
      out_->line(fmt::format("{} = {};", element, first));
    }
    if (!buffer.flags.empty()) out_->line(fmt::format("{}[{}] = 1;", buffer.flags, *at));
    return {};
  }

  static std::string parenthesised(std::string text) {
    return is_atom(text) ? text : fmt::format("({})", text);
  }

  /// The number of a write as an element.
  std::string stored_text(const Access& access, const std::string& text) const {
    const Value& value = *access.op->operand(0);
    const DType dtype = dtype_of(access);
    if (!access.join && is_copied(access)) {
      const auto from = std::ranges::find_if(
          body_.accesses, [&](const Access& each) { return each.op == value.defining_op(); });
      return buffers_[from->buffer].is_sum ? stored(dtype, text) : text;
    }
    return stored(dtype, widened(dtype_of(value), text));
  }

  Result<void> emit_computation(const Op& op) {
    if (op.result_count() != 1) return no_form(fmt::format("'{}' has several results", op.name()));
    std::vector<std::string> operands, statements;
    for (const Use& use : op.operand_uses()) {
      auto text = text_of(*use.value());
      if (!text) return text.error();
      operands.push_back(*std::move(text));
    }
    const std::string name = names_.fresh(wanted_name(*op.result(), "t"));
    auto done = add_statements(op, operands, name, statements, names_);
    if (!done) return done;
    for (const std::string& each : statements) out_->line(each);
    texts_[op.result()] = name;
    if (!op.result()->has_uses()) out_->line(fmt::format("(void){};", name));
    return {};
  }

  void emit_results() {
    for (std::size_t i = 0; i < body_.results.size(); ++i) {
      const std::size_t number = body_.results[i];
      const Buffer& buffer = buffers_[number];
      if (!buffer.flags.empty() && !proofs_.is_written(number)) {
        const std::string at = names_.fresh("e");
        out_->open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", at, buffer.elements));
        out_->line(fmt::format("if ({}[{}] == 0) return {};", buffer.flags, at, kNotOneIteration));
        out_->close();
      }
      if (buffer.name == place_.results[i] || buffer.elements == 0) continue;
      out_->line(fmt::format("memcpy({}, {}, {});", place_.results[i], buffer.name,
                             buffer.elements * info(body_.buffers[number].shape.dtype).unit_bytes));
    }
  }

  IRContext& context_;
  DimTable& dims_;
  const KernelBody& body_;
  KernelProofs proofs_;
  const CGenericPlace& place_;
  CNames names_;
  CLines* out_;
  DimBindings sizes_;
  CSymbols symbols_;
  std::vector<Buffer> buffers_;
  std::vector<bool> is_inside_, is_written_;  // by access: proved
  std::unordered_map<const Value*, std::string> texts_;
  std::unordered_set<std::string> declared_flags_;
  bool has_shared_memory_ = false;  // since the innermost nest around began
};

}  // namespace

Result<void> emit_kernel(const Op& op, const CGenericPlace& place, const CNames& names,
                         CLines& out) {
  std::optional<Error> problem;
  const auto body =
      read_kernel(op, [&](const KernelProblem& found) { problem = no_form(found.message); });
  if (!body) return problem ? *problem : no_form("an op of the kernel is not sound");
  return CKernel(op, *body, place, names, out).emit();
}

}  // namespace mir::c
