/**
 * The value of the key. If the map has none, the computed one, which it has from then on (as
 * `Map.prototype.getOrInsertComputed`).
 */
export function getOrInsertComputed<K, V>(map: Map<K, V>, key: K, compute: () => V): V
export function getOrInsertComputed<K extends object, V>(map: WeakMap<K, V>, key: K, compute: () => V): V
export function getOrInsertComputed<K extends object, V>(
  map: Pick<WeakMap<K, V>, 'get' | 'set'>,
  key: K,
  compute: () => V,
): V {
  const present = map.get(key)
  if (present !== undefined) return present
  const computed = compute()
  map.set(key, computed)
  return computed
}
