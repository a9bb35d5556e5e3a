// Generates modules whose scopes have symbols of one name.
#include "scoped_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace mir::test {

namespace {

using Names = std::set<std::string>;
using Extents = std::map<std::string, std::string>;  // by symbol

constexpr std::array kSymbols = {"S", "T", "N", "M", "K", "L"};

/// A tensor of `extent` rows and 2 columns.
struct Rows {
  std::string value;
  std::string extent;
};

std::string type_of(const std::string& extent) {
  return fmt::format("tensor<[{}, 2], Float32, CPU>", extent);
}

std::string replaced(const std::string& extent, const Extents& values) {
  std::string made;
  for (std::size_t at = 0; at < extent.size(); ++at) {
    const auto found = extent[at] == '$' ? values.find(extent.substr(at + 1, 1)) : values.end();
    if (found == values.end()) {
      made += extent[at];
    } else {
      made += "(" + found->second + ")";
      ++at;
    }
  }
  return made;
}

Names symbols_of(const std::string& extent) {
  Names names;
  for (std::size_t at = 0; at < extent.size(); ++at) {
    if (extent[at] == '$') names.insert(extent.substr(at + 1, 1));
  }
  return names;
}

/// A graph as its callers see it. It takes a condition and values.
struct Graph {
  std::string name;
  std::vector<std::string> arguments{};  // their extents, a symbol each
  std::vector<std::string> results{};
  Names inherited{};
  std::vector<std::size_t> callees{};
  std::string text{};
};

/// What ops of a region can use.
struct Scope {
  std::vector<Rows> values{};
  Names bound{};
  Names hidden{};  ///< names that blocks of the graph or region bind, which these ops cannot use
  std::string indent;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string module(std::string_view name) {
    const std::size_t count = below(4);
    for (std::size_t i = 0; i < count; ++i) add_graph(fmt::format("g{}", i));
    Scope scope{.indent = "    "};
    std::string inputs = "%c:tensor<[1], Bool, CPU>";
    const std::size_t taken = 1 + below(2);
    for (std::size_t i = 0; i < taken; ++i) {
      add_argument(scope, inputs, kSymbols[(i + below(2)) % kSymbols.size()]);
    }
    callees_.clear();
    fill(scope, 3 + below(5), 0);
    const std::vector<Rows> results = some_of(scope);
    const std::string body = std::move(text_);
    const std::string graphs = graph_texts();
    std::string head = "mir_version:2";
    const std::string declared = any_symbol();
    const bool is_used = (inputs + graphs + body).find("$" + declared) != std::string::npos;
    if (is_used && !passed_.contains(declared) && below(2) == 0)
      head += fmt::format(", symbols:{{{}:{{max:64}}}}", declared);
    // True for the numbers that runs draw, and a text for passes to keep.
    const std::string other = any_symbol();
    const bool is_other_used =
        (inputs + graphs + body).find("$" + other) != std::string::npos && is_used;
    if (is_other_used && !passed_.contains(declared) && !passed_.contains(other) && below(3) == 0) {
      head += fmt::format(", where:[\"${} <= ${} + 64\"]", declared, other);
    }
    return fmt::format("@{} [{}] ({}) -> ({}) {{\n{}{}    cf.ReturnOp ({}) -> ()\n}}\n", name, head,
                       inputs, stated(results), graphs, body, names_of(results));
  }

 private:
  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::string any_symbol() { return kSymbols[below(kSymbols.size())]; }
  std::string fresh() { return fmt::format("%v{}", values_++); }

  static std::string stated(const std::vector<Rows>& values) {
    std::string text;
    for (const auto& [value, extent] : values) {
      text += fmt::format("{}{}:{}", text.empty() ? "" : ", ", value, type_of(extent));
    }
    return text;
  }
  static std::string names_of(const std::vector<Rows>& values) {
    std::string text;
    for (const Rows& each : values) text += (text.empty() ? "" : ", ") + each.value;
    return text;
  }

  void line(const Scope& scope, const std::string& text) { text_ += scope.indent + text + "\n"; }

  void add_argument(Scope& scope, std::string& list, const std::string& symbol) {
    scope.values.push_back({fresh(), "$" + symbol});
    scope.bound.insert(symbol);
    list += fmt::format(", {}:{}", scope.values.back().value, type_of("$" + symbol));
  }

  /// One or two different values.
  std::vector<Rows> some_of(const Scope& scope) {
    std::vector<Rows> some = {scope.values.back()};
    const Rows& other = scope.values[below(scope.values.size())];
    if (below(2) == 0 && other.value != some[0].value) some.push_back(other);
    return some;
  }

  void add_graph(std::string name) {
    Graph graph{.name = std::move(name)};
    Scope scope{.indent = "            "};
    std::string arguments = "%c:tensor<[1], Bool, CPU>";
    const std::size_t taken = 1 + below(2);
    for (std::size_t i = 0; i < taken; ++i) {
      add_argument(scope, arguments, any_symbol());
      graph.arguments.push_back(scope.values.back().extent.substr(1));
    }
    callees_.clear();
    if (below(3) == 0) {
      const std::string symbol = any_symbol();
      if (!scope.bound.contains(symbol)) {
        add_iota(scope, "$" + symbol);
        graph.inherited.insert(symbol);
        scope.bound.insert(symbol);  // where the graph is called
      }
    }
    inherited_ = &graph.inherited;
    fill(scope, 1 + below(4), 0);
    inherited_ = nullptr;
    const std::vector<Rows> results = some_of(scope);
    for (const Rows& each : results) graph.results.push_back(each.extent);
    const std::string body = std::move(text_);
    text_.clear();
    graph.callees = callees_;
    graph.text = fmt::format(
        "    graph.SubGraphOp @{} <CPU> {{\n        ({}) -> ({}) {{\n{}"
        "            cf.ReturnOp ({}) -> ()\n        }}\n    }}\n",
        graph.name, arguments, stated(results), body, names_of(results));
    graphs_.push_back(std::move(graph));
  }

  /// The graphs, without those that take symbols from around calls if there are none.
  std::string graph_texts() const {
    std::set<std::size_t> called(callees_.begin(), callees_.end());
    std::string text;
    for (std::size_t i = graphs_.size(); i-- > 0;) {
      if (!called.contains(i) && !graphs_[i].inherited.empty()) continue;
      called.insert(graphs_[i].callees.begin(), graphs_[i].callees.end());
      text = graphs_[i].text + text;
    }
    return text;
  }

  void fill(Scope& scope, std::size_t count, int depth) {
    for (std::size_t i = 0; i < count; ++i) add_op(scope, depth);
  }

  void add_op(Scope& scope, int depth) {
    const Rows x = scope.values[below(scope.values.size())];
    switch (below(depth == 0 ? 10 : 6)) {
      case 0:
        return add(scope, "linalg.CPU.NegOp (" + x.value + ")", x.extent);
      case 1:
        return add_concat(scope, x);
      case 2:
        return add_iota(scope, "$" + *std::next(scope.bound.begin(),
                                                static_cast<int>(below(scope.bound.size()))));
      case 3:
        return add_compress(scope, x);
      case 4:
        return add_call(scope, depth);
      case 5:
        return add(scope, fmt::format("linalg.CPU.AddOp ({0}, {0})", x.value), x.extent);
      case 6:
        return add_loop(scope, x);
      case 7:
        return add_branches(scope);
      default:
        return add_condition(scope);
    }
  }

  void add(Scope& scope, const std::string& op, const std::string& extent) {
    scope.values.push_back({fresh(), extent});
    line(scope, fmt::format("{} -> ({}:{})", op, scope.values.back().value, type_of(extent)));
  }

  void add_iota(Scope& scope, const std::string& extent) {
    add(scope, fmt::format("linalg.CPU.IotaOp [shape:[{}, 2], dtype:Float32, dim:0] ()", extent),
        extent);
  }

  void add_concat(Scope& scope, const Rows& x) {
    const Rows y = scope.values[below(scope.values.size())];
    constexpr std::size_t kLongest = 40;
    if (x.extent.size() + y.extent.size() > kLongest) return;
    add(scope, fmt::format("linalg.CPU.ConcatOp [dim:0] ({}, {})", x.value, y.value),
        fmt::format("{}+{}", x.extent, y.extent));
  }

  /// A name that the scope does not have; empty if it has all.
  std::string new_symbol(Scope& scope) {
    const std::string symbol = any_symbol();
    if (scope.hidden.contains(symbol)) return {};
    return scope.bound.insert(symbol).second ? symbol : std::string();
  }

  void add_compress(Scope& scope, const Rows& x) {
    const std::string symbol = new_symbol(scope);
    if (symbol.empty()) return;
    const std::string largest = fresh(), mask = fresh();
    line(scope, fmt::format("linalg.CPU.ReduceMaxOp [dim:1] ({}) -> ({})", x.value, largest));
    line(scope, fmt::format("linalg.CPU.GreaterOp ({0}, %limit{1}:tensor<[1], Float32, "
                            "CPU>[constant:[0.{1}]]) -> ({2})",
                            largest, below(6), mask));
    add(scope, fmt::format("linalg.CPU.CompressOp [dim:0] ({}, {})", x.value, mask), "$" + symbol);
  }

  /// The graph that is made takes over what a called one takes from around the call.
  bool inherit(Scope& scope, const Names& symbols, int depth) {
    if (std::ranges::includes(scope.bound, symbols)) return true;
    const auto is_hidden = [&](const std::string& each) { return scope.hidden.contains(each); };
    if (inherited_ == nullptr || depth != 0 || std::ranges::any_of(symbols, is_hidden))
      return false;
    for (const std::string& each : symbols) {
      if (scope.bound.insert(each).second) inherited_->insert(each);
    }
    return true;
  }

  void add_call(Scope& scope, int depth) {
    if (graphs_.empty()) return;
    const std::size_t number = below(graphs_.size());
    const Graph& graph = graphs_[number];
    if (!inherit(scope, graph.inherited, depth)) return;
    Extents passed;
    std::string operands = "%c";
    Names bound = scope.bound;
    for (const std::string& argument : graph.arguments) {
      Rows x = scope.values[below(scope.values.size())];
      // One symbol of two arguments is one extent.
      if (const auto known = passed.find(argument); known != passed.end()) {
        const auto same = std::ranges::find(scope.values, known->second, &Rows::extent);
        x = *same;
      }
      passed.emplace(argument, x.extent);
      if (x.extent != "$" + argument) passed_.insert(argument);
      operands += ", " + x.value;
    }
    for (const std::string& symbol : graph.inherited) passed.emplace(symbol, "$" + symbol);
    std::vector<Rows> results;
    for (const std::string& extent : graph.results) {
      for (const std::string& symbol : symbols_of(extent)) {
        if (passed.contains(symbol)) continue;
        // Only an extent that is the symbol can give it another name.
        const std::string made = any_symbol();
        if (extent != "$" + symbol || scope.hidden.contains(made) || !bound.insert(made).second)
          return;
        passed.emplace(symbol, "$" + made);
      }
      results.push_back({fresh(), replaced(extent, passed)});
    }
    scope.bound = bound;
    callees_.push_back(number);
    line(scope,
         fmt::format("graph.CallGraphOp @{} ({}) -> ({})", graph.name, operands, stated(results)));
    scope.values.insert(scope.values.end(), results.begin(), results.end());
  }

  /// A region that takes nothing passes one of its values.
  Scope add_region(const Scope& around) {
    Scope inside = around;
    inside.indent += "        ";
    inside.hidden.clear();
    const std::string before = std::move(text_);
    text_.clear();
    fill(inside, 1 + below(3), 1);
    const Rows passed = inside.values.back();
    const std::string body = std::move(text_);
    text_ = before + fmt::format(
                         "{0}    () -> ({1}:{2}) {{\n{3}{0}        cf.YieldOp ({1}) -> "
                         "()\n{0}    }}\n",
                         around.indent, passed.value, type_of(passed.extent), body);
    return inside;
  }

  /// A block between a branch and the block where both ways meet.
  Scope add_arm(const Scope& around, const std::string& name, const std::string& rest) {
    Scope inside = around;
    text_ += fmt::format("^{}:\n", name);
    fill(inside, 1 + below(2), 1);
    line(inside, fmt::format("cf.BranchOp () -> () [^{}({})]", rest, inside.values.back().value));
    return inside;
  }

  /// Two blocks, and one where they meet, which has the ops that follow.
  void add_branches(Scope& scope) {
    const std::string before = text_;
    const std::size_t callees = callees_.size();
    const int number = values_++;
    const auto block = [&](std::string_view name) { return fmt::format("{}{}", name, number); };
    line(scope, fmt::format("cf.CondBranchOp (%c) -> () [^{}, ^{}]", block("yes"), block("no")));
    const Scope yes = add_arm(scope, block("yes"), block("rest"));
    Scope around = scope;
    around.hidden.insert(yes.bound.begin(), yes.bound.end());
    const Scope no = add_arm(around, block("no"), block("rest"));
    const std::string extent = joined_extent(scope, yes, no);
    if (extent.empty()) {
      text_ = before;
      callees_.resize(callees);
      return;
    }
    scope.hidden = no.hidden;
    scope.hidden.insert(no.bound.begin(), no.bound.end());
    for (const std::string& each : scope.bound) scope.hidden.erase(each);
    const std::string result = fresh();
    text_ += fmt::format("^{}({}:{}):\n", block("rest"), result, type_of(extent));
    scope.values.push_back({result, extent});
  }

  /// The extent that both ways have, or a new symbol, which the scope then has; empty if that has a
  /// value on one of the ways.
  std::string joined_extent(Scope& scope, const Scope& yes, const Scope& no) {
    const Rows &a = yes.values.back(), &b = no.values.back();
    const Names left = symbols_of(a.extent), right = symbols_of(b.extent);
    const bool is_around =
        std::ranges::includes(scope.bound, left) && std::ranges::includes(scope.bound, right);
    if (a.extent == b.extent && is_around) return a.extent;
    const std::string symbol = any_symbol();
    const bool is_known = yes.bound.contains(symbol) || no.bound.contains(symbol) ||
                          no.hidden.contains(symbol) || scope.hidden.contains(symbol);
    if (is_known) return {};
    scope.bound.insert(symbol);
    passed_.insert(symbol);
    return "$" + symbol;
  }

  void add_condition(Scope& scope) {
    const std::size_t callees = callees_.size();
    const std::string before = std::move(text_);
    text_.clear();
    const Scope yes = add_region(scope), no = add_region(scope);
    const std::string regions = std::move(text_);
    text_ = before;
    const std::string extent = joined_extent(scope, yes, no);
    if (extent.empty()) return callees_.resize(callees);
    const std::string result = fresh();
    line(scope, fmt::format("cf.IfOp (%c) -> ({}:{}) {{", result, type_of(extent)));
    text_ += regions;
    line(scope, "}");
    scope.values.push_back({result, extent});
  }

  /// A loop whose body may find out extents, and adds a row of what it computes.
  void add_loop(Scope& scope, const Rows& x) {
    Scope inside = scope;
    inside.indent += "        ";
    inside.hidden.clear();
    const std::string carried = fresh(), row = fresh(), next = fresh(), result = fresh();
    inside.values.push_back({carried, x.extent});
    const std::string before = std::move(text_);
    text_.clear();
    fill(inside, 1 + below(3), 1);
    line(inside, fmt::format("linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] ({}) -> ({})",
                             inside.values.back().value, row));
    line(inside, fmt::format("linalg.CPU.AddOp ({}, {}) -> ({}:{})", carried, row, next,
                             type_of(x.extent)));
    line(inside, fmt::format("cf.YieldOp ({}) -> ()", next));
    const std::string body = std::move(text_);
    text_ = before;
    const auto number = [](std::string_view name, std::size_t value) {
      return fmt::format("%{0}{1}:tensor<[1], Int32, CPU>[constant:[{1}]]", name, value);
    };
    line(scope, fmt::format("cf.ForOp ({}, {}, {}, {}) -> ({}:{}) {{", number("first", 0),
                            number("last", below(4)), number("step", 1), x.value, result,
                            type_of(x.extent)));
    line(scope, fmt::format("    (%i{}:tensor<[1], Int32, CPU>, {}:{}) -> ({}:{}) {{", values_++,
                            carried, type_of(x.extent), next, type_of(x.extent)));
    text_ += body;
    line(scope, "    }");
    line(scope, "}");
    scope.values.push_back({result, x.extent});
  }

  std::mt19937_64 random_;
  std::vector<Graph> graphs_;
  std::vector<std::size_t> callees_;  // of the graph or body at hand
  Names* inherited_ = nullptr;        // of the graph at hand; null in the body
  Names passed_;  // symbols that stand for other extents, which a range may not admit
  std::string text_;
  int values_ = 0;
};

}  // namespace

std::string scoped_text(std::uint64_t seed, std::string_view name) {
  return Generator(seed).module(name);
}

}  // namespace mir::test
