/** Filters of lists: they are part of the address. */

import { useMemo, useState } from 'preact/hooks'
import { address, setQuery } from './address.js'
import { Field } from './fields.js'
import { localOf, utcOf } from './local-times.js'
import { html } from './markup.js'
import { countText, number } from './pieces.js'

/** @typedef {Readonly<Record<string, string>>} Filter by name */

/** Rows in the page: thousands at once would make every key slow. */
const STEP = 200

/**
 * @param {readonly string[]} names
 * @returns {[Filter, (changed: Filter) => void]}
 */
function useAddress(names) {
  const [filter, change] = useState(() => {
    const { query } = address.peek()
    return Object.fromEntries(names.map((name) => [name, query.get(name) ?? '']))
  })
  return [
    filter,
    (changed) => {
      const next = { ...filter, ...changed }
      change(next)
      setQuery(next)
    },
  ]
}

/**
 * Filters that the browser applies to a whole list. It shows some rows at once.
 *
 * @template T
 * @param {import('./loading.js').Listed<T>} list
 * @param {string} one what an item is called
 * @param {readonly string[]} names
 * @param {(item: T, filter: Filter) => boolean} isMatch
 */
export function useShownFilter({ items, loading }, one, names, isMatch) {
  const [filter, change] = useAddress(names)
  const [most, setMost] = useState(STEP)
  const matching = useMemo(() => items.filter((item) => isMatch(item, filter)), [items, filter])
  const isFiltered = Object.values(filter).some((each) => each !== '')
  const all = countText(items.length, one)
  const total = number(matching.length)
  return {
    filter,
    setFilter: (/** @type {Filter} */ changed) => {
      change(changed)
      setMost(STEP)
    },
    isFiltered,
    shown: matching.slice(0, most),
    count: html`<p class="count" role="status">
      ${isFiltered ? `${total} of ${all}` : all}${loading ? ', loading more…' : ''}
    </p>`,
    more:
      matching.length > most
        ? html`<p>
            <button type="button" class="button" onClick=${() => setMost(most + STEP)}>
              Show more of ${total}
            </button>
          </p>`
        : null,
  }
}

/**
 * Whether a text has this part, in any case.
 *
 * @param {string} text
 * @param {string | undefined} part
 */
export function contains(text, part = '') {
  return text.toLocaleLowerCase().includes(part.toLocaleLowerCase())
}

/** Filters of a form, which the gateway applies when it is sent. @param {readonly string[]} names */
export function useFilterForm(names) {
  const [filter, setFilter] = useAddress(names)
  const [draft, setDraft] = useState(filter)
  return {
    filter,
    setFilter,
    draft,
    change: (/** @type {Filter} */ changed) => setDraft({ ...draft, ...changed }),
    submit: (/** @type {SubmitEvent} */ event) => {
      event.preventDefault()
      setFilter(draft)
    },
  }
}

/**
 * A field of a filter.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.name
 * @param {Filter} props.of
 * @param {(changed: Filter) => void} props.onInput
 */
export function FilterField({ label, name, of, onInput }) {
  return html`<${Field}
    label=${label}
    type="search"
    value=${of[name] ?? ''}
    onInput=${(/** @type {string} */ value) => onInput({ [name]: value })}
  />`
}

/**
 * A time of a filter. The field is in the reader's zone, the filter in UTC: its address is for colleagues in
 * other zones too.
 *
 * @param {Parameters<typeof FilterField>[0]} props
 */
export function TimeField({ label, name, of, onInput }) {
  return html`<${Field}
    label=${label}
    type="datetime-local"
    value=${localOf(of[name] ?? '')}
    onInput=${(/** @type {string} */ local) => onInput({ [name]: utcOf(local) })}
  />`
}
