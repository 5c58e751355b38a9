#include "rush_search.hpp"

#include <cstring>
#include <memory>

#include "rush_moves.hpp"
#include "rush_tables.hpp"
#include "sparse_set.hpp"

namespace unjam {

namespace {

template <int Side>
class RushSearch {
 public:
  using Tables = RushTables<Side>;
  using Children = typename Tables::Children;

  RushSearch(const Layout& layout, const CarLines& lines, const Tables& tables, RushGoal goal, Meter& meter)
      : moves_(layout, lines, tables, goal), tables_(tables), meter_(meter), seen_(tables.combinations, meter) {}

  Result run() {
    const char* stop = search();
    std::optional<Moves> path;
    if (solved_) path = moves();
    return layered_result(meter_, static_cast<int>(depth_), stop, std::move(path), layer_sizes(layers_, size_));
  }

 private:
  static constexpr std::uint64_t kMostStates = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kFirst = 512;  // states that there is room for at first

  struct State {
    std::uint64_t arrangements;  // as RushTables packs them
    std::uint32_t number;
    std::uint32_t parent;  // its place in the order of registration
  };

  // Returns why it stopped early, or nullptr. At any time no state of fewer than `depth_` moves is a goal.
  const char* search() {
    if (!seen_.ready() || !reserve()) return "bytes";
    std::uint32_t number = 0;
    for (int line = 0; line < Tables::kLines; ++line) {
      number += tables_.number[line][Tables::arrangement(tables_.start, line)];
    }
    seen_.add(number);
    states_[size_++] = {tables_.start, number, 0};
    layers_.push_back(0);
    if ((solved_ = moves_.is_goal(tables_.start))) return nullptr;
    for (std::uint64_t at = 0; at < size_;) {
      const std::uint64_t end = size_;
      layers_.push_back(end);
      ++depth_;
      while (at < end) {
        if (meter_.due()) {
          if (const char* stop = meter_.poll(depth_)) return stop;
        }
        if (!reserve()) return "bytes";
        const char* stop = expand(at++);
        if (stop || solved_) return stop;
      }
    }
    return nullptr;
  }

  const char* expand(std::uint64_t at) {
    const State state = states_[at];
    Children children = moves_.children_of(state.arrangements);
    if (at > 0) {
      const std::uint64_t parent = states_[state.parent].arrangements;
      const int line = RushMoves<Side>::changed(parent, state.arrangements);
      moves_.leave_out_known(children, line, Tables::arrangement(parent, line),
                             Tables::arrangement(state.arrangements, line));
    }
    Children goals;
    bool any_goal = false;
    for (int word = 0; word < Tables::kWords; ++word) {
      goals[word] = children[word] & moves_.goals()[word];
      any_goal |= goals[word] != 0;
    }
    if (any_goal) [[unlikely]] children = goals;
    std::uint64_t count = 0;
    for (const std::uint64_t word : children) count += std::popcount(word);
    const std::uint64_t left = meter_.nodes_left();
    const char* stop = nullptr;
    if (count > left) [[unlikely]] {
      stop = "nodes";
      count = left;
      cut(children, left);
    }
    meter_.expanded += !stop;
    meter_.generated += count;
    RushMoves<Side>::each(children, state.arrangements, [&](int line, int from, int to) {
      const std::uint32_t number = state.number - tables_.number[line][from] + tables_.number[line][to];
      states_[size_] = {RushMoves<Side>::moved(state.arrangements, line, from, to), number,
                        static_cast<std::uint32_t>(at)};
      size_ += seen_.add(number);  // without a branch, as nobody can foretell it
    });
    solved_ = any_goal && count > 0;
    return solved_ ? nullptr : stop;
  }

  // Leaves the first `left` children.
  static void cut(Children& children, std::uint64_t left) {
    for (std::uint64_t& word : children) {
      std::uint64_t kept = 0;
      for (; word && left > 0; --left, word &= word - 1) kept |= word & -word;
      word = kept;
    }
  }

  // Room for the children of one more state. False: the budget or the machine does not give it.
  bool reserve() {
    if (size_ + Tables::kFanout > capacity_ && !grow()) return false;
    return seen_.reserve(Tables::kFanout);
  }

  bool grow() {
    const std::uint64_t capacity = std::max(capacity_ * 2, kFirst);
    if (size_ + Tables::kFanout > kMostStates) return false;
    Pages pages = Pages::zeroed(capacity * sizeof(State), meter_);
    if (!pages.data()) return false;
    if (states_) std::memcpy(pages.data(), states_, size_ * sizeof(State));
    pages_ = std::move(pages);
    states_ = static_cast<State*>(pages_.data());
    capacity_ = capacity;
    return true;
  }

  Moves moves() const {
    Moves moves;
    for (std::uint64_t at = size_ - 1; at > 0; at = states_[at].parent) {
      moves.push_back(moves_.move(states_[states_[at].parent].arrangements, states_[at].arrangements));
    }
    std::reverse(moves.begin(), moves.end());
    return moves;
  }

  RushMoves<Side> moves_;
  const Tables& tables_;
  Meter& meter_;
  SparseSet seen_;
  Pages pages_;
  State* states_ = nullptr;  // in the order of registration, so layer by layer
  std::uint64_t size_ = 0, capacity_ = 0;
  std::vector<std::uint64_t> layers_;  // index of the first state of each layer
  std::uint32_t depth_ = 0;            // of the layer that is being filled
  bool solved_ = false;
};

template <int Side>
std::optional<Result> search(const Layout& layout, const CarLines& lines, RushGoal goal, Metric metric, Meter& meter) {
  const auto tables = std::make_unique<RushTables<Side>>(lines, metric);
  if (!tables->fits()) return std::nullopt;
  return RushSearch<Side>(layout, lines, *tables, goal, meter).run();
}

}  // namespace

std::optional<Result> search_lines(const Layout& layout, RushGoal goal, Metric metric, Meter& meter) {
  const auto lines = CarLines::of(layout);
  if (!lines) return std::nullopt;
  if (std::max(layout.width, layout.height) <= 6) return search<6>(layout, *lines, goal, metric, meter);
  return search<8>(layout, *lines, goal, metric, meter);
}

}  // namespace unjam
