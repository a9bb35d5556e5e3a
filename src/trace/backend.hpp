// What the calls of a model do: record ops of a module, or compute.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/trace.hpp"

namespace mir::trace {

/// A parameter of a layer.
struct Parameter {
  std::string name;
  const TensorType* type = nullptr;
};

/// An op to be made.
struct OpRequest {
  std::span<const Var> operands;
  const BuildOp& build;
  std::span<const Parameter> parameters{};
  std::string_view state{};  ///< path of an op that keeps a state from run to run; empty if none
};

/// Carries out the calls of a model.
class Backend {
 public:
  explicit Backend(IRContext& context) : context_(context) {}
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  /// The backend of the first operand; null if one of them is empty, or if there are none.
  static Backend* of(std::span<const Var> operands);

  virtual bool is_eager() const = 0;
  virtual Var input(std::string_view name, const TensorType& type, Place place) = 0;
  virtual void output(std::string_view name, const Var& value, Place place) = 0;
  virtual Vars apply(const OpRequest& request, Place place) = 0;
  virtual Vars call(std::string_view name, const Vars& operands,
                    const std::function<Vars(const Vars&)>& body, Place place) = 0;
  virtual Vars if_else(const Var& condition, const std::function<Vars()>& then,
                       const std::function<Vars()>& otherwise, Place place) = 0;
  virtual Vars while_loop(const Vars& carried, const std::function<Var(const Vars&)>& condition,
                          const std::function<Vars(const Vars&)>& body, Place place) = 0;
  /// `bounds` are first, last and step, of one type.
  virtual Vars for_loop(const Vars& bounds, const Vars& carried,
                        const std::function<Vars(const Var&, const Vars&)>& body, Place place) = 0;

  IRContext& context() const { return context_; }
  Var parameter(std::string_view name, const TensorType& type, Place place);
  /// A constant; empty after reporting a number that the type cannot hold.
  Var literal(const TensorType& type, double number, Place place);
  const TensorType& tensor_type(Extents extents, DType dtype) const;
  /// The extent `$name`; unknown after reporting a name that text cannot say.
  Dim symbol(std::string_view name, Place place);
  /// The name of something in the present graph.
  std::string path_of(std::string_view name) const;

  void error(Place place, DiagCode code, std::string message);

 protected:
  /// True if an error of this run was reported. Empty values follow from it then.
  bool has_failed() const { return has_failed_; }
  /// Reports an output without a value, unless that follows from an error.
  bool has_value(std::string_view output, const Var& value, Place place);
  /// Reports what was found while a call at `place` was carried out. True if there were no errors.
  bool report(Diagnostics& found, Place place);
  /// Returns false after reporting a parameter that cannot be: of no name, of extents that are not
  /// numbers, or of one name with another type.
  bool declare(const Parameter& parameter, Place place);
  /// Returns false after reporting an input that is declared twice, or inside a body.
  bool declare_input(std::string_view name, Place place);
  bool declare_output(std::string_view name, Place place);
  /// Returns false after reporting values that an outer body or another model made.
  bool are_own(std::span<const Var> operands, Place place);
  /// Returns false after reporting empty values that a body returned without an error.
  bool are_returned(std::span<const Var> results, Place place);
  /// Returns false after reporting that the body of a loop returns other types than it takes.
  bool are_carried(std::span<const Var> passed, std::span<const Var> carried, Place place);
  /// Calls `body`, that of a graph, a branch or a loop.
  template <class Body>
  auto nested(const Body& body) {
    struct Level {
      explicit Level(int& depth) : depth_of(depth) { ++depth_of; }
      ~Level() { --depth_of; }
      int& depth_of;
    };
    const Level level(depth_);
    return body();
  }
  /// Calls `body` in the graph `name`.
  template <class Body>
  auto inside(std::string_view name, const Body& body) {
    struct Level {
      Level(std::vector<std::string>& path, std::string_view last) : names(path) {
        names.emplace_back(last);
      }
      ~Level() { names.pop_back(); }
      std::vector<std::string>& names;
    };
    const Level level(path_, name);
    return nested(body);
  }
  Var made(Value* value, const Type* type);
  void begin_reports(Diagnostics& diagnostics) {
    diagnostics_ = &diagnostics;
    has_failed_ = false;
    inputs_.clear();
    declared_outputs_.clear();
    parameters_.clear();
  }

  IRContext& context_;
  std::vector<std::string> inputs_;  // declared in this run

 private:
  Span span_of(Place place);
  bool can_declare(std::string_view kind, std::string_view name, std::vector<std::string>& declared,
                   Place place);

  Diagnostics* diagnostics_ = nullptr;
  bool has_failed_ = false;
  std::vector<std::string> declared_outputs_;
  std::map<std::string, const TensorType*, std::less<>> parameters_;
  std::vector<std::string> path_;
  int depth_ = 0;                                                // of bodies
  std::map<std::string, const SourceFile*, std::less<>> files_;  // null: cannot be read
};

}  // namespace mir::trace
