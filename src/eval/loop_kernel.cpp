// Evaluates loop.KernelOp: walks its nests in the written order, one element after the other.
#include <fmt/format.h>

#include <cstring>
#include <unordered_map>

#include "dialects/loop_walk.hpp"
#include "eval/evaluators.hpp"
#include "eval/generic_strip.hpp"
#include "eval/joins.hpp"
#include "eval/parameters.hpp"
#include "kernels/ref/common/dispatch.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::eval {

namespace {

/// Converts one element, or joins one to another.
using ElementFn = void (*)(const std::byte* from, std::byte* to);

template <class T>
using NumberOf = std::conditional_t<ref::kIsFloating<T>, double, T>;

template <class T>
T element_at(const std::byte* at) {
  T element;
  std::memcpy(&element, at, sizeof(T));
  return element;
}

template <class T>
void put(T element, std::byte* at) {
  std::memcpy(at, &element, sizeof(T));
}

template <class T>
void move_element(const std::byte* from, std::byte* to) {
  std::memcpy(to, from, sizeof(T));
}

template <class From, class To>
void convert_element(const std::byte* from, std::byte* to) {
  put(ref::store<To>(ref::load<From>(element_at<From>(from))), to);
}

template <class From, class To, class Join>
void join_element(const std::byte* from, std::byte* to) {
  const ref::Wide<To> before = ref::load<To>(element_at<To>(to));
  const ref::Wide<To> number = ref::load<From>(element_at<From>(from));
  put(ref::store<To>(Join()(before, number)), to);
}

/// Functions of a read or write. `From` and `To` are the types of what is read and of the target.
struct AccessCode {
  ElementFn store = nullptr;  ///< reads, or writes over what the element has
  ElementFn join = nullptr;   ///< of a write that joins
};

template <class From, class To>
AccessCode code_of(const KernelBody::Access& access, [[maybe_unused]] bool is_copy) {
  AccessCode code{.store = convert_element<From, To>};
  if constexpr (std::is_same_v<From, To>) {
    if (is_copy) code.store = move_element<To>;
  }
  if (access.join) {
    with_join(*access.join, [&]<class Join>(Join) { code.join = join_element<From, To, Join>; });
  }
  return code;
}

/// True if a write stores what a read has found as it is.
bool is_copied(const KernelBody::Access& access, DType element) {
  if (!access.is_write) return true;
  const Value& number = *access.op->operand(0);
  const Op* read = number.defining_op();
  return !access.join && read != nullptr && read->is(OpId::kLoopRead) &&
         number.tensor_type()->dtype() == element;
}

class KernelRun final : public KernelWalk {
 public:
  KernelRun(const KernelBody& kernel, EvalCall& call) : KernelWalk(kernel), call_(call) {}

  Result<void> prepare() {
    for (std::size_t i = 0; i < body().buffers.size(); ++i) {
      if (auto made = prepare_buffer(i); !made) return made;
    }
    for (std::size_t i = 0; i < body().results.size(); ++i) {
      Tensor& buffer = buffers_[body().results[i]];
      const Tensor& result = call_.result(i);
      if (!has_shape(result, body().results[i])) {
        return call_.error(diag::kResultMismatch,
                           fmt::format("the buffer of result {} has other extents", i));
      }
      buffer = result;
    }
    for (const KernelBody::Access& access : body().accesses) {
      if (auto made = prepare_access(access); !made) return made;
    }
    for (const KernelBody::Nest& nest : body().nests) {
      for (const GenericForm::Index& index : nest.indices) {
        if (auto slot = slot_of(*nest.op->operand(index.operand)); !slot) return slot.error();
      }
    }
    for (const Op* op : body().computations) {
      if (auto made = prepare_computation(*op); !made) return made;
    }
    return {};
  }

  /// Fills results that share their buffer with another one.
  void finish() {
    for (std::size_t i = 0; i < body().results.size(); ++i) {
      const Tensor& buffer = buffers_[body().results[i]];
      Tensor& result = call_.result(i);
      if (buffer.bytes().data() == result.bytes().data() || result.bytes().empty()) continue;
      std::memcpy(result.mutable_bytes(), buffer.bytes().data(), result.bytes().size());
    }
  }

 private:
  struct Place {
    AccessCode code;
    std::size_t size = 0;    // of an element
    std::size_t number = 0;  // slot of what is read or written
  };
  struct Computation {
    StripArithmetic::Function direct = nullptr;  // null: by the kernel of the op
    std::vector<std::size_t> operands, results;  // slots
  };

  bool has_shape(const Tensor& tensor, std::size_t buffer) const {
    return tensor.dtype() == body().buffers[buffer].shape.dtype &&
           std::ranges::equal(tensor.shape(), extents(buffer));
  }

  Result<void> prepare_buffer(std::size_t number) {
    const KernelBody::Buffer& buffer = body().buffers[number];
    Tensor& made = buffers_.emplace_back();
    if (!buffer.is_operand) return {};
    made = call_.operand(buffer.value->index());
    if (has_shape(made, number)) return {};
    return call_.error(diag::kShapeMismatch,
                       fmt::format("operand {} does not fit its buffer", buffer.value->index()));
  }

  Result<std::size_t> slot_of(const Value& value) {
    const auto [found, is_new] = slots_.try_emplace(&value, numbers_.size());
    if (!is_new) return found->second;
    const TensorType* type = value.held_type();
    if (type == nullptr || !type->dtype()) {
      return call_.error(diag::kResultUnknown, "the type of a number is not known");
    }
    auto number =
        value.is_free() ? constant_tensor(value) : Tensor::allocate(*type->dtype(), Shape());
    if (!number) return std::move(number).error();
    numbers_.push_back(*std::move(number));
    return found->second;
  }

  Result<void> prepare_access(const KernelBody::Access& access) {
    const DType element = body().buffers[access.buffer].shape.dtype;
    const Value& value = access.is_write ? *access.op->operand(0) : *access.op->result();
    const auto number = slot_of(value);
    if (!number) return number.error();
    for (const GenericForm::Index& index : access.indices) {
      if (auto slot = slot_of(*access.op->operand(index.operand)); !slot) return slot.error();
    }
    Place place{.code = {}, .size = info(element).unit_bytes, .number = *number};
    const bool is_element = numbers_[*number].dtype() == element;
    const bool is_copy = is_copied(access, element);
    const auto done = ref::with_number_or_bool("loop", element,
                                               [&]<class T>(std::type_identity<T>) -> Result<void> {
                                                 using N = NumberOf<T>;
                                                 if (is_element) {
                                                   place.code = code_of<T, T>(access, is_copy);
                                                 } else if (access.is_write) {
                                                   place.code = code_of<N, T>(access, false);
                                                 } else {
                                                   place.code = code_of<T, N>(access, false);
                                                 }
                                                 return {};
                                               });
    places_.push_back(place);
    return done;
  }

  Result<void> prepare_computation(const Op& op) {
    Computation made{.direct = plain_arithmetic(op), .operands = {}, .results = {}};
    for (const Use& use : op.operand_uses()) {
      const auto slot = slot_of(*use.value());
      if (!slot) return slot.error();
      made.operands.push_back(*slot);
    }
    for (const Value& value : op.results()) {
      const auto slot = slot_of(value);
      if (!slot) return slot.error();
      made.results.push_back(*slot);
    }
    computations_.push_back(std::move(made));
    return {};
  }

  Done make(std::size_t buffer) override {
    Tensor& memory = buffers_[buffer];
    if (memory.defined()) return {};
    const auto shape = extents(buffer);
    auto made =
        Tensor::allocate(body().buffers[buffer].shape.dtype, Shape(shape.begin(), shape.end()));
    if (!made) return std::move(made).error();
    memory = *std::move(made);
    return {};
  }

  std::optional<std::int64_t> integer(const Op& op, std::size_t operand) override {
    const auto found = slots_.find(op.operand(operand));
    if (found == slots_.end()) return std::nullopt;
    const Tensor& number = numbers_[found->second];
    std::optional<std::int64_t> value;
    const auto read = ref::with_number("loop", number.dtype(),
                                       [&]<class T>(std::type_identity<T>) -> Result<void> {
                                         if constexpr (std::is_integral_v<T>) {
                                           const T only = number.as<T>().front();
                                           if (std::in_range<std::int64_t>(only))
                                             value = static_cast<std::int64_t>(only);
                                         }
                                         return {};
                                       });
    return read ? value : std::nullopt;
  }

  Done read(const KernelBody::Access& access, std::int64_t element) override {
    const Place& place = place_of(access);
    place.code.store(
        buffers_[access.buffer].bytes().data() + static_cast<std::size_t>(element) * place.size,
        numbers_[place.number].mutable_bytes());
    return {};
  }

  Done write(const KernelBody::Access& access, std::int64_t element, bool is_first) override {
    const Place& place = place_of(access);
    const ElementFn code = is_first || !access.join ? place.code.store : place.code.join;
    code(numbers_[place.number].bytes().data(),
         buffers_[access.buffer].mutable_bytes() + static_cast<std::size_t>(element) * place.size);
    return {};
  }

  const Place& place_of(const KernelBody::Access& access) const {
    return places_[static_cast<std::size_t>(&access - body().accesses.data())];
  }

  Done compute(std::size_t number) override {
    const Computation& step = computations_[number];
    if (step.direct != nullptr) {
      step.direct(numbers_[step.operands.front()].as<double>().data(), 0,
                  numbers_[step.operands.back()].as<double>().data(), 0,
                  numbers_[step.results.front()].as_mutable<double>().data(), 1);
      return {};
    }
    operands_.clear();
    for (const std::size_t slot : step.operands) operands_.push_back(numbers_[slot]);
    auto computed = evaluate(*body().computations[number], operands_, call_.environment());
    if (!computed) return std::move(computed).error();
    for (std::size_t i = 0; i < step.results.size(); ++i) {
      Tensor& to = numbers_[step.results[i]];
      const Tensor& from = (*computed)[i];
      if (from.dtype() != to.dtype() || from.bytes().size() != to.bytes().size()) {
        return Error{diag::kResultMismatch, fmt::format("'{}' computes no single number",
                                                        body().computations[number]->name())};
      }
      std::memcpy(to.mutable_bytes(), from.bytes().data(), from.bytes().size());
    }
    return {};
  }

  EvalCall& call_;
  std::vector<Tensor> buffers_;
  std::vector<Tensor> numbers_;  // of values, by slot
  std::unordered_map<const Value*, std::size_t> slots_;
  std::vector<Place> places_;  // by access
  std::vector<Computation> computations_;
  std::vector<Tensor> operands_;  // of the computation at hand
};

}  // namespace

Result<void> loop_kernel(EvalCall& call) {
  std::optional<Error> problem;
  const auto body = read_kernel(call.op(), [&](const KernelProblem& found) {
    problem = call.error(found.code, found.message);
  });
  if (!body) {
    return problem ? *problem
                   : call.error(diag::kNotExecutable, "an op of its region is not sound");
  }
  KernelRun run(*body, call);
  const DimBindings none;
  const DimBindings* dims = call.environment().dims;
  auto done = run.bind(dims == nullptr ? none : *dims);
  if (!done) return call.error(done.error().code, done.error().message);
  if (auto prepared = run.prepare(); !prepared) return prepared;
  run.set_order(call.environment().parallel_order);
  done = run.run();
  if (!done) return call.error(done.error().code, done.error().message);
  run.finish();
  return {};
}

}  // namespace mir::eval
