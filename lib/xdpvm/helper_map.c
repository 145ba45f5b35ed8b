/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers on maps: thin, each calls the map type's operation. */
#include "helper.h"
#include "map.h"

XDPVM_HELPER(map_lookup_elem)
{
	struct xdpvm_map *map = xdpvm_arg_pointer(r1);

	if (map->ops->lookup == NULL)
		return 0;
	return (uintptr_t)map->ops->lookup(map, xdpvm_arg_pointer(r2), buff);
}

XDPVM_HELPER(map_update_elem)
{
	struct xdpvm_map *map = xdpvm_arg_pointer(r1);

	if (map->ops->update == NULL)
		return -EOPNOTSUPP;
	return map->ops->update(map, xdpvm_arg_pointer(r2), xdpvm_arg_pointer(r3), r4, buff);
}

XDPVM_HELPER(map_delete_elem)
{
	struct xdpvm_map *map = xdpvm_arg_pointer(r1);

	if (map->ops->delete == NULL)
		return -EOPNOTSUPP;
	return map->ops->delete(map, xdpvm_arg_pointer(r2));
}

XDPVM_HELPER(map_lookup_percpu_elem)
{
	struct xdpvm_map *map = xdpvm_arg_pointer(r1);

	if (map->ops->lookup_percpu == NULL)
		return 0;
	return (uintptr_t)map->ops->lookup_percpu(map, xdpvm_arg_pointer(r2), (uint32_t)r3);
}

XDPVM_HELPER(map_push_elem)
{
	struct xdpvm_map *map = xdpvm_arg_pointer(r1);

	if (map->ops->push == NULL)
		return -EOPNOTSUPP;
	return map->ops->push(map, xdpvm_arg_pointer(r2), r3);
}

XDPVM_HELPER(map_pop_elem)
{
	struct xdpvm_map *map = xdpvm_arg_pointer(r1);

	if (map->ops->pop == NULL)
		return -EOPNOTSUPP;
	return map->ops->pop(map, xdpvm_arg_pointer(r2));
}

XDPVM_HELPER(map_peek_elem)
{
	struct xdpvm_map *map = xdpvm_arg_pointer(r1);

	if (map->ops->peek == NULL)
		return -EOPNOTSUPP;
	return map->ops->peek(map, xdpvm_arg_pointer(r2));
}
