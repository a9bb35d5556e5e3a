// Renders pictures of modules for Graphviz and Mermaid.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>

#include "text/emit/emit.hpp"

namespace mir {

namespace {

/// A picture as text; `Language` has the spelling of its parts.
template <class Language>
class Rendering {
 public:
  explicit Rendering(const Picture& picture) : picture_(picture) {
    nodes_.resize(picture.clusters.size());
    children_.resize(picture.clusters.size());
    for (std::size_t i = 0; i < picture.nodes.size(); ++i) {
      nodes_[picture.nodes[i].cluster].push_back(i);
    }
    for (std::size_t i = 1; i < picture.clusters.size(); ++i) {
      children_[picture.clusters[i].parent].push_back(i);
    }
  }

  std::string run() {
    text_ = Language::kBegin;
    cluster(0, 1);
    for (const PictureEdge& edge : picture_.edges) line(1, Language::edge(edge));
    text_ += Language::kEnd;
    return std::move(text_);
  }

 private:
  void line(std::size_t depth, std::string_view text) {
    text_.append(2 * depth, ' ');
    text_ += text;
    text_ += '\n';
  }

  void cluster(std::size_t number, std::size_t depth) {
    for (const std::size_t node : nodes_[number]) {
      line(depth, Language::node(node, picture_.nodes[node]));
    }
    for (const std::size_t child : children_[number]) {
      line(depth, Language::begin(child, picture_.clusters[child]));
      cluster(child, depth + 1);
      text_.append(2 * depth, ' ');
      text_ += Language::kClose;
    }
  }

  const Picture& picture_;
  std::vector<std::vector<std::size_t>> nodes_, children_;  // by cluster
  std::string text_;
};

std::string lines_text(const std::vector<std::string>& lines,
                       std::string (*escape)(std::string_view), std::string_view between) {
  std::string text;
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : between, escape(line));
  }
  return text;
}

struct Graphviz {
  static constexpr std::string_view kBegin =
      "digraph mir {\n"
      "  graph [fontname=\"sans-serif\", style=rounded, color=gray];\n"
      "  node [fontname=\"sans-serif\", shape=box, style=rounded];\n"
      "  edge [fontname=\"sans-serif\", fontsize=10];\n";
  static constexpr std::string_view kEnd = "}\n";
  static constexpr std::string_view kClose = "}\n";

  static std::string escape(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '\n') {
        out += "\\n";
      } else {
        out += c;
      }
    }
    return out;
  }

  static std::string node(std::size_t number, const PictureNode& node) {
    const std::string_view style =
        node.kind == PictureNode::Kind::kOp ? "" : "shape=oval, style=solid, ";
    return fmt::format("n{} [{}label=\"{}\"];", number, style,
                       lines_text(node.lines, escape, "\\n"));
  }

  static std::string begin(std::size_t number, const PictureCluster& cluster) {
    return fmt::format("subgraph cluster_{} {{ label=\"{}\";", number, escape(cluster.title));
  }

  static std::string edge(const PictureEdge& edge) {
    std::string style;
    if (!edge.label.empty()) style = fmt::format("label=\"{}\"", escape(edge.label));
    if (edge.is_control) style += style.empty() ? "style=dashed" : ", style=dashed";
    if (edge.is_control && edge.from >= edge.to) style += ", constraint=false";
    return style.empty() ? fmt::format("n{} -> n{};", edge.from, edge.to)
                         : fmt::format("n{} -> n{} [{}];", edge.from, edge.to, style);
  }
};

struct Mermaid {
  static constexpr std::string_view kBegin = "flowchart TD\n";
  static constexpr std::string_view kEnd = "";
  static constexpr std::string_view kClose = "end\n";

  static std::string escape(std::string_view text) {
    constexpr std::string_view kMeaningful = "\"#<>&`\\\n";
    std::string out;
    for (const char c : text) {
      if (kMeaningful.find(c) == kMeaningful.npos) {
        out += c;
      } else {
        out += fmt::format("#{};", static_cast<int>(c));
      }
    }
    return out;
  }

  static std::string node(std::size_t number, const PictureNode& node) {
    const bool is_op = node.kind == PictureNode::Kind::kOp;
    return fmt::format("n{}{}\"{}\"{}", number, is_op ? "[" : "([",
                       lines_text(node.lines, escape, "<br>"), is_op ? "]" : "])");
  }

  static std::string begin(std::size_t number, const PictureCluster& cluster) {
    return fmt::format("subgraph c{}[\"{}\"]", number, escape(cluster.title));
  }

  static std::string edge(const PictureEdge& edge) {
    const std::string label = edge.label.empty() ? "" : fmt::format("|\"{}\"|", escape(edge.label));
    return fmt::format("n{} {}{} n{}", edge.from, edge.is_control ? "-.->" : "-->", label, edge.to);
  }
};

}  // namespace

std::string emit_dot(const Picture& picture) {
  return Rendering<Graphviz>(picture).run();
}

std::string emit_mermaid(const Picture& picture) {
  return Rendering<Mermaid>(picture).run();
}

}  // namespace mir
