// Writes modules in C: functions of graphs, places of values, parameters, constants.
#include "emit_c/c_module.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>
#include <map>
#include <unordered_map>

#include "emit_c/c_caches.hpp"
#include "emit_c/c_elements.hpp"
#include "emit_c/c_frame.hpp"
#include "emit_c/c_generic.hpp"
#include "emit_c/c_nest.hpp"
#include "emit_c/c_program.hpp"
#include "emit_c/c_support.hpp"
#include "eval/parameters.hpp"
#include "ir/op_places.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/passes.hpp"
#include "mir/control_flow.hpp"
#include "mir/op_attributes.hpp"
#include "mir/walk.hpp"
#include "passes/generic/generic_bodies.hpp"

namespace mir {

namespace {

using namespace c;

/// Larger constants belong in a file of weights.
constexpr std::int64_t kMostConstantElements = 1 << 20;

class CModule {
 public:
  CModule(const Module& module, Diagnostics& diagnostics, bool calls_blocks)
      : module_(module),
        context_(module.context()),
        diagnostics_(diagnostics),
        calls_blocks_(calls_blocks) {}

  std::optional<CText> write() {
    const std::string_view stated = context_.text(module_.name());
    const std::string name(stated.empty() ? "module" : stated);
    run_ = names_.fresh(name + "_run");
    weights_ = names_.fresh(name + "_weights");
    workspace_ = names_.fresh(name + "_workspace_bytes");
    caches_struct_ = names_.fresh(name + "_caches");
    read_weights_ = names_.fresh(name + "_read_weights");
    weights_bytes_ = names_.fresh(name + "_weights_bytes");
    for_each_op(module_,
                [&](const Op& op) { has_caches_ = has_caches_ || op.is(OpId::kLinalgKVCache); });
    const Region& body = module_.body();
    if (!has_form(body)) {
      refuse(*module_.top(), "several blocks have no form in C");
      return std::nullopt;
    }
    const std::string text = function(body, nullptr);
    if (diagnostics_.has_errors()) return std::nullopt;
    weights_word_ = port_names_.fresh("safetensors");
    return CText{.source = source(text),
                 .header = header(),
                 .inputs = inputs_,
                 .weights = parameter_list_,
                 .outputs = outputs_,
                 .caches = {caches_.all().begin(), caches_.all().end()},
                 .caches_bytes = caches_.bytes(),
                 .workspace_bytes = bytes_};
  }

 private:
  /// A function of a graph.
  struct Function {
    std::string name;
    std::int64_t bytes = 0;  ///< memory of its values and of what it calls
  };

  static bool has_form(const Region& region) {
    return !region.empty() && !region.has_several_blocks() && !region.only_block().empty();
  }

  void refuse(const Op& op, std::string message) {
    diagnostics_.error(diag::kNoC, op.span(), std::move(message));
  }

  std::string name_of(ValueName name) const {
    if (name.is_none()) return "v";
    return name.is_number() ? fmt::format("v{}", name.number())
                            : std::string(context_.text(name.symbol()));
  }
  std::string stated_name(ValueName name) const {
    if (name.is_none()) return "";
    return name.is_number() ? fmt::format("%{}", name.number())
                            : fmt::format("%{}", context_.text(name.symbol()));
  }

  /// No value after reporting why C does not have the value.
  std::optional<CArray> array_of(const Value& value, const Op& op) {
    return array_of(value, [&] { return op.span(); });
  }
  /// Reports at the span that `place()` returns.
  template <class Place>
  std::optional<CArray> array_of(const Value& value,
                                 const Place& place) requires std::invocable<Place> {
    const TensorType* type = value.tensor_type();
    const auto dtype = type == nullptr ? std::nullopt : type->dtype();
    const auto storage = dtype ? storage_type_of(*dtype) : std::nullopt;
    std::string why;
    if (!storage) {
      why = "C has no such elements";
    } else if (type->encoding() != nullptr) {
      why = "encodings have no form in C";
    } else if (!type->has_static_shape()) {
      why = "an extent is not a number; 'bind-symbols' gives symbols numbers";
    }
    const std::int64_t elements = why.empty() ? type->element_count().value_or(-1) : 0;
    const std::uint64_t bytes =
        why.empty() && elements >= 0
            ? storage_bytes(*dtype, static_cast<std::uint64_t>(elements)).value_or(UINT64_MAX)
            : UINT64_MAX;
    if (why.empty() && bytes > Tensor::kMaxBytes) why = "it is too large";
    if (!why.empty()) {
      diagnostics_.error(
          diag::kNoC, place(),
          fmt::format("value '{}' of type {} cannot be written in C: {}", stated_name(value.name()),
                      value.type() == nullptr ? "?" : value.type()->spelling(), why));
      return std::nullopt;
    }
    CArray array{*dtype, elements, static_cast<std::int64_t>(bytes), *storage, {}, {}};
    for (const Dim each : type->dims()) array.extents.push_back(each.constant());
    array.shape =
        fmt::format("({}{})", fmt::join(array.extents, ", "), array.extents.size() == 1 ? "," : "");
    return array;
  }

  // -- values -------------------------------------------------------------------------------------

  /// An expression for a parameter of the module.
  std::string parameter(Symbol symbol, const Value& value, const Op& op) {
    const auto found = parameters_.find(symbol);
    if (found != parameters_.end()) return "model->" + found->second;
    const auto array = array_of(value, op);
    if (!array) return "";
    const std::string name = port_names_.fresh(context_.text(symbol));
    parameters_.emplace(symbol, name);
    parameter_list_.push_back({name, std::string(context_.text(symbol)), *array});
    return "model->" + name;
  }

  std::string constant(const Value& value, const Op& op) {
    const auto array = array_of(value, op);
    if (!array) return "";
    if (array->elements > kMostConstantElements) {
      refuse(op, fmt::format("a constant has {} elements, at most {} are written in C",
                             array->elements, kMostConstantElements));
      return "";
    }
    const auto tensor = constant_tensor(value);
    if (!tensor) {
      refuse(op, tensor.error().message);
      return "";
    }
    const std::string name = fmt::format("mir_constants_{}", ++constant_count_);
    std::string elements;
    for (std::int64_t i = 0; i < array->elements; ++i) {
      elements += i == 0 ? "" : i % 8 == 0 ? ",\n    " : ", ";
      elements += element_literal(*tensor, static_cast<std::size_t>(i));
    }
    constants_ +=
        fmt::format("static const {} {}[{}] = {{\n    {}}};\n", array->type, name,
                    std::max<std::int64_t>(1, array->elements), elements.empty() ? "0" : elements);
    return name;
  }

  // -- functions ----------------------------------------------------------------------------------

  class Body;

  /// The function of a graph, which is written at its first call.
  const Function* function_of(const Op& graph, const Op& call) {
    const auto found = functions_.find(&graph);
    if (found != functions_.end()) return &found->second;
    const Region* region = graph.first_region();
    if (region == nullptr || !has_form(*region)) {
      refuse(call, "several blocks have no form in C");
      return nullptr;
    }
    Function made{.name = "mir_graph_" + graph_names_.fresh(context_.text(graph.symbol()))};
    const std::string text = function(*region, &made);
    if (diagnostics_.has_errors()) return nullptr;
    graphs_ += text;
    return &functions_.emplace(&graph, made).first->second;
  }

  std::string function(const Region& region, Function* graph);

  std::string prototype() const {
    std::vector<std::string> parameters;
    if (!parameter_list_.empty())
      parameters.push_back(fmt::format("const struct {}* model", weights_));
    if (has_caches_) parameters.push_back(fmt::format("struct {}* caches", caches_struct_));
    for (const CPort& each : inputs_) {
      parameters.push_back(fmt::format("const {}* {}", each.array.type, each.name));
    }
    for (const CPort& each : outputs_) {
      parameters.push_back(fmt::format("{}* {}", each.array.type, each.name));
    }
    parameters.push_back("void* workspace");
    return list_text(fmt::format("int {}(", run_), parameters, "    ") + ")";
  }

  /// The structs that a caller passes.
  std::string structs() const { return weights_struct() + caches_.struct_text(caches_struct_); }

  std::string weights_struct() const {
    if (parameter_list_.empty()) return "";
    std::string text = fmt::format("struct {} {{\n", weights_);
    for (const CPort& each : parameter_list_) {
      text += fmt::format("  const {}* {}; /* {} {} */\n", each.array.type, each.name,
                          comment_text(each.stated), each.array.shape);
    }
    return text + "};\n\n";
  }

  /// Lines of a comment that tell each input and output.
  std::string port_lines() const {
    std::string text;
    for (const auto* ports : {&inputs_, &outputs_}) {
      for (const CPort& each : *ports) {
        text += fmt::format("   {} {}: {} {}, {}\n", ports == &inputs_ ? "input" : "output",
                            each.name, mir::name_of(each.array.dtype), each.array.shape,
                            comment_text(each.stated));
      }
    }
    return text;
  }

  std::string header() const {
    std::string guard;
    for (const char c : run_) guard += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return fmt::format(
        "/* Module @{0}, written by mllm-opt --emit=c-header. */\n"
        "#ifndef {1}_H\n#define {1}_H\n\n#include <stdint.h>\n\n"
        "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
        "{2}/* Bytes of memory that a run uses, aligned as malloc aligns it. */\n"
        "#define {3} {4}\n\n"
        "/* Returns 0, or {5} if data makes an index outside of a tensor, {6} if an element has "
        "several\n"
        "   iterations or none, {7} if an element is the largest or least of nothing. Arrays "
        "must not\n"
        "   overlap.\n{8}{9}*/\n{10};\n{11}\n"
        "#ifdef __cplusplus\n}}\n#endif\n#endif\n",
        comment_text(context_.text(module_.name())), guard, structs(), workspace_, bytes_,
        kIndexOutside, kNotOneIteration, kOverNothing,
        has_caches_
            ? fmt::format("   It returns {} if a cache holds another number of tokens than the "
                          "module states. A run that\n   fails leaves the caches as they were.\n",
                          kOtherLength)
            : "",
        port_lines(), prototype(), weights_declaration());
  }

  std::string source(const std::string& text) const {
    std::string made = fmt::format(
        "/* Module @{0}, written by mllm-opt --emit=c. C11. The results have the bits of the "
        "reference\n"
        "   kernels if products and sums are not contracted: compile with -ffp-contract=off, and "
        "without\n"
        "   options that change arithmetic, such as -ffast-math. With -DMIR_MAIN it is a program "
        "that\n"
        "   reads and writes NPY files: NAME=FILE for each input, weight and output.\n{2}{1}*/\n"
        "#include <float.h>\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n"
        "#include <string.h>\n\n"
        "#if defined(__FAST_MATH__) || (FLT_EVAL_METHOD != 0 && FLT_EVAL_METHOD != 16) || \\\n"
        "    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)\n"
        "#error \"arithmetic must be that of the types\"\n#endif\n"
        "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#endif\n\n",
        comment_text(context_.text(module_.name())), port_lines(),
        parameter_list_.empty() ? "" : fmt::format("   {}=FILE has all weights.\n", weights_word_));
    const std::string body =
        constants_ + (constants_.empty() ? "" : "\n") + blocks_ + graphs_ + text;
    // Functions of graphs have a parameter for weights, also if there are none.
    const std::string declared =
        parameter_list_.empty() && !graphs_.empty()
            ? fmt::format("struct {};\n\n", weights_) + caches_.struct_text(caches_struct_)
            : structs();
    return made + std::string(macros_of(body)) + helpers_of(body) + declared + prototype() +
           ";\n\n" + body + program_text(program());
  }

  CProgram program() const {
    return {.run = run_,
            .read_weights = read_weights_,
            .weights_word = weights_word_,
            .weights_struct = weights_,
            .caches_struct = has_caches_ ? std::string_view(caches_struct_) : "",
            .inputs = inputs_,
            .weights = parameter_list_,
            .outputs = outputs_,
            .caches = caches_.all(),
            .workspace_bytes = bytes_};
  }

  /// Declares the function that reads weights, which a macro adds to the file.
  std::string weights_declaration() const {
    if (parameter_list_.empty()) return "";
    return fmt::format(
        "\n/* Reads the weights from a safetensors file into memory of {0} bytes, aligned as "
        "malloc\n   aligns it. Returns 0, or 1 after a message. Compile with -DMIR_WEIGHTS. "
        "*/\n#define {0} {1}\n{2};\n",
        weights_bytes_, mir::c::weights_bytes(parameter_list_), weights_head(program()));
  }

  const Module& module_;
  IRContext& context_;
  Diagnostics& diagnostics_;
  bool calls_blocks_;
  CNames names_;                // with external linkage; other names of the file begin with mir_
  CNames port_names_{&names_};  // of inputs, outputs and weights
  CNames graph_names_;
  std::string run_, weights_, workspace_, caches_struct_, read_weights_, weights_bytes_,
      weights_word_;
  bool has_caches_ = false;
  CCaches caches_;
  std::map<Symbol, std::string> parameters_;
  std::vector<CPort> inputs_, outputs_, parameter_list_;
  std::unordered_map<const Op*, Function> functions_;
  std::string constants_, blocks_, graphs_;
  std::size_t constant_count_ = 0, block_count_ = 0;
  std::int64_t bytes_ = 0;
};

/// The statements of one function.
class CModule::Body {
 public:
  Body(CModule& module, const Region& region, Function* graph)
      : module_(module),
        region_(region),
        block_(region.only_block()),
        graph_(graph),
        names_(&module.names_),
        out_(1) {}

  std::string write() {
    find_lives();
    if (!bind_ports()) return "";
    for (const Op* each : block_.ops()) {
      if (!emit(*each)) return "";
    }
    return finish();
  }

 private:
  /// The last op, by number, that reads each value.
  void find_lives() {
    std::int64_t number = 0;
    for (const Op* op : block_.ops()) {
      for (const Use& use : op->operand_uses()) last_[use.value()] = number;
      ++number;
    }
  }

  bool bind_ports() {
    CNames& ports = graph_ == nullptr ? module_.port_names_ : names_;
    std::size_t number = 0;
    bool is_good = true;
    OpPlaces places;
    for (const Value& each : block_.arguments()) {
      const ValueName port = region_.input_port(number++);
      const auto array =
          module_.array_of(each, [&] { return places.find(*region_.parent(), NamePlace{port}); });
      is_good = is_good && array;
      if (!is_good) continue;
      inputs_.push_back({ports.fresh(module_.name_of(port)), module_.stated_name(port), *array});
      texts_[&each] = inputs_.back().name;
    }
    if (!is_good) return false;
    const Op& end = *block_.back();
    for (std::uint32_t i = 0; i < end.operand_count(); ++i) {
      const Value& each = *end.operand(i);
      const auto array =
          module_.array_of(each, [&] { return places.find(end, MentionPlace{.index = i}); });
      is_good = is_good && array;
      if (!is_good) continue;
      const ValueName port = region_.output_port(i);
      outputs_.push_back({ports.fresh(module_.name_of(port)), module_.stated_name(port), *array});
      const bool is_computed = each.defining_op() != nullptr &&
                               each.defining_op()->block() == &block_ &&
                               each.defining_op()->is(OpId::kLinalgGeneric, OpId::kLoopKernel,
                                                      OpId::kGraphCallGraph, OpId::kLinalgKVCache);
      if (is_computed && !texts_.contains(&each)) texts_[&each] = outputs_.back().name;
    }
    if (!is_good) return false;
    for (const CPort& each : inputs_) {
      arrays_[each.name] = fmt::format("const {}* restrict ", each.array.type);
    }
    for (const CPort& each : outputs_) {
      arrays_[each.name] = fmt::format("{}* restrict ", each.array.type);
    }
    arrays_["memory"] = "unsigned char* ";
    arrays_["model"] = fmt::format("const struct {}* ", module_.weights_);
    if (graph_ == nullptr) {
      module_.inputs_ = inputs_;
      module_.outputs_ = outputs_;
      for (const auto* list : {&inputs_, &outputs_}) {
        for (const CPort& each : *list) names_.fresh(each.name);
      }
    }
    return true;
  }

  /// The array of a value; empty after reporting.
  std::string text_of(const Value& value, const Op& op) {
    if (const auto found = texts_.find(&value); found != texts_.end()) return found->second;
    std::string text;
    if (value.attribute(key::kConstant.symbol) != nullptr) {
      text = module_.constant(value, op);
      constants_.push_back(text);
    } else if (value.has_symbol()) {
      text = module_.parameter(value.symbol(), value, op);
    } else {
      module_.refuse(op,
                     fmt::format("value '{}' has no form in C", module_.stated_name(value.name())));
    }
    if (!text.empty()) texts_[&value] = text;
    return text;
  }

  std::string memory(std::int64_t offset) const {
    return offset == 0 ? "memory" : fmt::format("memory + {}", offset);
  }

  /// Defines the arrays of an op's results. False after reporting.
  bool define_results(const Op& op) {
    for (const Value& each : op.results()) {
      if (texts_.contains(&each)) continue;
      const auto array = module_.array_of(each, op);
      if (!array) return false;
      const auto last = last_.find(&each);
      const std::int64_t offset =
          frame_.place(array->bytes, number_, last == last_.end() ? number_ : last->second);
      const std::string name = names_.fresh(module_.name_of(each.name()));
      out_.line(fmt::format("{0}* const {1} = ({0}*)({2});", array->type, name, memory(offset)));
      arrays_[name] = fmt::format("{}* restrict ", array->type);
      texts_[&each] = name;
    }
    return true;
  }

  void comment(const Op& op) {
    std::string text(op.name());
    if (op.has_path()) text += fmt::format(" \"{}\"", module_.context_.text(op.path()));
    const std::string stated = module_.context_.locations().spelling(op.location());
    if (!stated.empty()) text += ' ' + stated;
    out_.line(fmt::format("/* {} */", comment_text(text)));
  }

  bool emit(const Op& op) {
    bool is_good = true;
    switch (op.op_id()) {
      case OpId::kLinalgGeneric:
      case OpId::kLoopKernel:
      case OpId::kLinalgKVCache:
        comment(op);
        is_good = define_results(op) && emit_loops(op);
        break;
      case OpId::kGraphCallGraph:
        comment(op);
        is_good = define_results(op) && emit_call(op);
        break;
      case OpId::kLinalgParam: {
        const Symbol symbol = module_.context_.intern(OpAttributes(op).string(key::kName));
        const std::string text = module_.parameter(symbol, *op.result(), op);
        texts_[op.result()] = text;
        is_good = !text.empty();
        break;
      }
      case OpId::kCfReturn:
        is_good = emit_return(op);
        break;
      case OpId::kGraphSubGraph:
      case OpId::kTensorAlloc:
      case OpId::kTensorFree:
      case OpId::kDbgComment:
      case OpId::kTensorRegister:
      case OpId::kLinalgRegister:
        break;
      default:
        refuse(op);
        is_good = false;
    }
    if (is_good && frame_.size() + calls_ > CFrame::kMostBytes) {
      module_.refuse(op, fmt::format("the values need more than {} bytes of memory at once",
                                     CFrame::kMostBytes));
      is_good = false;
    }
    ++number_;
    return is_good;
  }

  void refuse(const Op& op) {
    std::string why = "it has no generic body";
    for (const GenericBody& each : generic_bodies()) {
      if (!op.is(each.op)) continue;
      why = each.has_body() ? "'decompose{to=generic}' did not replace it, "
                              "--explain-no-match tells why"
                            : std::string(each.text);
    }
    module_.refuse(op, fmt::format("'{}' has no form in C: {}", op.name(), why));
  }

  bool emit_loops(const Op& op) {
    std::vector<std::string> operands, results;
    for (const Use& use : op.operand_uses()) {
      if (!module_.array_of(*use.value(), op)) return false;
      operands.push_back(text_of(*use.value(), op));
      if (operands.back().empty()) return false;
    }
    for (const Value& each : op.results()) results.push_back(texts_[&each]);
    const auto scratch = [&](std::int64_t bytes) {
      return memory(frame_.place(bytes, number_, number_));
    };
    // A number of a scalar weight is an element of an array, too.
    CGenericPlace place{operands, results, scratch};
    if (module_.calls_blocks_) {
      place.call_block = [&](const CBlock& block) { return call_block(op, block); };
    }
    const auto done = op.is(OpId::kLoopKernel)      ? emit_kernel(op, place, names_, out_)
                      : op.is(OpId::kLinalgKVCache) ? emit_cache(op, operands, results)
                                                    : emit_generic(op, place, names_, out_);
    if (!done) module_.refuse(op, done.error().message);
    return done.ok();
  }

  /// Writes a function of a block, whose parameters are what its lines name, and returns a call.
  std::string call_block(const Op& op, const CBlock& block) {
    std::map<std::string, std::string> declared(arrays_.begin(), arrays_.end());
    for (const auto& [type, name] : block.variables) declared.emplace(name, type);
    declared.erase(block.index);
    const auto words = words_of(block.body);
    std::vector<std::string> parameters = {"int64_t " + block.index}, arguments = {block.argument};
    for (const auto& [name, type] : declared) {
      if (!words.contains(name)) continue;
      parameters.push_back(type + name);
      arguments.push_back(name);
    }
    const std::string name = fmt::format("mir_block_{}", ++module_.block_count_);
    const std::size_t blanks = block.body.find_first_not_of(' ');
    std::string lines;
    if (!words.contains(block.index)) lines = fmt::format("  (void){};\n", block.index);
    for (std::string_view rest = block.body; !rest.empty();) {
      const std::size_t end = rest.find('\n') + 1;
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(end);
      // Lines of the preprocessor begin at the left.
      lines += line.starts_with(' ') ? line.substr(blanks - 2) : line;
    }
    module_.blocks_ += fmt::format(
        "/* One iteration of a parallel loop of {}. */\n{}) {{\n{}}}\n\n", comment_text(op.name()),
        list_text(fmt::format("static void {}(", name), parameters, "    "), lines);
    return list_text(name + "(", arguments, "          ") + ")";
  }

  Result<void> emit_cache(const Op& op, std::span<const std::string> operands,
                          std::span<const std::string> results) {
    return module_.caches_.emit(op, operands, results, names_, out_);
  }

  bool emit_call(const Op& op) {
    const Op* graph = called_graph(op);
    if (graph == nullptr) {
      module_.refuse(op, "the call has no graph");
      return false;
    }
    const Function* function = module_.function_of(*graph, op);
    if (function == nullptr) return false;
    std::vector<std::string> arguments = {"model"};
    if (module_.has_caches_) arguments.emplace_back("caches");
    for (const Use& use : op.operand_uses()) {
      const std::string text = text_of(*use.value(), op);
      if (text.empty()) return false;
      arguments.push_back(text);
    }
    for (const Value& each : op.results()) arguments.push_back(texts_[&each]);
    arguments.push_back(fmt::format("memory + {}", kOwnBytes));
    // Memory of the callee is behind that of this function, whose size is not known yet.
    calls_ = std::max(calls_, function->bytes);
    out_.open("");
    out_.line(
        list_text(fmt::format("const int failed = {}(", function->name), arguments, "        ") +
        ");");
    out_.line("if (failed != 0) return failed;");
    out_.close();
    return true;
  }

  bool emit_return(const Op& op) {
    for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
      const std::string from = text_of(*op.operand(i), op);
      if (from.empty()) return false;
      const CPort& to = outputs_[i];
      if (from == to.name || to.array.bytes == 0) continue;
      out_.line(fmt::format("memcpy({}, {}, {});", to.name, from, to.array.bytes));
    }
    return true;
  }

  std::string finish() {
    std::string text;
    std::string_view rest = out_.text();
    const std::string own = fmt::to_string(frame_.size());
    for (auto at = rest.find(kOwnBytes); at != rest.npos; at = rest.find(kOwnBytes)) {
      text += rest.substr(0, at);
      text += own;
      rest.remove_prefix(at + kOwnBytes.size());
    }
    text += rest;
    if (graph_ == nullptr) {
      text.insert(0, module_.caches_.begin_text());
      text += module_.caches_.end_text();
    }
    const auto words = words_of(text);
    const std::int64_t bytes = frame_.size() + calls_;
    const bool is_graph = graph_ != nullptr;
    // Graphs take the weights always, the entry only if the module has any.
    const bool has_weights = is_graph || !module_.parameter_list_.empty();
    std::vector<std::string> parameters;
    if (has_weights) parameters.push_back(fmt::format("const struct {}* model", module_.weights_));
    if (module_.has_caches_) {
      parameters.push_back(fmt::format("struct {}* caches", module_.caches_struct_));
    }
    for (const CPort& each : inputs_) {
      parameters.push_back(fmt::format("const {}* restrict {}", each.array.type, each.name));
    }
    for (const CPort& each : outputs_) {
      parameters.push_back(fmt::format("{}* restrict {}", each.array.type, each.name));
    }
    parameters.push_back(is_graph ? "unsigned char* memory" : "void* workspace");
    std::string head = list_text(is_graph ? fmt::format("static int {}(", graph_->name)
                                          : fmt::format("int {}(", module_.run_),
                                 parameters, "    ") +
                       ") {\n";
    (is_graph ? graph_->bytes : module_.bytes_) = bytes;
    if (!is_graph) head += "  unsigned char* const memory = (unsigned char*)workspace;\n";
    if (!is_graph && !has_weights && words.contains("model")) {
      head += fmt::format("  const struct {}* const model = NULL;\n", module_.weights_);
    }
    std::vector<std::string> names = constants_;
    for (const CPort& each : inputs_) names.push_back(each.name);
    for (const CPort& each : outputs_) names.push_back(each.name);
    names.emplace_back("memory");
    if (has_weights) names.emplace_back("model");
    if (module_.has_caches_) names.emplace_back("caches");
    for (const std::string& each : names) {
      if (!words.contains(each)) head += fmt::format("  (void){};\n", each);
    }
    return head + text + "  return 0;\n}\n\n";
  }

  static constexpr std::string_view kOwnBytes = "$own";

  CModule& module_;
  const Region& region_;
  const Block& block_;
  Function* graph_;  // null for the entry
  CNames names_;
  CLines out_;
  CFrame frame_;
  std::vector<CPort> inputs_, outputs_;
  std::unordered_map<const Value*, std::string> texts_;
  std::unordered_map<std::string, std::string> arrays_;  // declarations by name, without the name
  std::unordered_map<const Value*, std::int64_t> last_;
  std::int64_t number_ = 0;
  std::int64_t calls_ = 0;  // bytes of the largest callee
  std::vector<std::string> constants_;
};

std::string CModule::function(const Region& region, Function* graph) {
  return Body(*this, region, graph).write();
}

}  // namespace

std::optional<CText> emit_c(const Module& module, Diagnostics& diagnostics, bool calls_blocks) {
  return CModule(module, diagnostics, calls_blocks).write();
}

}  // namespace mir
