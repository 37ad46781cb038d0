/** A map that can't be changed any more, by its methods either: `Object.freeze` alone leaves a Map's content open. */

export function frozenMap<K, V>(entries: ReadonlyMap<K, V>): ReadonlyMap<K, V> {
  const refuse = {
    value: () => {
      throw new TypeError('the configuration can not be changed')
    },
  }
  const map = new Map(entries)
  return Object.freeze(Object.defineProperties(map, { set: refuse, delete: refuse, clear: refuse }))
}
