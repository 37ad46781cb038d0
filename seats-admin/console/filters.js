/** Filters of a list in the browser: they are part of the address, and at most some of the rows are shown at once. */

import { useMemo, useState } from 'preact/hooks'
import { address, setQuery } from './address.js'

/** Rows: thousands at once would make every key slow. */
const STEP = 200

/**
 * @template T
 * @param {readonly T[]} items
 * @param {readonly string[]} names of the filters
 * @param {(item: T, filter: Readonly<Record<string, string>>) => boolean} isMatch
 */
export function useShownFilter(items, names, isMatch) {
  const [filter, change] = useState(() => fromAddress(names))
  const [most, setMost] = useState(STEP)
  const matching = useMemo(() => items.filter((item) => isMatch(item, filter)), [items, filter])
  const setFilter = (/** @type {Readonly<Record<string, string>>} */ changed) => {
    const next = { ...filter, ...changed }
    change(next)
    setMost(STEP)
    setQuery(next)
  }
  return {
    filter,
    setFilter,
    shown: { items: matching.slice(0, most), total: matching.length },
    /** Null: all are shown. */
    more: matching.length > most ? () => setMost(most + STEP) : null,
  }
}

/**
 * Filters that the gateway applies.
 *
 * @param {readonly string[]} names
 * @returns {[Readonly<Record<string, string>>, (changed: Readonly<Record<string, string>>) => void]}
 */
export function useFilter(names) {
  const [filter, change] = useState(() => fromAddress(names))
  return [
    filter,
    (changed) => {
      const next = { ...filter, ...changed }
      change(next)
      setQuery(next)
    },
  ]
}

/** @param {readonly string[]} names @returns {Readonly<Record<string, string>>} */
function fromAddress(names) {
  const { query } = address.peek()
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? '']))
}
