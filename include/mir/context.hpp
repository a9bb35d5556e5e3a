// IRContext, the owner of everything that modules share, with locations and rows of ops.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/op_id.hpp"
#include "mir/row_function.hpp"
#include "mir/type.hpp"

namespace mir {

// Locations: positions in texts, and locations that passes and authors state.

enum class LocationKind : std::uint8_t {
  kUnknown,
  kPosition,  ///< a place in the source space
  kRange,     ///< a range of the source space
  kFile,      ///< `"file":line:column to line:column`: a place in a text that is not loaded
  kNamed,     ///< `"name"(location)`
  kCallSite,  ///< `callsite(callee at caller)`
  kFused,     ///< `fused<metadata>[location, ...]`: made from several
  kOpaque,    ///< a `loc(...)` in words of its own, kept as written
  kStated,    ///< the text at a position says `loc(...)`
};

/// Where an op comes from: a position in the source space, or a handle of the context's
/// LocationTable. Handles of one context that are equal mean the same place.
struct Location {
  static constexpr std::uint32_t kTableBit = 0x8000'0000u;
  std::uint32_t raw = 0;  ///< 0: unknown
  bool is_position() const { return raw != 0 && (raw & kTableBit) == 0; }
  explicit operator bool() const { return raw != 0; }
  friend bool operator==(Location, Location) = default;
};

/// The parts of a kFile location.
struct FilePlace {
  static constexpr std::uint32_t kNone = ~0u;  ///< an omitted number
  std::uint32_t line = 0, column = kNone;
  std::uint32_t end_line = kNone, end_column = kNone;
  friend bool operator==(const FilePlace&, const FilePlace&) = default;
};

/// A call whose op was replaced by the ops of the graph. Their locations say so:
/// `callsite(location in the graph at "graph"(location of the call))`.
struct InlinedCall {
  std::string_view graph;  ///< its name; empty where the location has none
  Location at;             ///< of the call, with the name of the graph

  friend bool operator==(const InlinedCall&, const InlinedCall&) = default;
};

/// Creates and owns the locations of one context. Thread-safe. Locations that are passed in must be
/// of the same table.
class LocationTable {
 public:
  explicit LocationTable(StringInterner& strings);
  ~LocationTable();

  Location position(SourcePos at) {
    return at < Location::kTableBit ? Location{at} : range({at, at});
  }
  Location range(Span span);
  Location file(std::string_view name, FilePlace place);
  Location named(std::string_view name, Location child = {});
  Location call_site(Location callee, Location caller);
  /// Parts that are fused themselves without metadata are taken apart, unknown and repeated ones
  /// left out; without metadata, one part is returned as it is, and none gives the unknown
  /// location.
  Location fused(std::span<const Location> parts, std::string_view metadata = {});
  /// The location that the text at `at` states for an op; `said` is a whole `loc(...)`.
  Location stated(SourcePos at, std::string_view said);
  /// Reads a whole `loc(...)`; what is no location of the language becomes kOpaque, and what is no
  /// `loc(...)` at all the unknown location.
  Location parse(std::string_view said);

  LocationKind kind(Location of) const;
  /// File of kFile, name of kNamed, metadata of kFused, whole text of kOpaque; empty for others.
  std::string_view text(Location of) const;
  FilePlace file_place(Location of) const;
  /// Child of kNamed, callee and caller of kCallSite, parts of kFused, what kStated says.
  std::span<const Location> parts(Location of) const;

  /// The first place in the source space that `of` leads to: its own range, the position of a
  /// stated one, or that of its parts (of a call site, the callee's); unknown when there is none.
  Span span(Location of) const;
  /// The calls that were inlined around it, the innermost first; of a fused location, those of its
  /// first part. A call site that the text states is none.
  std::vector<InlinedCall> inlined_calls(Location of) const;
  /// True if `loc(...)` was written for it or one of its parts; a name of a place counts only if it
  /// was written for the place.
  bool is_stated(Location of) const;
  /// `loc(...)` with the stated parts; empty if there are none. With `sources`, positions and
  /// ranges are spelled as `"file":line:column`; otherwise they are omitted.
  std::string spelling(Location of, const SourceManager* sources = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Operations and types as rows: everything the toolkit knows about them without running anything.

class InferContext;
struct InferRequest;
struct BodyTrial;
struct WorkContext;
class Op;
class Rewriter;
class TypeContext;
class Value;
class VerifyContext;

/// How many operands, results or regions an op has; `max` kMany means no upper bound.
struct Arity {
  static constexpr std::uint16_t kMany = 0xffff;
  std::uint16_t min = 0;
  std::uint16_t max = 0;

  constexpr bool admits(std::size_t count) const {
    return count >= min && (max == kMany || count <= max);
  }
};
constexpr Arity exactly(std::uint16_t n) {
  return {n, n};
}
constexpr Arity between(std::uint16_t low, std::uint16_t high) {
  return {low, high};
}
constexpr Arity at_least(std::uint16_t n) {
  return {n, Arity::kMany};
}

enum class Trait : std::uint32_t {
  kNone = 0,
  kPure = 1 << 0,         ///< results depend on operands, attributes and weights only
  kElementwise = 1 << 1,  ///< result i depends on element i of each (broadcast) operand
  kCommutative = 1 << 2,
  kView = 1 << 3,           ///< in dumps the result aliases the operand's storage
  kTerminator = 1 << 4,     ///< ends a block
  kSymbol = 1 << 5,         ///< declares its `@symbol` in the module
  kIsolated = 1 << 6,       ///< regions see no value from outside
  kSameShape = 1 << 7,      ///< every result has the shape and type of operand 0
  kDumpOnly = 1 << 8,       ///< occurs in dumps, has no place in a portable module
  kNoMeaning = 1 << 9,      ///< upstream declares the class and nothing else
  kTypedByName = 1 << 10,   ///< result types are those of the graph, parameter or kernel it names
  kMayRefuse = 1 << 11,     ///< a run may stop at it for what operands hold: indices out of range
  kMoves = 1 << 12,         ///< results hold elements of operands or parameters, or nothing at all
  kSameBytes = 1 << 13,     ///< the one result has the bytes of operand 0: nothing needs to be done
  kPortableOnly = 1 << 14,  ///< no dump has it
  kWeighsOperand = 1 << 15,  ///< the result is sums of products of operand 0 and its own ".weight"
  // Of an op f with one operand, which keeps its attributes:
  kIdempotent = 1 << 16,  ///< f(f(x)) = f(x)
  kInvolution = 1 << 17,  ///< f(f(x)) = x, but for the sign and payload of NaN
  kCallable = 1 << 18,    ///< a graph: its region runs when a call names its symbol
  kTemplate = 1 << 19,    ///< its regions describe ops: types may be missing, attributes variable
};
constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool has(Trait set, Trait one) {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(one)) != 0;
}

constexpr bool has_all(Trait set, Trait wanted) {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(wanted)) ==
         static_cast<std::uint32_t>(wanted);
}

/// The state that an op reads or writes besides operands and results.
enum class Effect : std::uint8_t {
  kNone = 0,
  kReadsState = 1 << 0,  ///< named state (`@cache...`)
  kWritesState = 1 << 1,
  kWritesOperand0 = 1 << 2,  ///< dump form only: the first operand's storage
  kWritesOperand1 = 1 << 3,  ///< dump form only: the second operand's storage
  kControl = 1 << 4,         ///< transfers control or configures the program machine
};
constexpr Effect operator|(Effect a, Effect b) {
  return static_cast<Effect>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr Effect operator&(Effect a, Effect b) {
  return static_cast<Effect>(static_cast<std::uint8_t>(a) & static_cast<std::uint8_t>(b));
}
constexpr Effect operator~(Effect a) {
  return static_cast<Effect>(~static_cast<std::uint8_t>(a) & 0xff);
}
constexpr bool has(Effect set, Effect one) {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(one)) != 0;
}

/// The values that a portable attribute, or a parameter of a type, may have.
enum class AttrType : std::uint8_t {
  kInt,
  kFloat,  ///< any number
  kBool,
  kString,  ///< quoted, or a bare word
  kSymbolRef,
  kDims,   ///< array of extents, symbolic ones included
  kInts,   ///< array of integers
  kDim,    ///< one extent
  kDType,  ///< an element type's name
  kDevice,
  kSlices,  ///< array with one {"start":..,"end":..,"step":..} per dimension
  kMaps,    ///< array of arrays of extents, over symbols that the op binds itself
  kMap,     ///< array of extents, over symbols that loops around the op bind
  kDict,
  kQuantisation,  ///< a QuantSpec or a QuantAnnotation
  kType,
  kTypes,  ///< array of types
  kAny,
};

/// The least and the greatest number that an attribute may hold.
struct AttrRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  constexpr bool admits(double value) const { return value >= low && value <= high; }
  friend constexpr bool operator==(const AttrRange&, const AttrRange&) = default;
};

/// An attribute of an op, or a parameter of a type.
struct AttrRow {
  std::string_view name;
  AttrType type = AttrType::kAny;
  bool required = false;            ///< in portable form; dumps leave everything out
  std::string_view default_text{};  ///< as written in text; empty: none, or derived from types
  std::string_view summary{};
  std::span<const std::string_view> choices{};  ///< of a kString: the only texts; empty: any
  AttrRange range{};                            ///< of a kInt, kFloat or kInts: of each number
  /// The entry of a model's configuration that sets it, as `rope_scaling.factor`; empty: the one of
  /// its name.
  std::string_view config{};
};

/// Whether an attribute of this type may hold the value.
bool admits(AttrType type, const Attr& value);
/// Whether an attribute that the row admits by its type has one of its choices, in its range.
bool is_in_range(const AttrRow& row, const Attr& value);
/// Whether the row admits the value: its type, its choices and its range.
bool admits(const AttrRow& row, const Attr& value);

/// A parameter the op owns: symbol `<op name><suffix>`.
struct WeightRow {
  std::string_view suffix;        ///< ".weight"
  std::string_view present_if{};  ///< boolean attribute that says whether it exists; empty: always
  std::string_view shape{};       ///< its extents in words: "[out_channels, in_channels]"
};

/// Checks operand types and attributes and gives the result types; false after reporting.
using InferFn = RowFunction<bool(InferContext&)>;
/// Checks constraints that arity, types and attributes alone do not express; false after reporting.
/// It may read the whole op and everything around it.
using VerifyFn = RowFunction<bool(VerifyContext&)>;
/// Checks relations between parameters, each of which its row admits; false after reporting.
using VerifyTypeFn = RowFunction<bool(TypeContext&)>;

// Control flow and calls of an op.

/// One way that control takes between an op and its regions, and the values that it passes:
/// operands [first_operand, first_operand + operand_count) of the op or, from the end of a region,
/// of its terminators. They become the entry arguments of region `to`, or the results of the op,
/// from position `first_target` on.
struct RegionEdge {
  static constexpr std::uint32_t kOp = ~std::uint32_t{0};
  std::uint32_t from = kOp;  ///< number of a region; kOp: control reaches the op
  std::uint32_t to = kOp;    ///< number of a region; kOp: the op is done
  std::uint32_t first_operand = 0;
  std::uint32_t operand_count = 0;
  std::uint32_t first_target = 0;
  friend bool operator==(const RegionEdge&, const RegionEdge&) = default;
};

/// A result that a fold computes: an existing value, or the numbers of a constant.
struct FoldedResult {
  Value* value = nullptr;
  const Attr* constant = nullptr;  ///< an array of numbers, as attribute `constant` of values
};

/// All edges between an op and its regions, for the op at hand.
using RegionFlowFn = RowFunction<std::vector<RegionEdge>(const Op&)>;
/// The symbol of the graph that a call runs on its operands. No value if the op calls nothing.
using CalleeFn = RowFunction<std::optional<Symbol>(const Op&)>;
/// One entry for each result, or none if the op does not fold. Must not edit.
using FoldFn = RowFunction<std::vector<FoldedResult>(const Op&)>;
/// The named state that the effects of an op touch; the empty symbol if it may be any.
using ResourceFn = RowFunction<Symbol(const Op&)>;
/// Arithmetic and memory traffic. A part is unknown if an extent or an element type is unknown, or
/// if the number exceeds 64 bits.
struct OpWork {
  /// Operations of products, two for each multiply-add: linear layers, matrix products,
  /// convolutions, attention. Everything else counts none: memory bounds it.
  Dim flop;
  Dim read;     ///< bytes
  Dim written;  ///< bytes
};

/// Arithmetic and memory traffic of the op with tensors of given extents (mir/work.hpp).
using WorkFn = RowFunction<OpWork(const WorkContext&)>;

/// Makes ops that compute the results of an op, at the insertion point of a rewriter whose module
/// may be another one than that of the op, and returns a value for each result. The second list has
/// the operands there. Returns no value after reporting why the op has no body; then nothing was
/// made.
using BodyFn = RowFunction<std::optional<std::vector<Value*>>(const Op&, std::span<Value* const>,
                                                              Rewriter&, Diagnostics&)>;

/// Tries the body of an op that need not exist, and those of the ops in it. Returns false after
/// setting the fault of the trial (ir/body_trial.hpp).
using BodyTrialFn = RowFunction<bool(const InferRequest&, BodyTrial&)>;

/// Extents of a parameter of an op, unknown ones included. No value if the rank is not known.
using WeightDimsFn =
    RowFunction<std::optional<std::vector<Dim>>(const InferRequest&, const WeightRow&)>;

/// Operands that a later version of the language added to an op.
struct AddedOperands {
  std::uint32_t first = 0;   ///< index of the first one; 0: none were added
  std::uint8_t version = 1;  ///< that an op with this operand needs
};

struct OpRow {
  std::string_view name;  ///< class name as graph-level text prints it: "LinearOp", "register"
  std::string_view type_name{};  ///< `op_type` in program text and `register<...>`: "Linear"
  std::span<const std::string_view> aliases{};
  Arity operands{};
  Arity results{};
  Arity regions{};
  Arity successors{};
  Trait traits = Trait::kNone;
  Effect effects = Effect::kNone;
  ResourceFn resource = nullptr;       ///< null: the effects touch any state
  RegionFlowFn region_flow = nullptr;  ///< null: unknown; of a kCallable op: none but by calls
  CalleeFn callee = nullptr;           ///< null: the op is no call
  FoldFn fold = nullptr;               ///< null: the op folds only through its traits
  std::span<const AttrRow> attributes{};
  std::span<const WeightRow> weights{};
  InferFn infer = nullptr;         ///< the rule of its result types; null: none is written down
  VerifyFn verify = nullptr;       ///< constraints beyond all that; null: none
  BodyFn body = nullptr;           ///< its meaning in simpler ops; null: none is written down
  BodyTrialFn try_body = nullptr;  ///< null: only the op itself tells whether its body fits
  /// Ops of its body keep state or own parameters that the row does not list, under names that
  /// begin with that of the op.
  bool is_layer = false;
  WeightDimsFn weight_dims = nullptr;  ///< null: what the words of the weights say
  std::uint8_t version = 1;            ///< of the language that has the op first
  AddedOperands added_operands = {};
  WorkFn work = nullptr;       ///< null: no arithmetic, and each value moves once
  std::string_view page{};     ///< family page under docs/ops/: "linear"
  std::string_view summary{};  ///< one sentence
  std::string_view example{};  ///< one op line of text that parses
};

/// A kind of types, `!dialect.name<parameters>`, or of attributes, `#dialect.name<parameters>`.
/// Text lists the parameters in the order of the row; canonical text leaves out trailing ones that
/// have their defaults. A parameter that is not required has a default, and none after it is
/// required.
struct TypeRow {
  std::string_view name;  ///< "buffer"
  std::span<const AttrRow> parameters{};
  VerifyTypeFn verify = nullptr;
  std::string_view summary{};  ///< one sentence
  std::string_view example{};  ///< its text, which parses
};

/// Where an op's attribute list is printed in canonical text.
enum class AttrPosition : std::uint8_t { kBeforeOperands, kAfterResults };

struct Dialect {
  std::string_view name;
  bool device_in_path = false;  ///< `linalg.CPU.AddOp`: the middle word is a device
  AttrPosition attributes = AttrPosition::kAfterResults;
  std::span<const OpRow> rows{};
  std::span<const TypeRow> types{};
  std::span<const TypeRow> attribute_kinds{};
  std::string_view summary{};
  std::string_view text{};  ///< the module that declares it, in canonical text; empty: code does
};

// Dialects that are made at run time. Lists and functions of a spec that are not empty replace
// those of its row. IRContext::add_dialect copies texts and lists, and keeps the functions.

struct OpRowSpec {
  OpRow row;
  std::vector<std::string_view> aliases{};
  std::vector<AttrRow> attributes{};
  std::vector<WeightRow> weights{};
  std::function<bool(InferContext&)> infer{};
  std::function<bool(VerifyContext&)> verify{};
  std::function<std::vector<RegionEdge>(const Op&)> region_flow{};
  std::function<std::optional<Symbol>(const Op&)> callee{};
  std::function<std::vector<FoldedResult>(const Op&)> fold{};
  std::function<Symbol(const Op&)> resource{};
  std::function<std::optional<std::vector<Value*>>(const Op&, std::span<Value* const>, Rewriter&,
                                                   Diagnostics&)>
      body{};
  std::function<bool(const InferRequest&, BodyTrial&)> try_body{};
  std::function<std::optional<std::vector<Dim>>(const InferRequest&, const WeightRow&)>
      weight_dims{};
  std::function<OpWork(const WorkContext&)> work{};
};

struct TypeRowSpec {
  TypeRow row;
  std::vector<AttrRow> parameters{};
  std::function<bool(TypeContext&)> verify{};
};

struct DialectSpec {
  std::string_view name;
  bool device_in_path = false;
  AttrPosition attributes = AttrPosition::kAfterResults;
  std::vector<OpRowSpec> ops{};
  std::vector<TypeRowSpec> types{};
  std::vector<TypeRowSpec> attribute_kinds{};
  std::string_view summary{};
  std::string_view text{};
};

// IRContext: what modules share. Interned strings, types, attributes and extents, op kinds, texts.

class Module;
class Op;
class Value;

/// Dense number of an op kind in one context. Ops of the build have that of their OpId, registered
/// or not; others get theirs when their dialect registers, unknown ones when they are first seen.
struct OpKind {
  std::uint32_t id = 0;

  constexpr OpKind() = default;
  constexpr explicit OpKind(std::uint32_t number) : id(number) {}
  constexpr OpKind(OpId op) : id(static_cast<std::uint32_t>(op)) {}
  /// The op of the build that this is; else kNone.
  constexpr OpId op() const { return id < kOpCount ? static_cast<OpId>(id) : OpId::kNone; }
  friend bool operator==(OpKind, OpKind) = default;
};

/// An attribute of a row, as the attributes of a context are.
struct RowAttribute {
  Symbol key;
  const Attr* by_default = nullptr;  ///< null: none, or one that is known only during a run
};

/// Those of a row, in its order.
struct RowAttributes {
  const OpRow* row = nullptr;
  std::span<const RowAttribute> list;
};

struct OpKindInfo {
  std::string_view name;       ///< "linalg.LinearOp"; for an unknown dialect the whole path
  std::string_view mnemonic;   ///< "LinearOp"
  Published<Dialect> dialect;  ///< null: unknown
  Published<OpRow> row;        ///< null: unknown
  DialectId dialect_id = DialectId::kOther;  ///< by the name, registered or not
  Published<RowAttributes> attributes{};     ///< null until IRContext::row_attributes() is asked
};

/// A name as text spells it: the kind and, in dialects that have one, the device in its path.
struct OpName {
  const OpKindInfo* info = nullptr;  ///< of the kind; lives as long as the context
  OpKind kind;
  Symbol device;
  Symbol spelling;  ///< whole text, "linalg.CPU.LinearOp"
};

/// Owns everything unique. Interning is thread-safe; nothing that is printed depends on the order
/// in which it happened.
class IRContext {
 public:
  IRContext();
  ~IRContext();
  IRContext(const IRContext&) = delete;
  IRContext& operator=(const IRContext&) = delete;

  SourceManager& sources();
  const SourceManager& sources() const;
  StringInterner& strings();
  DimTable& dims();
  LocationTable& locations();
  const LocationTable& locations() const;
  /// Bytes that are no UTF-8 become U+FFFD: no text can hold them.
  Symbol intern(std::string_view text);
  std::string_view text(Symbol symbol) const;

  // -- dialects ------------------------------------------------------------------------------
  // A dialect may be registered at any time between two texts, while other threads intern texts,
  // types, attributes and op names; meanwhile no other thread may read or edit modules of the
  // context. Existing IR is updated: ops in modules get the row, kind and device that their names
  // now mean, and types and attributes of the dialect become structured. A detached op, and an
  // OpName that the caller keeps, only get the row.

  /// Registers a dialect whose rows outlive the context. Returns an error and registers nothing if
  /// the name is taken or a row is not sound: its name is used twice or cannot be written, a
  /// required attribute has a default, or an attribute has a range or choices that do not fit its
  /// type.
  Result<void> register_dialect(const Dialect& dialect);
  /// Registers a copy that the context owns, under the same conditions.
  Result<const Dialect*> add_dialect(const DialectSpec& spec);
  /// Registers the dialect that a module declares, and returns false after reporting why it cannot.
  using DeclareFn = bool (*)(const Module& module, Diagnostics& diagnostics);
  /// Sets what is called for each module with ops of dialect `dialect` once it has been read.
  void set_declaration_reader(DeclareFn reader);
  /// Calls that function; true if there is none.
  bool declare_dialect(const Module& module, Diagnostics& diagnostics);
  /// Whether a text declared one of the dialects.
  bool has_declared_dialects() const;
  /// In the order of registration.
  std::vector<const Dialect*> dialects() const;
  /// Null: no dialect of this name is registered.
  const Dialect* find_dialect(std::string_view name) const;

  // -- op kinds ------------------------------------------------------------------------------
  /// The spelling must name an op in some text, as one that is_op_name() does in every place.
  OpName op_name(std::string_view spelling);
  /// The spelling of a kind with a device (empty where the dialect has none in its path).
  OpName op_name(OpKind kind, Symbol device = {});
  const OpKindInfo& info(OpKind kind) const;
  /// The attributes of the row, in its order; none for a kind without a row.
  std::span<const RowAttribute> row_attributes(const OpName& name);
  /// The kind called "dialect.Name" in a text or by a person; code names an op by its OpId.
  std::optional<OpKind> find_kind(std::string_view name) const;
  /// The op of type name `type_name` ("Linear") that takes so many operands, where no op does the
  /// first of that type name: upstream gives two ops one name. None for an unknown type name.
  std::optional<OpKind> find_kernel(std::string_view type_name, std::size_t operand_count) const;

  // -- types ---------------------------------------------------------------------------------
  /// Null if a name is not a word ([A-Za-z_][A-Za-z0-9_]*).
  const TensorType* tensor(std::span<const Dim> dims, Symbol dtype_name, Symbol device,
                           const Attr* encoding = nullptr);
  const TensorType* tensor(std::span<const Dim> dims, DType dtype, std::string_view device = "CPU");
  /// Returns the type `!name<parameters>`, where `name` is like "my.buffer". Trailing parameters
  /// with defaults may be left out. An error if no registered dialect declares the type with these
  /// parameters.
  Result<const DialectType*> dialect_type(std::string_view name,
                                          std::span<const Attr* const> parameters = {});
  /// Returns the type with this text, `tensor<...>` or `!dialect.name<...>`. A type that no
  /// registered dialect declares is kept as it is written. An error if the text is not a type, or
  /// if its parameters are wrong.
  Result<const Type*> parse_type(std::string_view text);

  // -- attributes ----------------------------------------------------------------------------
  // The spelling of each attribute reads back as the same attribute. Bytes that are not UTF-8
  // become U+FFFD.
  const Attr* integer(std::int64_t value);
  /// Shortest text that reads back as the same double; always with a point or an exponent.
  const Attr* number(double value);
  const Attr* boolean(bool value);
  const Attr* null();
  const Attr* string(std::string_view text);  ///< quoted
  /// Unquoted; quoted where text without quotes would be read as something else (`3`, `true`,
  /// `a]b`) even in a dump.
  const Attr* word(std::string_view text);
  const Attr* symbol_ref(std::string_view name);
  const Attr* dim(Dim value);
  /// Unquoted strings inside that are no words ([A-Za-z_][A-Za-z0-9_]*) become quoted. Null where
  /// an element is a value that upstream lost, which stands nowhere but alone.
  const Attr* array(std::span<const Attr* const> elements);
  /// The same; null also where two entries have one key.
  const Attr* dict(std::span<const NamedAttr> entries);
  /// Null if a key is not a word, or a value is neither a quantisation spec nor opaque.
  const Attr* quant_annotation(std::span<const NamedAttr> entries);
  const Attr* type(const Type* type);
  /// A scalar as it is spelled in text: kInt, kFloat, kString, kQuantSpec, kDialect, kInvalid. The
  /// text is canonical and kept. Null if it is not a scalar of that kind, or a kDialect with wrong
  /// parameters.
  const Attr* scalar(AttrKind kind, std::string_view spelling);
  /// Returns the attribute `#name<parameters>`, under the conditions of dialect_type().
  Result<const Attr*> dialect_attribute(std::string_view name,
                                        std::span<const Attr* const> parameters = {});

  /// Returns the facts that `read` finds in an attribute, which it reads once. They are kept as
  /// long as the context; a type of facts has one reader.
  template <class Facts>
  const Facts& facts_of(const Attr& attribute, Facts (*read)(const Attr&, const IRContext&)) const {
    static constexpr char kKind = 0;
    const void* known = find_facts(attribute, &kKind);
    if (known == nullptr) {
      known = keep_facts(attribute, &kKind, std::make_shared<const Facts>(read(attribute, *this)));
    }
    return *static_cast<const Facts*>(known);
  }

  /// Bytes held for types, attributes and names.
  std::size_t memory() const;

  // -- modules -------------------------------------------------------------------------------
  /// Makes an empty module owned by the context.
  Module& create_module(std::string_view name = "main");
  void release(Module& module);
  std::span<Module* const> modules() const;
  /// First op or value with this symbol in the modules, in their order; null fields when none.
  struct SymbolUse {
    Op* op = nullptr;
    Value* value = nullptr;
    explicit operator bool() const { return op != nullptr || value != nullptr; }
  };
  SymbolUse lookup_symbol(std::string_view name) const;
  /// Upstream's spelling, which mir/upstream.hpp defines.
  SymbolUse lookupSymbol(std::string_view name) const;

 private:
  friend class Resolver;
  friend class ValueReader;

  std::string tensor_text(std::span<const Dim> dims, Symbol dtype_name, Symbol device,
                          const Attr* encoding) const;
  /// What text spells so, as its scanner knows.
  const Attr* scanned(AttrKind kind, std::string_view spelling);
  const Attr* in_data(const Attr* value);
  /// Returns the type `!name<...>` or attribute `#name<...>` with this text. Wrong parameters are
  /// reported, and the text is then kept as it is written.
  const DialectType* read_type(std::string_view spelling, SourcePos at, Diagnostics& diagnostics);
  const Attr* read_attribute(std::string_view spelling, SourcePos at, Diagnostics& diagnostics);
  /// Returns null if no facts of this kind have been read. `kind` is an address for their type.
  const void* find_facts(const Attr& attribute, const void* kind) const;
  /// Returns the facts of another thread if it has kept them meanwhile.
  const void* keep_facts(const Attr& attribute, const void* kind,
                         std::shared_ptr<const void> facts) const;

  struct State;
  std::unique_ptr<State> state_;
};

/// The value of an attribute that an op does not state. Null if the row has no default, or one that
/// is known only during a run.
const Attr* default_value(IRContext& context, const AttrRow& row);

/// Input of one call of a TypeRow::verify. Each parameter is what its row states.
class TypeContext {
 public:
  TypeContext(IRContext& context, std::string_view name, const ParameterList& parameters)
      : context_(context), name_(name), list_(parameters) {}

  IRContext& context() const { return context_; }
  const TypeRow& row() const { return *list_.row; }
  /// As messages name it: "!my.buffer", "#my.layout".
  std::string_view name() const { return name_; }
  /// A value for each parameter of the row, defaults included.
  std::span<const Attr* const> parameters() const { return list_.values; }
  /// The value of the parameter with this name, which the row must have.
  const Attr& parameter(std::string_view name) const { return *list_.find(name); }
  /// States why the parameters are refused, and returns false.
  bool fail(std::string message);
  /// States the tensor that holds a value of the type.
  void hold_as(const TensorType& tensor) { held_as_ = &tensor; }
  const TensorType* held_as() const { return held_as_; }
  const std::string& message() const { return message_; }

 private:
  IRContext& context_;
  std::string_view name_;
  ParameterList list_;
  std::string message_;
  const TensorType* held_as_ = nullptr;
};

}  // namespace mir
