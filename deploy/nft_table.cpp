// SPDX-License-Identifier: GPL-3.0-or-later
#include "deploy/nft_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <span>

namespace headrace {
namespace {

constexpr std::string_view kTable = "inet headrace";

using Elements = std::vector<NftTable::Element>;

enum class Show : std::uint8_t { keys, verdicts };

std::string braced(const Elements& elements, Show show) {
  std::string text{"{"};
  for (const NftTable::Element& element : elements) {
    text.append(text.size() == 1 ? " " : ", ").append(element.key);
    if (show == Show::keys) continue;
    text.append(" : ").append(element.chain.empty() ? "return" : "goto ").append(element.chain);
  }
  return text + " }";
}

Show all_of(const NftTable::Set& set) { return set.kind == "map" ? Show::verdicts : Show::keys; }

std::string text_of(const NftTable::Set& set) {
  std::string text = "  " + set.kind + " " + set.name + " {\n" + set.properties;
  if (!set.elements.empty()) text += "    elements = " + braced(set.elements, all_of(set)) + "\n";
  return text + "  }\n";
}

std::string text_of(const NftTable::Chain& chain) {
  std::string text = "\n  chain " + chain.name + " {\n";
  if (!chain.hook.empty()) text += "    type " + chain.hook + "; policy accept;\n";
  return text + chain.rules + "  }\n";
}

std::string in_table(const std::string& body) {
  return body.empty() ? std::string{} : "table " + std::string{kTable} + " {\n" + body + "}\n";
}

std::string command(std::string_view verb, std::string_view kind, std::string_view name,
                    std::string_view rest = {}) {
  std::string text{verb};
  text.append(" ").append(kind).append(" ").append(kTable).append(" ").append(name);
  if (!rest.empty()) text.append(" ").append(rest);
  return text + "\n";
}

// What one has and the other has not, sorted. The ends that they share, mostly nearly all, are passed over.
std::pair<Elements, Elements> difference(std::span<const NftTable::Element> before,
                                         std::span<const NftTable::Element> now) {
  const auto shared = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
  before = {shared.first, before.end()};
  now = {shared.second, now.end()};
  const auto end = std::mismatch(before.rbegin(), before.rend(), now.rbegin(), now.rend());
  Elements old{before.begin(), end.first.base()};
  Elements fresh{now.begin(), end.second.base()};
  std::sort(old.begin(), old.end());
  std::sort(fresh.begin(), fresh.end());
  Elements out;
  Elements in;
  std::set_difference(old.begin(), old.end(), fresh.begin(), fresh.end(), std::back_inserter(out));
  std::set_difference(fresh.begin(), fresh.end(), old.begin(), old.end(), std::back_inserter(in));
  return {out, in};
}

template <class Named>
std::map<std::string_view, const Named*> by_name(const std::vector<Named>& all) {
  std::map<std::string_view, const Named*> found;
  for (const Named& one : all) found.emplace(one.name, &one);
  return found;
}

// The parts of a change, in the order in which nft can follow them: what is new is there before anything
// names it, and nothing names any more what goes.
struct Change {
  std::string made;      // sets and empty chains
  std::string emptied;   // chains
  std::string elements;  // out, then in
  std::string filled;    // chains
  std::string gone;

  void compare(const NftTable::Set& before, const NftTable::Set& now) {
    const auto [out, in] = difference(before.elements, now.elements);
    if (!out.empty()) elements += command("delete", "element", now.name, braced(out, Show::keys));
    if (!in.empty()) elements += command("add", "element", now.name, braced(in, all_of(now)));
  }

  void compare(const NftTable& before, const NftTable& now) {
    auto old_sets = by_name(before.sets);
    for (const NftTable::Set& set : now.sets) {
      const auto old = old_sets.extract(set.name);
      if (old)
        compare(*old.mapped(), set);
      else
        made += text_of(set);
    }
    auto old_chains = by_name(before.chains);
    for (const NftTable::Chain& chain : now.chains) {
      const auto old = old_chains.extract(chain.name);
      if (old && old.mapped()->rules == chain.rules) continue;
      if (old)
        emptied += command("flush", "chain", chain.name);
      else
        made += text_of(NftTable::Chain{chain.name, chain.hook, {}});
      filled += text_of(chain);
    }
    for (const auto& [name, set] : old_sets) gone += command("delete", set->kind, name);
    // Behind the maps, whose elements name them.
    for (const auto& [name, chain] : old_chains) {
      emptied += command("flush", "chain", name);
      gone += command("delete", "chain", name);
    }
  }
};

// What no change can turn into the other: a base chain's hook, a set's type, a counter.
bool is_of_one_make(const NftTable& before, const NftTable& now) {
  const auto old_sets = by_name(before.sets);
  const auto old_chains = by_name(before.chains);
  return before.counters == now.counters &&
         std::all_of(now.sets.begin(), now.sets.end(),
                     [&](const NftTable::Set& set) {
                       const auto old = old_sets.find(set.name);
                       return old == old_sets.end() ||
                              (old->second->kind == set.kind && old->second->properties == set.properties);
                     }) &&
         std::all_of(now.chains.begin(), now.chains.end(), [&](const NftTable::Chain& chain) {
           const auto old = old_chains.find(chain.name);
           return old == old_chains.end() || old->second->hook == chain.hook;
         });
}

}  // namespace

std::string render(const NftTable& table) {
  std::string body;
  for (const std::string& name : table.counters) body += "  counter " + name + " {}\n";
  for (const NftTable::Set& set : table.sets) body += text_of(set);
  for (const NftTable::Chain& chain : table.chains) body += text_of(chain);
  return render_nft_removal() + in_table(body);
}

// Naming the table first makes the deletion succeed where there is none; nft applies all or nothing.
std::string render_nft_removal() {
  const std::string table{kTable};
  return "table " + table + "\ndelete table " + table + "\n";
}

std::string render_change(const NftTable& before, const NftTable& now) {
  if (!is_of_one_make(before, now)) return render(now);
  Change change;
  change.compare(before, now);
  return in_table(change.made) + change.emptied + change.elements + in_table(change.filled) + change.gone;
}

// FNV-1a, folded to 32 bits: std::hash may differ from build to build.
std::string name_for(std::string_view stem, std::string_view content) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : content) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "_%08x", static_cast<unsigned>(hash ^ (hash >> 32)));
  return std::string{stem} + digits.data();
}

}  // namespace headrace
