// The Python module: registers what all searches share, then each family's own bindings.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "control.hpp"

namespace nb = nanobind;

namespace unjam {

static bool supports_v3() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("x86-64-v3");
#else
  return false;
#endif
}

static void bind_control(nb::module_& module) {
  nb::class_<Control>(module, "Control")
      .def(nb::init<>())
      .def("cancel", [](Control& control) { control.cancelled = true; })
      .def_prop_ro("cancelled", [](const Control& control) { return control.cancelled.load(); })
      .def_prop_ro("expanded", [](const Control& control) { return control.expanded.load(); })
      .def_prop_ro("generated", [](const Control& control) { return control.generated.load(); })
      .def_prop_ro("depth", [](const Control& control) { return control.depth.load(); });
  nb::class_<Limits>(module, "Limits")
      .def(nb::init<double, std::uint64_t, std::uint64_t>(), nb::arg("seconds"), nb::arg("nodes"), nb::arg("bytes"))
      .def_ro("seconds", &Limits::seconds)
      .def_ro("nodes", &Limits::nodes)
      .def_ro("bytes", &Limits::bytes);
  nb::class_<Result>(module, "Result")
      .def_ro("outcome", &Result::outcome)
      .def_ro("reason", &Result::reason)
      .def_ro("length", &Result::length)
      .def_ro("lower", &Result::lower)
      .def_ro("upper", &Result::upper)
      .def_ro("moves", &Result::moves)
      .def_ro("expanded", &Result::expanded)
      .def_ro("generated", &Result::generated)
      .def_ro("peak_states", &Result::peak_states)
      .def_ro("peak_bytes", &Result::peak_bytes)
      .def_ro("profile", &Result::profile);
}

}  // namespace unjam

NB_MODULE(KERNELS_MODULE, module) {
  nanobind::set_leak_warnings(false);  // an exit amid a search leaves its Control alive
  module.def("supports_v3", &unjam::supports_v3);
  unjam::bind_control(module);
  unjam::bind_blocks(module);
  unjam::bind_klotski_kind(module);
  unjam::bind_level_graph(module);
  unjam::bind_rush_bulk(module);
  unjam::bind_tiles_patterns(module);
  unjam::bind_tiles(module);
  unjam::bind_tiles_split(module);
  unjam::bind_tiles_atlas(module);
  unjam::bind_tiles_upper(module);
}
