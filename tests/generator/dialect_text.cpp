#include "dialect_text.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "op_templates.hpp"

namespace mir::test {

namespace {

/// Extents as text: numbers, and symbols but for the last one.
using ExtentTexts = std::vector<std::string>;

struct Typed {
  std::string name;
  ExtentTexts extents;
  std::string dtype = "Float32";
};

/// How an op of the dialect changes the extents of its operands.
enum class Shape {
  kSame,       ///< two operands of one type
  kMany,       ///< any number of operands of one type
  kOptional,   ///< the second operand may be absent
  kProduct,    ///< of rows with a matrix
  kSum,        ///< over the last dimension, which becomes 1
  kConcat,     ///< of two that differ in the last dimension
  kHalves,     ///< both halves of the last dimension
  kRepeat,     ///< the last dimension as often as an attribute says
  kTranspose,  ///< of two dimensions
  kCast,       ///< to the element type of an attribute
  kLoop,       ///< runs its region as often as an attribute says
  kBranch,     ///< runs one of its two regions
};
constexpr Shape kShapes[] = {Shape::kSame,    Shape::kSame,      Shape::kMany,   Shape::kOptional,
                             Shape::kProduct, Shape::kSum,       Shape::kConcat, Shape::kHalves,
                             Shape::kRepeat,  Shape::kTranspose, Shape::kCast,   Shape::kLoop,
                             Shape::kBranch};

constexpr std::int64_t kMostRepeats = 3;

struct Declared {
  std::string name;
  Shape shape{};
  bool has_factor = false;  ///< the attribute `by`, a number with a default
  bool has_mode = false;    ///< the attribute `mode`, one of two words
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  DialectText run() {
    DialectText made;
    made.dialect = "@made [mir_version:2, summary:\"Random ops.\"] () -> () {\n";
    const std::size_t count = 2 + below(random_, 5);
    for (std::size_t i = 0; i < count; ++i) made.dialect += declaration(i);
    made.dialect += "}\n";
    const std::string body = uses();
    made.module = module(body);
    made.mistaken = mistaken(body);
    return made;
  }

 private:
  bool one_in(std::uint64_t n) { return below(random_, n) == 0; }
  template <class List>
  const auto& any_of(const List& list) {
    return list[below(random_, std::size(list))];
  }

  // -- declarations ------------------------------------------------------------------------------

  std::string declaration(std::size_t number) {
    const Declared op{.name = fmt::format("Op{}Op", number),
                      .shape = any_of(kShapes),
                      .has_factor = one_in(2),
                      .has_mode = one_in(4)};
    std::string attributes, others;
    const auto attribute = [&](std::string_view text) {
      attributes += fmt::format("{}{}", attributes.empty() ? "" : ", ", text);
    };
    if (op.has_factor) attribute("by:{type:float, default:0.75, range:[0, 8]}");
    if (op.has_mode) attribute("mode:{type:string, choices:[plain, other], default:plain}");
    if (op.shape == Shape::kRepeat) {
      attribute(fmt::format("r:{{type:int, {}range:[1, {}], summary:\"times\"}}",
                            one_in(2) ? "default:2, " : "required:true, ", kMostRepeats));
      others += ", where:{\"$r * $k <= 4096\":\"makes $r times $k columns\"}";
    }
    if (op.shape == Shape::kCast) attribute("R:{type:dtype, default:Float32}");
    if (op.shape == Shape::kLoop) {
      attribute("times:{type:int, default:2, range:[0, 3]}");
      others += ", regions:[1, 1]";
    }
    if (op.shape == Shape::kBranch) {
      attribute("first:{type:bool, default:true}");
      others += ", regions:[2, 2]";
    }
    if (op.shape == Shape::kSum) others += ", let:{one:\"$k / $k\"}, where:\"$k > 0\"";
    if (op.shape == Shape::kSame && one_in(3)) others += ", traits:[pure, same_shape]";
    std::string text =
        fmt::format("    dialect.OpOp @{} [attributes:{{{}}}{}, summary:\"op {}\"] {{\n", op.name,
                    attributes, others, number);
    text += regions(op);
    // An op may stand in bodies of later ones.
    ops_.push_back(op);
    return text + "    }\n";
  }

  std::string regions(const Declared& op) {
    const std::string type = one_in(2) ? "[$n..]" : "[$B.., $k]";
    switch (op.shape) {
      case Shape::kSame:
        return region(op, {{"a", type}, {"b", type}}, {}, {{"y", type}});
      case Shape::kMany:
        return region(op, {{"xs", type}}, {}, {{"y", type}});
      case Shape::kOptional:
        return region(op, {{"a", type}, {"b", type}}, {}, {{"y", type}}) +
               region(op, {{"a", type}}, {}, {{"y", type}});
      case Shape::kProduct:
        return region(op, {{"a", "[$B.., $K]"}, {"w", "[$N, $K]"}},
                      "linalg.D.MatMulOp [transpose_b:true] (%{}, %w) -> (%{})",
                      {{"y", "[$B.., $N]"}});
      case Shape::kSum:
        return region(op, {{"a", "[$B.., $k]"}},
                      "linalg.D.ReduceSumOp [dim:-1, keep_dim:true] (%{}) -> (%{})",
                      {{"y", "[$B.., $one]"}});
      case Shape::kConcat:
        return region(op, {{"a", "[$B.., $k]"}, {"b", "[$B.., $m]"}},
                      "linalg.D.ConcatOp [dim:-1] (%{}, %b) -> (%{})", {{"y", "[$B.., $k+$m]"}});
      case Shape::kHalves:
        return region(
            op, {{"a", "[$B.., 2*$h]"}},
            "linalg.D.SplitOp [dim:-1, split_size_or_sections:[$h, $h]] (%{}) -> (%{}, %z)",
            {{"y", "[$B.., $h]"}, {"z", "[$B.., $h]"}});
      case Shape::kRepeat:
        return region(op, {{"a", "[$B.., $k]"}},
                      "linalg.D.RepeatOp [dim:-1, repeat_times:$r] (%{}) -> (%{})",
                      {{"y", "[$B.., $k*$r]"}});
      case Shape::kTranspose:
        return region(op, {{"a", "[$m, $n]"}},
                      "linalg.D.TransposeOp [dim0:0, dim1:1] (%{}) -> (%{})", {{"y", "[$n, $m]"}});
      case Shape::kCast:
        return region(op, {{"a", type}}, "linalg.D.CastTypeOp [dtype:R] (%{}) -> (%{})",
                      {{"y", type, "R"}});
      case Shape::kLoop:
        return region(op, {{"a", type}},
                      "cf.ForOp (%zero:tensor<[1], Int32, D>[constant:[0]], "
                      "%times:tensor<[1], Int32, D>[constant:[$times]], "
                      "%one:tensor<[1], Int32, D>[constant:[1]], %{}) -> (%{}) {{ "
                      "(%i, %acc) -> (%next) {{ dialect.RunOp (%acc) -> (%next:tensor<" +
                          type + ", T, D>) cf.YieldOp (%next) -> () }} }}",
                      {{"y", type}});
      case Shape::kBranch:
        return region(op, {{"a", type}},
                      "cf.IfOp (%c:tensor<[1], Bool, D>[constant:[$first]]) -> (%{1}) {{ "
                      "() -> (%f) {{ dialect.RunOp [region:0] (%{0}) -> (%f:tensor<" +
                          type +
                          ", T, D>) cf.YieldOp (%f) -> () }} "
                          "() -> (%g) {{ dialect.RunOp [region:1] (%{0}) -> (%g:tensor<" +
                          type + ", T, D>) cf.YieldOp (%g) -> () }} }}",
                      {{"y", type}});
    }
    return "";
  }

  struct Port {
    std::string name;
    std::string extents;
    std::string dtype = "T";
  };

  /// A signature with a body: a chain of ops that keep the type, around the op that changes it.
  std::string region(const Declared& op, const std::vector<Port>& operands,
                     std::string_view changing, const std::vector<Port>& results) {
    const auto ports = [&](const std::vector<Port>& list, bool are_operands) {
      std::string text;
      for (const Port& each : list) {
        text += fmt::format("{}%{}:tensor<{}, {}, D>", text.empty() ? "" : ", ", each.name,
                            each.extents, each.dtype);
        if (!are_operands) continue;
        if (op.shape == Shape::kMany) text += "[many:true]";
        if (op.shape == Shape::kOptional && each.name == "b") text += "[optional:true]";
      }
      return text;
    };
    body_.clear();
    in_body_.clear();
    names_ = 0;
    dtype_ = "T";
    std::string latest = operands[0].name;
    if (op.shape == Shape::kMany) {
      add("linalg.D.StackOp [dim:0] (%xs) -> (%all)");
      latest = "v0";
      add(fmt::format("linalg.D.ReduceSumOp [dim:0, keep_dim:false] (%all) -> (%{})", latest));
      names_ = 1;
    }
    in_body_ = {latest};
    const bool is_pair = op.shape == Shape::kSame || op.shape == Shape::kOptional;
    if (is_pair && operands.size() == 2) in_body_.push_back("b");
    std::uint64_t before = below(random_, 3), after = below(random_, 3);
    if (changing.empty() && before + after == 0) before = 1;
    while (before != 0) {
      const bool is_last = changing.empty() && after == 0 && before == 1;
      latest = same(op, is_last ? "y" : fresh());
      --before;
    }
    if (!changing.empty()) {
      const std::string result = after == 0 ? "y" : fresh();
      add(fmt::format(fmt::runtime(changing), latest, result));
      in_body_ = {result};
      dtype_ = results[0].dtype;
    }
    for (; after != 0; --after) same(op, after == 1 ? "y" : fresh());
    body_ += "            cf.ReturnOp (";
    for (const Port& each : results) body_ += (each.name == "y" ? "%" : ", %") + each.name;
    body_ += ") -> ()\n";
    return fmt::format("        ({}) -> ({}) {{\n{}        }}\n", ports(operands, true),
                       ports(results, false), body_);
  }

  std::string fresh() { return fmt::format("v{}", names_++); }
  void add(const std::string& line) { body_ += "            " + line + "\n"; }

  /// Adds an op that keeps the type.
  std::string same(const Declared& op, const std::string& result) {
    const auto value = [&] { return any_of(in_body_); };
    constexpr std::string_view kUnary[] = {"NegOp", "AbsOp", "TanhOp", "SiLUOp"};
    constexpr std::string_view kBinary[] = {"AddOp", "SubOp", "MulOp", "MaximumOp"};
    std::vector<const Declared*> callees;
    for (const Declared& each : ops_) {
      if (each.shape == Shape::kSame || each.shape == Shape::kMany ||
          each.shape == Shape::kOptional) {
        callees.push_back(&each);
      }
    }
    const std::uint64_t choice = below(random_, callees.empty() ? 5 : 7);
    if (choice < 2) {
      add(fmt::format("linalg.D.{}(%{}) -> (%{})", any_of(kUnary), value(), result));
    } else if (choice == 2) {
      add(fmt::format("linalg.D.{}(%{}, %{}) -> (%{})", any_of(kBinary), value(), value(), result));
    } else if (choice < 5) {
      add(fmt::format("linalg.D.MulOp(%{}, %c{}:tensor<[1], {}, D>[constant:[{}]]) -> (%{})",
                      value(), result, dtype_, op.has_factor ? "$by" : "1.5", result));
    } else {
      const Declared& callee = *any_of(callees);
      std::string list = "%" + value();
      const bool is_alone = callee.shape == Shape::kOptional && one_in(2);
      if (callee.shape != Shape::kMany && !is_alone) list += ", %" + value();
      for (std::uint64_t n = callee.shape == Shape::kMany ? below(random_, 3) : 0; n != 0; --n) {
        list += ", %" + value();
      }
      const bool passes = callee.has_factor && op.has_factor && one_in(2);
      add(fmt::format("made.{} {}({}) -> (%{})", callee.name, passes ? "[by:$by] " : "", list,
                      result));
    }
    in_body_.push_back(result);
    return result;
  }

  // -- uses --------------------------------------------------------------------------------------

  static std::string type_of(const Typed& value) {
    return fmt::format("tensor<[{}], {}, CPU>", fmt::join(value.extents, ", "), value.dtype);
  }

  Typed input(ExtentTexts extents) {
    Typed made{.name = fmt::format("p{}", inputs_.size()), .extents = std::move(extents)};
    inputs_.push_back(made);
    values_.push_back(made);
    return made;
  }

  ExtentTexts extents() {
    constexpr std::string_view kLeading[] = {"1", "2", "3", "$S"};
    ExtentTexts made;
    for (std::uint64_t n = below(random_, 3); n != 0; --n) made.emplace_back(any_of(kLeading));
    made.push_back(std::to_string(1 + below(random_, 6)));
    return made;
  }

  /// A value of this type, or a new input; inputs are Float32.
  Typed alike(const Typed& other) {
    std::vector<Typed> found;
    for (const Typed& each : values_) {
      if (each.extents == other.extents && each.dtype == other.dtype) found.push_back(each);
    }
    if (other.dtype == "Float32" && (found.empty() || one_in(3))) return input(other.extents);
    return any_of(found);
  }

  static std::int64_t last(const Typed& value) { return std::stoll(value.extents.back()); }

  Typed value(Shape shape) {
    std::vector<Typed> found;
    for (const Typed& each : values_) {
      if (shape == Shape::kTranspose && each.extents.size() != 2) continue;
      if (shape == Shape::kProduct && each.extents.size() < 2) continue;
      if (shape != Shape::kTranspose && each.extents.back() == "$S") continue;
      if (shape == Shape::kHalves && last(each) % 2 != 0) continue;
      if ((shape == Shape::kProduct || shape == Shape::kConcat) && each.dtype != "Float32")
        continue;
      found.push_back(each);
    }
    if (!found.empty() && !one_in(4)) return any_of(found);
    ExtentTexts made = extents();
    if (shape == Shape::kTranspose) made = {one_in(2) ? "$S" : "2", "3"};
    if (shape == Shape::kProduct) made.insert(made.begin(), "2");
    if (shape == Shape::kHalves) made.back() = std::to_string(2 * (1 + below(random_, 3)));
    return input(std::move(made));
  }

  static std::string list_of(const std::vector<Typed>& values, bool with_types) {
    std::string text;
    for (const Typed& each : values) {
      text += fmt::format("{}%{}{}", text.empty() ? "" : ", ", each.name,
                          with_types ? ":" + type_of(each) : "");
    }
    return text;
  }

  std::string uses() {
    input(extents());
    std::string text;
    for (std::uint64_t n = 1 + below(random_, 6); n != 0; --n) text += use(any_of(ops_));
    return text;
  }

  std::string use(const Declared& op) {
    Typed a = value(op.shape);
    std::vector<Typed> operands = {a};
    std::vector<std::string> attributes;
    Typed y = a, z;
    std::string behind;
    switch (op.shape) {
      case Shape::kSame:
        operands.push_back(alike(a));
        break;
      case Shape::kMany:
        for (std::uint64_t n = below(random_, 3); n != 0; --n) operands.push_back(alike(a));
        break;
      case Shape::kOptional:
        if (one_in(2)) operands.push_back(alike(a));
        break;
      case Shape::kProduct:
        y.extents.back() = std::to_string(1 + below(random_, 4));
        operands.push_back(input({y.extents.back(), a.extents.back()}));
        break;
      case Shape::kSum:
        y.extents.back() = "1";
        break;
      case Shape::kConcat: {
        Typed b = a;
        b.extents.back() = std::to_string(1 + below(random_, 4));
        y.extents.back() = std::to_string(last(a) + last(b));
        operands.push_back(alike(b));
        break;
      }
      case Shape::kHalves:
        y.extents.back() = std::to_string(last(a) / 2);
        z = y;
        break;
      case Shape::kRepeat: {
        const auto times = static_cast<std::int64_t>(1 + below(random_, kMostRepeats));
        y.extents.back() = std::to_string(last(a) * times);
        attributes.push_back(fmt::format("r:{}", times));
        break;
      }
      case Shape::kTranspose:
        std::swap(y.extents[0], y.extents[1]);
        break;
      case Shape::kCast:
        y.dtype = one_in(2) ? "Float64" : "Float32";
        if (y.dtype != "Float32" || one_in(2)) attributes.push_back("R:" + y.dtype);
        break;
      case Shape::kLoop:
        if (one_in(2)) attributes.push_back(fmt::format("times:{}", below(random_, 4)));
        behind = " {\n" + region_of(a) + "    }";
        break;
      case Shape::kBranch:
        if (one_in(2)) attributes.emplace_back("first:false");
        behind = " {\n" + region_of(a) + region_of(a) + "    }";
        break;
    }
    if (op.has_factor && one_in(2))
      attributes.push_back(fmt::format("by:{}.25", below(random_, 3)));
    if (op.has_mode && one_in(2)) attributes.emplace_back("mode:other");
    y.name = fmt::format("w{}", results_++);
    std::vector<Typed> made = {y};
    if (op.shape == Shape::kHalves) {
      z.name = fmt::format("w{}", results_++);
      made.push_back(z);
    }
    values_.insert(values_.end(), made.begin(), made.end());
    outputs_.insert(outputs_.end(), made.begin(), made.end());
    return fmt::format("    made.{} {}({}) -> ({}){}\n", op.name,
                       attributes.empty() ? "" : fmt::format("[{}] ", fmt::join(attributes, ", ")),
                       list_of(operands, false), list_of(made, one_in(2)), behind);
  }

  /// A region that computes a value of this type from one, and perhaps from one around it.
  std::string region_of(const Typed& like) {
    const std::string type = type_of(like), in = fmt::format("q{}", regions_++), out = in + "r";
    const Typed other = alike(like);
    constexpr std::string_view kOps[] = {"linalg.CPU.TanhOp(%{0}) -> (%{2})",
                                         "linalg.CPU.AddOp(%{0}, %{1}) -> (%{2})",
                                         "linalg.CPU.MulOp(%{1}, %{0}) -> (%{2})"};
    return fmt::format(
        "        (%{0}:{1}) -> (%{2}:{1}) {{\n            {3}\n            "
        "cf.YieldOp (%{4}) -> ()\n        }}\n",
        in, type, out, fmt::format(fmt::runtime(any_of(kOps)), in, other.name, out), out);
  }

  std::string module(const std::string& body) const {
    return fmt::format("@main [mir_version:2] ({}) -> ({}) {{\n{}    cf.ReturnOp ({}) -> ()\n}}\n",
                       list_of(inputs_, true), list_of(outputs_, true), body,
                       list_of(outputs_, false));
  }

  /// One more use, which its op refuses.
  std::string mistaken(const std::string& body) {
    const Declared& op = any_of(ops_);
    std::string use;
    if (op.has_factor && one_in(2)) {
      use = fmt::format("made.{} [by:9.5] (%p0) -> (%bad)", op.name);
    } else if (op.has_mode && one_in(2)) {
      use = fmt::format("made.{} [mode:another] (%p0) -> (%bad)", op.name);
    } else {
      switch (op.shape) {
        case Shape::kSame:
          use = fmt::format("made.{} (%p0) -> (%bad)", op.name);
          break;
        case Shape::kOptional:
        case Shape::kMany: {
          const Typed a = input({"2", "5"}), b = input({"2", "7"});
          use = fmt::format("made.{} (%{}, %{}) -> (%bad)", op.name, a.name, b.name);
          break;
        }
        case Shape::kProduct: {
          // The body takes no operand of rank 1, as its signature does.
          const bool is_flat = one_in(2);
          const Typed a = input(is_flat ? ExtentTexts{"5"} : ExtentTexts{"2", "5"}),
                      w = input({"3", is_flat ? "5" : "6"});
          use = fmt::format("made.{} (%{}, %{}) -> (%bad)", op.name, a.name, w.name);
          break;
        }
        case Shape::kConcat: {
          const Typed a = input({"2", "5"}), b = input({"3", "5"});
          use = fmt::format("made.{} (%{}, %{}) -> (%bad)", op.name, a.name, b.name);
          break;
        }
        case Shape::kHalves:
          use = fmt::format("made.{} (%{}) -> (%bad, %worse)", op.name, input({"2", "7"}).name);
          break;
        case Shape::kRepeat:
          use = fmt::format("made.{} [r:{}] (%{}) -> (%bad)", op.name,
                            one_in(2) ? 2 * kMostRepeats : 2, input({"2", "4095"}).name);
          break;
        case Shape::kTranspose:
          use = fmt::format("made.{} (%{}) -> (%bad)", op.name, input({"2", "3", "4"}).name);
          break;
        case Shape::kSum:
          use = fmt::format("made.{} (%{}) -> (%bad)", op.name, input({"2", "0"}).name);
          break;
        case Shape::kCast:
          use = fmt::format("made.{} [R:7] (%p0) -> (%bad)", op.name);
          break;
        case Shape::kLoop:
          use = fmt::format("made.{} (%p0) -> (%bad) {{ (%m:{}) -> () {{ cf.YieldOp () -> () }} }}",
                            op.name, type_of(inputs_[0]));
          break;
        case Shape::kBranch:
          use = fmt::format(
              "made.{0} (%p0) -> (%bad) {{ (%m:{1}) -> (%m:{1}) {{ cf.YieldOp (%m) -> () }} "
              "(%o:tensor<[2, 9, 9], Bool, CPU>) -> () {{ cf.YieldOp (%o) -> () }} }}",
              op.name, type_of(inputs_[0]));
          break;
      }
    }
    return module(body + "    " + use + "\n");
  }

  Random random_;
  std::vector<Declared> ops_;
  // of the body that is being made
  std::string body_;
  std::vector<std::string> in_body_;
  std::string dtype_;
  int names_ = 0;
  // of the module
  std::vector<Typed> inputs_, values_, outputs_;
  int results_ = 0;
  int regions_ = 0;
};

}  // namespace

DialectText generate_dialect(std::uint64_t seed) {
  return Generator(seed).run();
}

}  // namespace mir::test
