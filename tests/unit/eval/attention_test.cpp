#include "one_op.hpp"

namespace mir::test {

using Values = std::vector<double>;

namespace {

/// [1, n, 1, 1].
Tensor heads(const Values& values) {
  return floats({1, static_cast<std::int64_t>(values.size()), 1, 1}, values);
}
const std::string kHeads = "tensor<[1, ?, 1, 1], Float32, CPU>";
const std::string kThree = "(%0:" + kHeads + ", %1:" + kHeads + ", %2:" + kHeads;

}  // namespace

TEST_CASE("flash attention honours its causal mask") {
  const std::string tail = kThree + ") -> (%3:" + kHeads + ")";
  // Queries of 0 weigh all keys that they see equally.
  const std::vector<Tensor> operands = {heads({0, 0}), heads({1, 2, 3}), heads({3, 6, 9})};
  CHECK(OneOp("linalg.CPU.FlashAttention2Op" + tail).values(operands) == Values{4.5, 6});
  CHECK(OneOp("linalg.CPU.FlashAttention2Op [causal_mask:false] " + tail).values(operands) ==
        Values{6, 6});
}

TEST_CASE("a sliding window bounds what a query sees, sinks take weight") {
  const std::string tail = "%3:tensor<[1], Float32, CPU>) -> (%4:" + kHeads + ")";
  const std::vector<Tensor> operands = {heads({0, 0}), heads({1, 2, 3}), heads({3, 6, 9}),
                                        floats({1}, {0})};
  OneOp plain("linalg.CPU.FlashAttention2SwaSinkOp [sliding_window:2, cur_seq_len:9] " + kThree +
              ", " + tail);
  CHECK(plain.values(operands) == Values{4.5, 7.5});
  OneOp sink(
      "linalg.CPU.FlashAttention2SwaSinkOp [sliding_window:2, cur_seq_len:9, "
      "s_aux_enable:true] " +
      kThree + ", " + tail);
  CHECK(sink.values(operands) == Values{3, 5});
  OneOp beyond("linalg.CPU.FlashAttention2SwaSinkOp [sliding_window:2, cur_seq_len:2] " + kThree +
               ", " + tail);
  CHECK(beyond.error(operands).starts_with("500 "));
}

TEST_CASE("paged attention reads the rows it is given and shows its weights") {
  OneOp op("linalg.CPU.PagedAttnOp [need_attn_weights:true] " + kThree +
           ", %3:tensor<[?], Int32, CPU>, %4:tensor<[?, ?], Float32, CPU>) -> (%5:" + kHeads +
           ", %6:tensor<[1, 1, ?, ?], Float32, CPU>)");
  const std::vector<Tensor> operands = {heads({0, 0}), heads({1, 1, 1, 1}), heads({8, 4, 2, 1}),
                                        tensor(DType::kInt32, {2}, {3, 1}),
                                        floats({2, 2}, {0, -5, 0, 0})};
  const auto results = op.run(operands);
  REQUIRE(results);
  CHECK(values_of(results->at(0)) == Values{1, 2.5});
  CHECK(values_of(results->at(1)) == Values{1, 0, 0.5, 0.5});
  std::vector<Tensor> outside = operands;
  outside[3] = tensor(DType::kInt32, {2}, {0, 4});
  CHECK(op.error(outside) == "803 attention: index 4 at position 1 is outside [0, 4)");
  OneOp bare("linalg.CPU.PagedAttnOp" + kThree + ", %3:tensor<[?], Int32, CPU>) -> (%5:" + kHeads +
             ")");
  CHECK(bare.values({operands[0], operands[1], operands[2], operands[3]}) == Values{2.5, 2.5});
}

TEST_CASE("radix attention reads rows of its stores, and no addresses") {
  const std::string store = "tensor<[?, 1, 1, 1], Float32, CPU>", list = "tensor<[?], Int64, CPU>";
  const std::string raw = "(%0:" + kHeads + ", %1:" + list + ", %2:" + list;
  const std::string rows = raw + ", %3:" + store + ", %4:" + store;
  const std::string extents = "q_head:1, kv_head:1, D_QK:1, D_V:1";
  const Tensor q = heads({0, 0});
  const auto stored = [](const Values& values) {
    return floats({static_cast<std::int64_t>(values.size()), 1, 1, 1}, values);
  };
  const std::vector<Tensor> operands = {q, ints({3}, {0, 2, 1}), ints({3}, {3, 0, 0}),
                                        stored({1, 2, 3}), stored({4, 5, 6, 8})};
  OneOp relax("linalg.CPU.RadixAttnRelaxOp [" + extents + "] " + rows + ") -> (%5:" + kHeads + ")");
  const Values got = relax.values(operands);
  CHECK(got[0] == 6);
  CHECK(got[1] == static_cast<float>(16.0 / 3));
  OneOp swa("linalg.CPU.RadixAttnSwaSinkOp [sliding_window:1, cur_seq_len:3, s_aux_enable:true, " +
            extents + "] " + rows + ", %5:tensor<[1], Float32, CPU>) -> (%6:" + kHeads + ")");
  std::vector<Tensor> six = operands;
  six.push_back(floats({1}, {0}));
  CHECK(swa.values(six) == Values{2, 2});
  OneOp addresses("linalg.CPU.RadixAttnRelaxOp [" + extents + "] " + raw + ") -> (%3:" + kHeads +
                  ")");
  CHECK(addresses.error({operands[0], operands[1], operands[2]})
            .starts_with("810 'RadixAttnRelaxOp': operands 1 and 2 are machine addresses"));
}

}  // namespace mir::test
