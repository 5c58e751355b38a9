#include "rush_search.hpp"

#include <cstring>
#include <memory>

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
      : layout_(layout), lines_(lines), tables_(tables), meter_(meter), seen_(tables.combinations, meter) {
    for (int line = 0; line < Tables::kLines; ++line) {
      const CarLine& cars = lines.line[Tables::line_index(line)];
      for (int at = 0; at < cars.cars; ++at) {
        if (goal.cell < 0 || cars.car[at].piece != goal.primary) continue;
        for (int arrangement = 0; arrangement < cars.count; ++arrangement) {
          if (cell(line, cars.arrangement[arrangement].first[at]) != goal.cell) continue;
          goals_[line / Tables::kLinesPerWord] |= std::uint64_t{1} << slot(line, arrangement);
          starts_at_goal_ |= arrangement == cars.start;
        }
      }
    }
  }

  Result run() {
    const char* stop = search();
    Result result;
    if (solved_) {
      result.outcome = "optimal";
      result.length = result.lower = result.upper = static_cast<int>(depth_);
      result.moves = moves();
    } else if (stop) {
      result.outcome = "bounded";
      result.reason = stop;
      result.lower = static_cast<int>(depth_);
    } else {
      result.outcome = "unsolvable";
    }
    result.expanded = meter_.expanded;
    result.generated = meter_.generated;
    result.peak_states = size_;
    result.peak_bytes = meter_.peak_bytes();
    for (std::size_t at = 0; at < layers_.size(); ++at) {
      const std::uint64_t end = at + 1 < layers_.size() ? layers_[at + 1] : size_;
      if (end > layers_[at]) result.profile.push_back(end - layers_[at]);
    }
    return result;
  }

 private:
  static constexpr std::uint64_t kMostStates = std::uint64_t{1} << 32;
  static constexpr std::uint64_t kFirst = 512;  // states that there is room for at first

  struct State {
    std::uint64_t arrangements;  // as RushTables packs them
    std::uint32_t number;
    std::uint32_t parent;  // its place in the order of registration
  };

  // Where an arrangement's bit is within its line's word of Children.
  static constexpr int slot(int line, int arrangement) {
    return line % Tables::kLinesPerWord * Tables::kSlots + arrangement;
  }

  int cell(int line, int along) const {
    return line < Side ? line * layout_.width + along : along * layout_.width + line - Side;
  }

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
    if ((solved_ = starts_at_goal_)) return nullptr;
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
    Children children = children_of(state.arrangements);
    if (at > 0) leave_out_known(children, states_[state.parent].arrangements, state.arrangements);
    Children goals;
    bool any_goal = false;
    for (int word = 0; word < Tables::kWords; ++word) {
      goals[word] = children[word] & goals_[word];
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
    for (int word = 0; word < Tables::kWords; ++word) {
      for (std::uint64_t bits = children[word]; bits; bits &= bits - 1) {
        const int at_bit = std::countr_zero(bits);
        const int line = word * Tables::kLinesPerWord + at_bit / Tables::kSlots, to = at_bit % Tables::kSlots;
        const int from = Tables::arrangement(state.arrangements, line);
        const std::uint64_t change = static_cast<std::uint64_t>(from ^ to) << line * Tables::kBits;
        const std::uint32_t number = state.number - tables_.number[line][from] + tables_.number[line][to];
        states_[size_] = {state.arrangements ^ change, number, static_cast<std::uint32_t>(at)};
        size_ += seen_.add(number);  // without a branch, as nobody can foretell it
      }
    }
    solved_ = any_goal && count > 0;
    return solved_ ? nullptr : stop;
  }

  // Every state that one move leads to.
  Children children_of(std::uint64_t arrangements) const {
    std::uint64_t covered_by_rows = 0, covered_by_columns = 0;
#pragma GCC unroll 16
    for (int line = 0; line < Side; ++line) {
      covered_by_rows |= tables_.cover[line][Tables::arrangement(arrangements, line)];
      covered_by_columns |= tables_.cover[Side + line][Tables::arrangement(arrangements, Side + line)];
    }
    Children children{};
#pragma GCC unroll 16
    for (int line = 0; line < Tables::kLines; ++line) {
      const std::uint64_t covered = line < Side ? covered_by_columns : covered_by_rows;
      const auto crossing = static_cast<std::uint8_t>(covered >> line % Side * 8);
      const std::uint64_t to = tables_.to[line][Tables::arrangement(arrangements, line)][crossing];
      children[line / Tables::kLinesPerWord] |= to << slot(line, 0);
    }
    return children;
  }

  // Takes away children that are known or that another state of this depth leads to as well:
  //
  // - those of the car that moved last, for the parent leads there or came from there;
  // - those of a line before the line that moved last, in the order of line numbers, where the two moves can be
  //   exchanged: the lines are parallel, or the first move's way does not touch where they cross. Of the states before
  //   a state at its least depth, take one whose last move is in the last line: it is never left out there.
  void leave_out_known(Children& children, std::uint64_t parent, std::uint64_t state) const {
    const int line = std::countr_zero(parent ^ state) / Tables::kBits;
    const int before = Tables::arrangement(parent, line), after = Tables::arrangement(state, line);
    const int own_word = line / Tables::kLinesPerWord;
    const std::uint64_t same = static_cast<std::uint64_t>(tables_.same_car[line][before][after]) << slot(line, 0);
    const std::uint32_t touched = line < Side ? ~0u : tables_.span[line][before][after];
    for (int word = 0; word < Tables::kWords; ++word) {
      std::uint64_t keep = kKeep.from_line[line][word];
      if (word < Tables::kWords / 2) {
        keep &= kKeep.lines[touched >> word * Tables::kLinesPerWord & ((1 << Tables::kLinesPerWord) - 1)];
      }
      children[word] &= keep & ~(word == own_word ? same : 0);
    }
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
      const std::uint64_t state = states_[at].arrangements, parent = states_[states_[at].parent].arrangements;
      const int line = std::countr_zero(parent ^ state) / Tables::kBits;
      const CarLine& cars = lines_.line[Tables::line_index(line)];
      const int before = Tables::arrangement(parent, line), after = Tables::arrangement(state, line);
      const int car = cars.mover(before, after);
      moves.emplace_back(cell(line, cars.arrangement[before].first[car]), cell(line, cars.arrangement[after].first[car]));
    }
    std::reverse(moves.begin(), moves.end());
    return moves;
  }

  // Bits of Children.
  struct Keep {
    std::array<Children, Tables::kLines> from_line{};  // this line and those behind it; for a column, rows as well
    std::array<std::uint64_t, 1 << Tables::kLinesPerWord> lines{};  // by the lines of a word

    constexpr Keep() {
      for (int line = 0; line < Tables::kLines; ++line) {
        for (int other = 0; other < Tables::kLines; ++other) {
          const bool parallel = (line < Side) == (other < Side);
          if (parallel && other < line) continue;
          from_line[line][other / Tables::kLinesPerWord] |= Tables::kLine << slot(other, 0);
        }
      }
      for (std::size_t some = 0; some < lines.size(); ++some) {
        for (int line = 0; line < Tables::kLinesPerWord; ++line) {
          if (some >> line & 1) lines[some] |= Tables::kLine << slot(line, 0);
        }
      }
    }
  };
  static constexpr Keep kKeep{};

  const Layout& layout_;
  const CarLines& lines_;
  const Tables& tables_;
  Meter& meter_;
  SparseSet seen_;
  Pages pages_;
  State* states_ = nullptr;  // in the order of registration, so layer by layer
  std::uint64_t size_ = 0, capacity_ = 0;
  std::vector<std::uint64_t> layers_;  // index of the first state of each layer
  std::uint32_t depth_ = 0;            // of the layer that is being filled
  Children goals_{};                   // the primary's arrangements at its exit
  bool starts_at_goal_ = false, solved_ = false;
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
