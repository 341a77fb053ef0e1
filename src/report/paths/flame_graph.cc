#include "report/paths/flame_graph.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "report/escape.h"
#include "report/paths/flame_graph_page.h"

namespace pctally {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kThinnest = 10000;  ///< of all ticks, the part that is still drawn

/// Texts that are written once and referred to by number.
class Texts {
 public:
  int64_t number(const std::string& text) {
    const auto [entry, fresh] = known_.try_emplace(text, static_cast<int64_t>(texts_.size()));
    if (fresh) texts_.push_back(valid_utf8(text));
    return entry->second;
  }
  Json take() { return std::move(texts_); }

 private:
  std::unordered_map<std::string, int64_t> known_;
  Json texts_ = Json::array();
};

/// [parent, name, object, ticks, self, inlined] of every node, parents first.
Json nodes_of(const CallTreeNode& tree, uint64_t least, NameStyle style, Texts* texts) {
  Json nodes = Json::array();
  for_each_node(tree, least, [&](const CallTreeNode& node, int64_t parent) {
    nodes.push_back(
        Json::array({parent, texts->number(shown_name(style, node.frame)), texts->number(node.frame.object),
                     node.ticks, node.self, node.frame.inlined ? 1 : 0}));
  });
  return nodes;
}

/// No name may end the script it stands in.
std::string harmless(const std::string& json) {
  std::string text;
  for (char byte : json) {
    if (byte == '<' || byte == '>' || byte == '&')
      text.append(byte == '<' ? "\\u003c" : byte == '>' ? "\\u003e" : "\\u0026");
    else
      text.push_back(byte);
  }
  return text;
}

}  // namespace

std::string flame_graph(const Profile& profile, const CallTreeNode& tree, const FlameGraphOptions& options) {
  Texts texts;
  const uint64_t all = profile.ledger.ticks();
  Json nodes = nodes_of(tree, std::max<uint64_t>(1, all / kThinnest), options.names, &texts);
  Json data = {
      {"title", valid_utf8(options.title)},
      {"ticks", all},
      {"samples", account_of(profile).effective_samples},
      {"seconds", profile.counts_cpu_time() ? Json(seconds(duration_of(all, profile.period_ns))) : Json()},
      {"nodes", std::move(nodes)}};
  data["texts"] = texts.take();
  std::string page = kFlameGraphPage;
  const std::string place = "/*DATA*/";
  return page.replace(page.find(place), place.size(),
                      harmless(data.dump(-1, ' ', true, Json::error_handler_t::replace)));
}

}  // namespace pctally
