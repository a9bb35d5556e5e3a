// Every rule against operands and attributes that make no sense.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "mir/context.hpp"
#include "mir/dialects.hpp"
#include "mir/infer.hpp"

using namespace mir;

namespace {

/// A fixed sequence of numbers below a bound.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>(state_ >> 33) % bound;
  }

 private:
  std::uint64_t state_;
};

std::vector<const Type*> odd_types(IRContext& context) {
  DimTable& dims = context.dims();
  const Dim s = dims.symbol("S"), big(std::numeric_limits<std::int64_t>::max());
  const std::vector<std::vector<Dim>> shapes = {{},
                                                {Dim{}},
                                                {Dim(4)},
                                                {s},
                                                {Dim::unknown()},
                                                {Dim(-1)},
                                                {big},
                                                {Dim(2), Dim(4)},
                                                {s, Dim(4)},
                                                {big, big},
                                                {Dim(1), Dim(4), Dim(8)},
                                                {Dim(1), s, dims.add(s, Dim(3))},
                                                {Dim(1), Dim(4), Dim(2), Dim(8)},
                                                {Dim(1), Dim(2), s, Dim(8)},
                                                {Dim{}, Dim{}, Dim{}, Dim{}},
                                                {Dim(-7), big, s, Dim::unknown()},
                                                {Dim(1), Dim(2), Dim(3), Dim(4), Dim(5)},
                                                std::vector<Dim>(40, Dim(2))};
  std::vector<const Type*> types = {*context.parse_type("!other.handle<1>"), nullptr};
  for (const auto& shape : shapes) {
    for (const char* dtype : {"Float32", "Int64", "Int32", "Bool", "ComplexFP32", "GGUF_Q4_0",
                              "UInt16PerTensor", "Mystery"}) {
      types.push_back(context.tensor(shape, context.intern(dtype), context.intern("CPU")));
    }
  }
  return types;
}

std::vector<const Attr*> odd_values(IRContext& context) {
  std::vector<const Attr*> values = {context.null(),
                                     context.boolean(true),
                                     context.boolean(false),
                                     context.number(-0.5),
                                     context.number(1e300),
                                     context.string(""),
                                     context.word("all"),
                                     context.word("Float16"),
                                     context.word("same"),
                                     context.word("BSHD"),
                                     context.word("Default"),
                                     context.dim(context.dims().symbol("S")),
                                     context.dim(Dim::unknown()),
                                     context.symbol_ref("x")};
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4},
        std::int64_t{8}, std::int64_t{-1}, std::int64_t{2147483633}, std::int64_t{2147483647},
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    values.push_back(context.integer(value));
  }
  const std::vector<const Attr*> scalars = values;
  for (std::size_t size = 0; size < 5; ++size) {
    for (const Attr* scalar : scalars) {
      values.push_back(context.array(std::vector<const Attr*>(size, scalar)));
    }
  }
  for (const Attr* scalar : scalars) {
    const NamedAttr start{context.intern("start"), scalar}, end{context.intern("end"), scalar};
    const NamedAttr step{context.intern("step"), scalar};
    for (const auto& entries : {std::vector{start}, std::vector{end}, std::vector{start, step}}) {
      const Attr* dict = context.dict(entries);
      values.push_back(dict);
      values.push_back(context.array(std::vector<const Attr*>{dict}));
      values.push_back(context.array(std::vector<const Attr*>{dict, context.word("all")}));
    }
  }
  return values;
}

}  // namespace

TEST_CASE("no rule fails silently, succeeds with an error, or gives a wrong number of results") {
  IRContext context;
  register_builtin_dialects(context);
  const auto types = odd_types(context);
  const auto values = odd_values(context);
  Dice dice(7);
  std::size_t succeeded = 0;
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      if (row.infer == nullptr) continue;
      CAPTURE(row.name);
      for (int round = 0; round < 4000; ++round) {
        const auto count_of = [&](Arity arity) {
          const std::size_t spread = arity.max == Arity::kMany ? 3u : arity.max - arity.min + 1u;
          return arity.min + dice.below(spread);
        };
        // Often the same type several times, or nothing would ever fit.
        std::vector<const Type*> operands(count_of(row.operands), types[dice.below(types.size())]);
        for (const Type*& operand : operands) {
          if (dice.below(3) == 0) operand = types[dice.below(types.size())];
        }
        std::vector<NamedAttr> attributes;
        for (const AttrRow& attribute : row.attributes) {
          if (dice.below(2) == 0) continue;
          attributes.push_back({context.intern(attribute.name), values[dice.below(values.size())]});
        }
        Diagnostics diagnostics(0);
        const std::size_t result_count = count_of(row.results);
        const auto given = infer({.context = context,
                                  .row = row,
                                  .operands = operands,
                                  .attributes = attributes,
                                  .result_count = result_count},
                                 diagnostics);
        succeeded += given.has_value();
        REQUIRE(given.has_value() == !diagnostics.has_errors());
        if (!given || given->empty()) continue;
        REQUIRE(given->size() == result_count);
      }
    }
  }
  CHECK(succeeded > 10'000);
}
