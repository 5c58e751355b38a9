// Each family's own bindings, called by module.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace unjam {

void bind_blocks(nanobind::module_& module);
void bind_klotski_kind(nanobind::module_& module);
void bind_level_graph(nanobind::module_& module);
void bind_rush_bulk(nanobind::module_& module);
void bind_tiles(nanobind::module_& module);
void bind_tiles_atlas(nanobind::module_& module);
void bind_tiles_patterns(nanobind::module_& module);
void bind_tiles_split(nanobind::module_& module);
void bind_tiles_upper(nanobind::module_& module);

}  // namespace unjam
