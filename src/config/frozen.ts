/**
 * A map whose mutating methods throw a TypeError: `Object.freeze` alone does not protect the entries of a
 * Map.
 */

export function frozenMap<K, V>(entries: ReadonlyMap<K, V>): ReadonlyMap<K, V> {
  const refuse = {
    value: () => {
      throw new TypeError('the configuration is read-only')
    },
  }
  const map = new Map(entries)
  return Object.freeze(Object.defineProperties(map, { set: refuse, delete: refuse, clear: refuse }))
}
