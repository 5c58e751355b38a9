// Atlases for Python: bytes that it allocates, keeps and maps are filled and looked up here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "control.hpp"
#include "tiles_atlas.hpp"
#include "tiles_atlas_search.hpp"
#include "tiles_atlas_view.hpp"

namespace nb = nanobind;

namespace unjam::tiles {

using Bytes = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ConstBytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static void require(bool holds, const char* otherwise) {
  if (!holds) throw std::invalid_argument(std::string("atlas: ") + otherwise);
}

static AtlasFrame checked_frame(int width, int height, int blank_goal) {
  require(width >= 2 && width <= kMaxSide && height >= 2 && height <= kMaxSide && width * height <= kMaxRankedCells,
          "a board has 2 to 6 rows and columns and up to 12 cells");
  require(blank_goal >= 0 && blank_goal < width * height, "blank_goal is off the board");
  return {width, height, blank_goal};
}

static bool is_slide(const std::string& metric) {
  require(metric == "step" || metric == "slide", "the metric is step or slide");
  return metric == "slide";
}

static std::uint64_t atlas_bytes(int width, int height) {
  const AtlasFrame frame = checked_frame(width, height, 0);
  return AtlasSpace(frame.width(), frame.height(), frame.blank_goal(), false).bytes();
}

struct BuiltLayers : AtlasLayers {
  std::string reason;
};

static BuiltLayers build_atlas(int width, int height, int blank_goal, const std::string& metric, const Bytes& table,
                               const Limits& limits, Control& control) {
  const AtlasFrame frame = checked_frame(width, height, blank_goal);
  const AtlasSpace space(frame.width(), frame.height(), frame.blank_goal(), is_slide(metric));
  require(table.size() == space.bytes(), "the table has another size");
  nb::gil_scoped_release released;
  BuiltLayers layers;
  try {
    Meter meter(limits, control);
    const char* reason = AtlasSearch(space, table.data(), meter).fill(layers);
    layers.reason = reason ? reason : "";
  } catch (const std::bad_alloc&) {
    layers.reason = "bytes";
  }
  return layers;
}

// Keeps the bytes alive.
class KeptAtlas {
 public:
  KeptAtlas(int width, int height, int blank_goal, const std::string& metric, ConstBytes table,
            const std::vector<std::uint64_t>& counts, int early, int late, ConstBytes boards)
      : table_(std::move(table)),
        boards_(std::move(boards)),
        view_(checked_frame(width, height, blank_goal), is_slide(metric), table_.data(), table_.size(), counts, early,
              late, aligned(boards_), boards_.size() / sizeof(std::uint32_t)) {}

  int distance(const std::vector<int>& cells) const {
    const RankedBoard board = own(cells);
    return view_.solvable(board) ? view_.distance(board) : -1;
  }

  Moves solution(const std::vector<int>& cells) const {
    const RankedBoard board = own(cells);
    require(view_.solvable(board), "the board is unsolvable");
    const std::vector<int> visited = view_.way(board);
    Moves moves;
    for (std::size_t i = 1; i < visited.size(); ++i) moves.emplace_back(visited[i], visited[i - 1]);
    return moves;
  }

  bool is_listed(int depth) const {
    check(depth);
    return view_.is_listed(depth);
  }

  std::vector<std::vector<int>> listed(int depth) const {
    require(is_listed(depth), "this depth is not listed");
    return view_.listed(depth);
  }

  std::vector<int> sample(int depth, std::uint64_t seed) const {
    check(depth);
    nb::gil_scoped_release released;
    return view_.sample(depth, seed);
  }

 private:
  static const std::uint32_t* aligned(const ConstBytes& boards) {
    require(reinterpret_cast<std::uintptr_t>(boards.data()) % sizeof(std::uint32_t) == 0 &&
                boards.size() % sizeof(std::uint32_t) == 0,
            "the list does not consist of aligned words");
    return reinterpret_cast<const std::uint32_t*>(boards.data());
  }

  void check(int depth) const { require(depth >= 0 && depth < view_.depths(), "there is no such depth"); }

  RankedBoard own(const std::vector<int>& cells) const {
    const int size = view_.frame().width() * view_.frame().height();
    std::uint32_t seen = 0;
    for (const int cell : cells) {
      if (cell >= 0 && cell < size) seen |= 1u << cell;
    }
    require(cells.size() == static_cast<std::size_t>(size) && seen == (1u << size) - 1,
            "the board is not a permutation of its cells");
    return view_.frame().own(cells);
  }

  ConstBytes table_, boards_;
  AtlasView view_;
};

}  // namespace unjam::tiles

namespace unjam {

void bind_tiles_atlas(nb::module_& module) {
  using tiles::BuiltLayers, tiles::KeptAtlas;
  module.def("atlas_bytes", &tiles::atlas_bytes, nb::arg("width"), nb::arg("height"));
  nb::class_<BuiltLayers>(module, "AtlasLayers")
      .def_ro("reason", &BuiltLayers::reason)
      .def_ro("counts", &BuiltLayers::counts)
      .def_ro("early", &BuiltLayers::early)
      .def_ro("late", &BuiltLayers::late)
      .def_prop_ro("boards", [](const BuiltLayers& layers) {
        return nb::bytes(layers.boards.data(), layers.boards.size() * sizeof(std::uint32_t));
      });
  module.def("build_atlas", &tiles::build_atlas, nb::arg("width"), nb::arg("height"), nb::arg("blank_goal"),
             nb::arg("metric"), nb::arg("table"), nb::arg("limits"), nb::arg("control"));
  nb::class_<KeptAtlas>(module, "TilesAtlas")
      .def(nb::init<int, int, int, const std::string&, tiles::ConstBytes, const std::vector<std::uint64_t>&, int, int,
                    tiles::ConstBytes>(),
           nb::arg("width"), nb::arg("height"), nb::arg("blank_goal"), nb::arg("metric"), nb::arg("table"),
           nb::arg("counts"), nb::arg("early"), nb::arg("late"), nb::arg("boards"))
      .def("distance", &KeptAtlas::distance, nb::arg("board"))
      .def("solution", &KeptAtlas::solution, nb::arg("board"))
      .def("is_listed", &KeptAtlas::is_listed, nb::arg("depth"))
      .def("listed", &KeptAtlas::listed, nb::arg("depth"))
      .def("sample", &KeptAtlas::sample, nb::arg("depth"), nb::arg("seed"));
}

}  // namespace unjam
