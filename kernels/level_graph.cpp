// State graphs of levels for Python, which keeps their bytes.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <new>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "bindings.hpp"
#include "blocks_input.hpp"
#include "control.hpp"
#include "level_graph.hpp"
#include "level_graph_search.hpp"
#include "parkout.hpp"
#include "rush_space.hpp"

namespace nb = nanobind;

namespace unjam {

namespace {

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// What the spaces refer to.
struct PiecesInput {
  Layout layout;
  Blocks blocks;

  template <class Space>
  Space space() const {
    return Space(layout, blocks);
  }
};
struct RushInput {
  Layout layout;
  CarLines lines;
  RushGoal goal;
  Metric metric;

  template <class Space>
  Space space() const {
    return Space(layout, lines, goal, metric);
  }
};
struct LotInput {
  Layout layout;
  Lot lot;

  template <class Space>
  Space space() const {
    return Space(layout, lot);
  }
};

template <class Use>
auto with_space(const PiecesInput& input, Use&& use) {
  return with_words(input.blocks.packing().words,
                    [&](auto words) { return use(std::type_identity<KlotskiPieces<words>>{}); });
}
template <class Use>
auto with_space(const RushInput& input, Use&& use) {
  if (std::max(input.layout.width, input.layout.height) <= 6) return use(std::type_identity<RushSpace<6>>{});
  return use(std::type_identity<RushSpace<8>>{});
}
template <class Use>
auto with_space(const LotInput& input, Use&& use) {
  return with_words(input.lot.packing().words, [&](auto words) { return use(std::type_identity<Parkout<words>>{}); });
}

PiecesInput klotski_input(int width, int height, const Ints& board, const Ints& classes, const Ints& gates,
                          const Ints& gate_classes, const Pairs& goal, const std::string& metric) {
  Layout layout(width, height, board);
  Blocks blocks = klotski_blocks(layout, classes, gates, gate_classes, goal, metric);
  return {std::move(layout), std::move(blocks)};
}

// By lines where they are not too long, else piece by piece.
template <class Use>
auto with_rush_input(int width, int height, const Ints& board, int primary, int goal_cell, const std::string& metric,
                     Use&& use) {
  Layout layout(width, height, board);
  const RushGoal goal = rush_goal(layout, primary, goal_cell);
  const Metric chosen = rush_metric(metric);
  if (const auto lines = CarLines::of(layout)) return use(RushInput{std::move(layout), *lines, goal, chosen});
  Blocks blocks = rush_blocks(layout, goal, chosen);
  return use(PiecesInput{std::move(layout), std::move(blocks)});
}

LotInput parkout_input(int width, int height, const Ints& board, const Ints& noses, const std::vector<bool>& fixed,
                       const Ints& opens, const Ints& closes) {
  Layout layout(width, height, board);
  Lot lot = parkout_lot(layout, noses, fixed, opens, closes);
  return {std::move(layout), std::move(lot)};
}

struct Explored {
  std::string reason;  // why it stopped early, or ""
  std::uint64_t states = 0, expanded = 0, generated = 0, peak_bytes = 0;
  nb::object table;  // bytes, or None
};

// The table is made in the bytes that Python gets: it is as large as half of the memory that the search takes.
template <class Space>
const char* explore_space(Space& space, Meter& meter, Explored& explored) {
  LevelGraphSearch<Space> search(space, meter);
  const char* stop = search.run();
  explored.states = search.states();
  if (stop) return stop;
  if (!meter.take(search.bytes())) return "bytes";
  std::uint8_t* bytes = nullptr;
  {
    const nb::gil_scoped_acquire held;
    explored.table = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(search.bytes())));
    if (!explored.table.is_valid()) {
      PyErr_Clear();
      return "bytes";
    }
    bytes = reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(explored.table.ptr()));
  }
  std::memset(bytes, 0, search.bytes());
  return search.write(bytes);
}

template <class Input>
Explored explore(const Input& input, const Limits& limits, Control& control) {
  Explored explored;
  explored.table = nb::none();
  const char* stop = nullptr;
  {
    const nb::gil_scoped_release released;
    Meter meter(limits, control);
    try {
      stop = with_space(input, [&](auto type) {
        typename decltype(type)::type space = input.template space<typename decltype(type)::type>();
        return explore_space(space, meter, explored);
      });
    } catch (const std::bad_alloc&) {
      stop = "bytes";
    }
    explored.expanded = meter.expanded;
    explored.generated = meter.generated;
    explored.peak_bytes = meter.peak_bytes();
  }
  if (stop) {
    explored.reason = stop;
    explored.table = nb::none();
  }
  return explored;
}

// Keeps the bytes alive.
class KeptLevelGraph {
 public:
  template <class Input>
  KeptLevelGraph(Input input, Bytes table) : table_(std::move(table)) {
    graph_ = with_space(input, [&](auto type) -> std::unique_ptr<LevelGraph> {
      return std::make_unique<LevelGraphOf<typename decltype(type)::type, Input>>(
          std::make_unique<Input>(input), table_.data(), table_.size());
    });
  }

  std::int64_t value(const Ints& anchors) const { return graph_->value(anchors); }
  Moves next_moves(const Ints& anchors) { return graph_->next_moves(anchors); }
  std::vector<Ints> listed(Value value, std::uint64_t most) const { return graph_->listed(value, most); }
  std::vector<std::uint64_t> counts() const {
    const nb::gil_scoped_release released;
    return graph_->counts();
  }

  // The reason why it stopped early or "", and the number as little-endian bytes.
  std::pair<std::string, nb::bytes> solutions(const Ints& anchors, const Limits& limits, Control& control) const {
    SolutionCount count;
    {
      const nb::gil_scoped_release released;
      Meter meter(limits, control);
      try {
        count = graph_->solutions(anchors, meter);
      } catch (const std::bad_alloc&) {
        count.reason = "bytes";
      }
    }
    return {count.reason ? count.reason : "", nb::bytes(count.words.data(), count.words.size() * sizeof(std::uint64_t))};
  }

 private:
  Bytes table_;
  std::unique_ptr<LevelGraph> graph_;
};

}  // namespace

void bind_level_graph(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<Explored>(module, "Explored")
      .def_ro("reason", &Explored::reason)
      .def_ro("states", &Explored::states)
      .def_ro("expanded", &Explored::expanded)
      .def_ro("generated", &Explored::generated)
      .def_ro("peak_bytes", &Explored::peak_bytes)
      .def_ro("table", &Explored::table);
  nb::class_<KeptLevelGraph>(module, "LevelGraph")
      .def("value", &KeptLevelGraph::value, "anchors"_a)
      .def("next_moves", &KeptLevelGraph::next_moves, "anchors"_a)
      .def("solutions", &KeptLevelGraph::solutions, "anchors"_a, "limits"_a, "control"_a)
      .def("listed", &KeptLevelGraph::listed, "value"_a, "most"_a)
      .def("counts", &KeptLevelGraph::counts);

  module.def(
      "explore_klotski",
      [](int width, int height, const Ints& board, const Ints& classes, const Ints& gates, const Ints& gate_classes,
         const Pairs& goal, const std::string& metric, const Limits& limits, Control& control) {
        return explore(klotski_input(width, height, board, classes, gates, gate_classes, goal, metric), limits, control);
      },
      "width"_a, "height"_a, "board"_a, "classes"_a, "gates"_a, "gate_classes"_a, "goal"_a, "metric"_a, "limits"_a,
      "control"_a);
  module.def(
      "explore_rush",
      [](int width, int height, const Ints& board, int primary, int goal_cell, const std::string& metric,
         const Limits& limits, Control& control) {
        return with_rush_input(width, height, board, primary, goal_cell, metric,
                               [&](const auto& input) { return explore(input, limits, control); });
      },
      "width"_a, "height"_a, "board"_a, "primary"_a, "goal_cell"_a, "metric"_a, "limits"_a, "control"_a);
  module.def(
      "explore_parkout",
      [](int width, int height, const Ints& board, const Ints& noses, const std::vector<bool>& fixed,
         const Ints& opens, const Ints& closes, const Limits& limits, Control& control) {
        return explore(parkout_input(width, height, board, noses, fixed, opens, closes), limits, control);
      },
      "width"_a, "height"_a, "board"_a, "noses"_a, "fixed"_a, "opens"_a, "closes"_a, "limits"_a, "control"_a);

  module.def(
      "klotski_graph",
      [](int width, int height, const Ints& board, const Ints& classes, const Ints& gates, const Ints& gate_classes,
         const Pairs& goal, const std::string& metric, Bytes table) {
        return KeptLevelGraph(klotski_input(width, height, board, classes, gates, gate_classes, goal, metric),
                              std::move(table));
      },
      "width"_a, "height"_a, "board"_a, "classes"_a, "gates"_a, "gate_classes"_a, "goal"_a, "metric"_a, "table"_a);
  module.def(
      "rush_graph",
      [](int width, int height, const Ints& board, int primary, int goal_cell, const std::string& metric,
         Bytes table) {
        return with_rush_input(width, height, board, primary, goal_cell, metric,
                               [&](const auto& input) { return KeptLevelGraph(input, std::move(table)); });
      },
      "width"_a, "height"_a, "board"_a, "primary"_a, "goal_cell"_a, "metric"_a, "table"_a);
  module.def(
      "parkout_graph",
      [](int width, int height, const Ints& board, const Ints& noses, const std::vector<bool>& fixed,
         const Ints& opens, const Ints& closes, Bytes table) {
        return KeptLevelGraph(parkout_input(width, height, board, noses, fixed, opens, closes), std::move(table));
      },
      "width"_a, "height"_a, "board"_a, "noses"_a, "fixed"_a, "opens"_a, "closes"_a, "table"_a);
}

}  // namespace unjam
