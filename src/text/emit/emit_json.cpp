// Writes modules as JSON.
#include <cmath>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "ir/mention.hpp"
#include "text/emit/emit.hpp"

namespace mir {

namespace {

using OrderedJson = nlohmann::ordered_json;

class JsonEmitter {
 public:
  explicit JsonEmitter(const Module& module) : module_(module), context_(module.context()) {}

  OrderedJson module() const {
    OrderedJson out;
    out["name"] = context_.text(module_.name());
    out["form"] = module_.is_portable() ? "portable" : "dump";
    if (module_.is_portable()) out["mir_version"] = module_.version();
    out["region"] = region(module_.body());
    return out;
  }

 private:
  std::string name(ValueName value) const {
    if (value.is_none()) return "";
    return value.is_number() ? std::to_string(value.number())
                             : std::string(context_.text(value.symbol()));
  }

  OrderedJson attribute(const Attr& of) const {
    switch (of.kind()) {
      case AttrKind::kInt:
        return of.integer();
      // JSON has no word for infinities and for what is not a number.
      case AttrKind::kFloat:
        if (!std::isfinite(of.number())) return of.spelling();
        return of.number();
      case AttrKind::kBool:
        return of.boolean();
      case AttrKind::kNull:
        return nullptr;
      case AttrKind::kString:
        return of.text();
      case AttrKind::kArray: {
        OrderedJson list = OrderedJson::array();
        for (const Attr* element : of.elements()) list.push_back(attribute(*element));
        return list;
      }
      case AttrKind::kDict:
        return attributes(of.entries());
      default:
        return of.spelling();
    }
  }

  OrderedJson attributes(std::span<const NamedAttr> list) const {
    OrderedJson out = OrderedJson::object();
    // The library would search the whole object for each key.
    using Entries = OrderedJson::object_t::Container;
    Entries& entries = out.get_ref<OrderedJson::object_t&>();
    std::unordered_map<Symbol, std::size_t> places;
    for (const NamedAttr& each : list) {
      if (each.value == nullptr) continue;
      const auto [place, is_new] = places.try_emplace(each.key, entries.size());
      if (is_new) {
        entries.emplace_back(std::string(context_.text(each.key)), attribute(*each.value));
      } else {
        entries[place->second].second = attribute(*each.value);
      }
    }
    return out;
  }

  OrderedJson mention(const std::string& value_name, const Type* type, bool has_symbol,
                      Symbol symbol, std::span<const NamedAttr> list) const {
    OrderedJson out;
    out["name"] = value_name;
    if (type != nullptr) out["type"] = type->spelling();
    if (has_symbol) out["symbol"] = context_.text(symbol);
    if (!list.empty()) out["attributes"] = attributes(list);
    return out;
  }

  /// An operand as its place in the text states it.
  OrderedJson use(const Use& of) const {
    const StatedMention said = mention_of(of);
    OrderedJson out =
        mention(name(of.value()->name()), said.type, said.has_symbol, said.symbol, said.attributes);
    out["id"] = of.value()->id();
    return out;
  }

  OrderedJson value(const Value& of) const {
    OrderedJson out =
        mention(name(of.name()), of.type(), of.has_symbol(), of.symbol(), of.attributes());
    out["id"] = of.id();
    return out;
  }

  OrderedJson op(const Op& of) const {
    OrderedJson out;
    out["op"] = of.name();
    if (of.device()) out["device"] = context_.text(of.device());
    if (of.has_symbol()) out["symbol"] = context_.text(of.symbol());
    if (of.has_path()) out["path"] = context_.text(of.path());
    const DumpFacts& facts = of.dump_facts();
    if (facts.address) out["address"] = *facts.address;
    if (const auto label = facts.label) out["label"] = context_.text(*label);
    for (const Symbol angle : of.extra().angles) out["angles"].push_back(context_.text(angle));
    if (of.has_signature()) {
      out["operands"] = OrderedJson::array();
      for (const Use& each : of.operand_uses()) out["operands"].push_back(use(each));
      out["results"] = OrderedJson::array();
      for (const Value& result : of.results()) out["results"].push_back(value(result));
    }
    if (!of.attributes().empty()) out["attributes"] = attributes(of.attributes());
    for (const auto& successor : of.extra().successors) {
      out["successors"].push_back({{"block", context_.text(successor.name())},
                                   {"first_operand", successor.first_operand},
                                   {"operand_count", successor.operand_count}});
    }
    for (Region* inner = of.first_region(); inner != nullptr; inner = inner->next()) {
      out["regions"].push_back(region(*inner));
    }
    const std::string stated = context_.locations().spelling(of.location());
    if (!stated.empty()) out["loc"] = stated;
    const Span at = of.span();
    if (const SourceFile* file = context_.sources().file_of(at.begin)) {
      const LineColumn begin = file->line_column(at.begin);
      out["line"] = begin.line;
      out["column"] = begin.column;
    }
    return out;
  }

  void add_port(ValueName port, const Value& of, OrderedJson& out) const {
    if (port != default_port(of)) out["port"] = name(port);
  }

  OrderedJson region(const Region& of) const {
    OrderedJson out;
    if (of.has_signature()) {
      out["results"] = OrderedJson::array();
      for (const RegionResult& result : signature_results(of)) {
        const std::size_t i = out["results"].size();
        const Value* returned = of.returned(i);
        out["results"].push_back(mention(name(returned == nullptr ? result.name : returned->name()),
                                         result.type, result.has_symbol, result.symbol,
                                         result.attributes));
        if (returned != nullptr) add_port(of.output_port(i), *returned, out["results"].back());
      }
    }
    out["blocks"] = OrderedJson::array();
    for (Block* block : of.blocks()) {
      OrderedJson each;
      if (block->name()) each["name"] = context_.text(block->name());
      each["arguments"] = OrderedJson::array();
      for (const Value& argument : block->arguments()) {
        each["arguments"].push_back(value(argument));
        if (block != of.entry()) continue;
        add_port(of.input_port(argument.index()), argument, each["arguments"].back());
      }
      each["ops"] = OrderedJson::array();
      for (Op* inner : block->ops()) each["ops"].push_back(op(*inner));
      out["blocks"].push_back(std::move(each));
    }
    return out;
  }

  const Module& module_;
  const IRContext& context_;
};

}  // namespace

std::string emit_json(std::span<Module* const> modules) {
  OrderedJson out;
  out["schema"] = 1;
  out["modules"] = OrderedJson::array();
  for (const Module* module : modules) out["modules"].push_back(JsonEmitter(*module).module());
  // Text that is not UTF-8 never reaches here: the parser refuses it.
  return out.dump(2, ' ', true, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace mir
