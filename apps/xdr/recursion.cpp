#include "xdr/recursion.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>

namespace xdr_compiler {

namespace {

bool is_part(const declaration& what) noexcept {
  return what.form == shape::single || what.form == shape::array;
}
bool is_composed(const definition& type) noexcept {
  return type.as<struct_body>() != nullptr || type.as<union_body>() != nullptr;
}

/// A typedef needs no complete type; a struct with a member of that type does.
void add_uses(std::vector<use>& into, const definition& from, const declaration& by) {
  if (by.type == nullptr) return;
  if (is_composed(*by.type)) {
    into.push_back({by.type, is_part(by) && from.as<alias_body>() == nullptr});
    return;
  }
  into.push_back({by.type, true});
  if (from.as<alias_body>() != nullptr) return;
  std::set<const definition*> seen;
  const declaration* now = &by;
  while (is_part(*now) && now->type != nullptr && now->type->as<alias_body>() != nullptr &&
         seen.insert(now->type).second)
    now = &now->type->as<alias_body>()->is;
  if (now != &by && now->type != nullptr && is_composed(*now->type)) into.push_back({now->type, is_part(*now)});
}

/// A path of types, each within the one before, that ends where it began.
class cycle_finder {
 public:
  explicit cycle_finder(diagnostics& errors) : errors_{&errors} {}

  void visit(const definition& now) {
    state& mine = states_[&now];
    if (mine == state::done) return;
    if (mine == state::open) return report(now);
    mine = state::open;
    path_.push_back(&now);
    for (const use& each : uses_of(now)) {
      if (each.is_within) visit(*each.of);
    }
    path_.pop_back();
    states_[&now] = state::done;
  }
  [[nodiscard]] bool found() const noexcept { return found_; }

 private:
  enum class state { fresh, open, done };

  void report(const definition& again) {
    found_ = true;
    std::string text;
    const auto begin = std::find(path_.begin(), path_.end(), &again);
    const bool are_aliases =
        std::all_of(begin, path_.end(), [](const definition* each) { return each->as<alias_body>() != nullptr; });
    for (auto each = begin; each != path_.end(); ++each) text += "'" + (*each)->name + "' -> ";
    text += "'" + again.name + "'";
    errors_->error(again.at, are_aliases ? "the typedef names itself: " + text + ": use a struct"
                                         : "the type contains itself: " + text + ": use a pointer or <> on the way");
  }

  diagnostics* errors_;
  std::map<const definition*, state> states_;
  std::vector<const definition*> path_;
  bool found_ = false;
};

std::vector<const declaration*> declarations_of(const definition& all) {
  std::vector<const declaration*> found;
  if (const auto* alias = all.as<alias_body>()) {
    found.push_back(&alias->is);
  } else if (const auto* members = all.as<struct_body>()) {
    for (const declaration& each : members->members) found.push_back(&each);
  } else if (const auto* with = all.as<union_body>()) {
    found.push_back(&with->discriminant);
    for (const union_arm& each : with->arms) found.push_back(&each.what);
  } else if (const auto* program = all.as<program_body>()) {
    for (const version& each : program->versions) {
      for (const procedure& one : each.procedures) {
        found.push_back(&one.result);
        for (const declaration& argument : one.arguments) found.push_back(&argument);
      }
    }
  }
  return found;
}

/// Puts definitions behind what they need.
class sorter {
 public:
  std::vector<emission> sort(const specification& all) {
    for (const auto& each : all.definitions) find_groups(*each);
    return std::move(sorted_);
  }

 private:
  struct mark {
    std::size_t index = 0;
    std::size_t lowest = 0;
    bool is_open = false;
  };

  /// Tarjan's strongly connected components: a group of types that use each other ends behind all that it uses.
  void find_groups(const definition& now) {
    if (marks_.contains(&now)) return;
    const std::size_t index = marks_.size();
    marks_[&now] = {index, index, true};
    open_.push_back(&now);
    for (const use& each : uses_of(now)) {
      find_groups(*each.of);
      const mark& other = marks_[each.of];
      if (other.is_open) marks_[&now].lowest = std::min(marks_[&now].lowest, other.lowest);
    }
    if (marks_[&now].lowest != index) return;
    const auto first = std::find(open_.begin(), open_.end(), &now);
    std::vector<const definition*> group{first, open_.end()};
    open_.erase(first, open_.end());
    for (const definition* const each : group) marks_[each].is_open = false;
    for (const definition* const each : group) emit(*each, group);
  }
  /// Within a group what is part of a type comes first; the rest of the group is declared in front.
  void emit(const definition& now, const std::vector<const definition*>& group) {
    if (!begun_.insert(&now).second) return;
    const std::vector<use> uses = uses_of(now);
    for (const use& each : uses) {
      if (each.is_within && std::find(group.begin(), group.end(), each.of) != group.end()) emit(*each.of, group);
    }
    emission one{&now, {}};
    for (const use& each : uses) {
      if (each.of != &now && !done_.contains(each.of) && declared_.insert(each.of).second)
        one.forward.push_back(each.of);
    }
    done_.insert(&now);
    sorted_.push_back(std::move(one));
  }

  std::map<const definition*, mark> marks_;
  std::vector<const definition*> open_;
  std::set<const definition*> begun_;
  std::set<const definition*> done_;
  std::set<const definition*> declared_;
  std::vector<emission> sorted_;
};

}  // namespace

std::vector<use> uses_of(const definition& type) {
  std::vector<use> found;
  for (const declaration* const each : declarations_of(type)) add_uses(found, type, *each);
  return found;
}

const definition* pointed_to(const declaration& what) {
  const declaration& pointer = without_aliases(what);
  if (pointer.form != shape::optional || pointer.type == nullptr) return nullptr;
  declaration target = pointer;
  target.form = shape::single;
  const declaration& behind = without_aliases(target);
  const definition* const type = &behind == &target ? pointer.type : behind.type;
  return behind.form == shape::single && type != nullptr && type->as<struct_body>() != nullptr ? type : nullptr;
}

bool find_endless_types(const specification& all, diagnostics& errors) {
  cycle_finder finder{errors};
  for (const auto& each : all.definitions) finder.visit(*each);
  return !finder.found();
}

std::set<const definition*> find_linked_lists(const specification& all) {
  std::set<const definition*> links;
  for (const auto& each : all.definitions) {
    const auto* const members = each->as<struct_body>();
    if (members != nullptr && !members->members.empty() && pointed_to(members->members.back()) == each.get())
      links.insert(each.get());
  }
  std::set<const definition*> pointed;
  for (const auto& each : all.definitions) {
    for (const declaration* const one : declarations_of(*each)) {
      if (one->type == nullptr) continue;
      const auto* const mine = each->as<struct_body>();
      const bool is_link = mine != nullptr && one == &mine->members.back() && links.contains(each.get()) &&
                           pointed_to(*one) == each.get();
      if (is_link) continue;
      if (const definition* const target = pointed_to(*one)) {
        pointed.insert(target);
        if (target == each.get()) links.erase(target);
        continue;
      }
      const bool names_only = each->as<alias_body>() != nullptr && one->form == shape::single;
      declaration element = *one;
      element.form = shape::single;
      const declaration& behind = without_aliases(element);
      const definition* const used = &behind == &element ? one->type : behind.type;
      if (!names_only && behind.form == shape::single && used != nullptr) links.erase(used);
    }
  }
  std::erase_if(links, [&](const definition* each) { return !pointed.contains(each); });
  return links;
}

std::vector<emission> emission_order(const specification& all) {
  return sorter{}.sort(all);
}

}  // namespace xdr_compiler
