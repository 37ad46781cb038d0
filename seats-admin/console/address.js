/**
 * The address of the page: what is shown is a function of it, so that Back, reload and links to colleagues
 * work.
 */

import { signal } from '@preact/signals'
import { hasKey } from './credentials.js'

/**
 * @typedef {object} Address
 * @property {string[]} segments of the path below the console, decoded
 * @property {URLSearchParams} query
 *
 * @typedef {Readonly<Record<string, string | null | undefined>>} Query to send: empty values are left out
 */

const { home } = document.documentElement.dataset

/** The path of the console, with a slash at its end. */
export const HOME = home ?? '/'

export const address = signal(read())

/** How often a page was opened since the console was loaded. The first one does not take the focus. */
export const opened = signal(0)

/** @returns {Address} */
function read() {
  const path = location.pathname.startsWith(HOME) ? location.pathname.slice(HOME.length) : ''
  const query = new URLSearchParams(location.search)
  const segments = path.split('/').filter(Boolean).map(decoded)
  // Of a link that holds one: it is not sent on.
  for (const [name, value] of [...query]) if (hasKey(value)) query.delete(name)
  return { segments: segments.filter((each) => !hasKey(each)), query }
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * @param {readonly string[]} segments
 * @param {Query} [query]
 */
export function hrefOf(segments, query = {}) {
  return HOME + segments.map(encodeURIComponent).join('/') + queryOf(query)
}

/** @param {Query} values */
export function queryOf(values) {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value) query.set(name, value)
  return query.size === 0 ? '' : `?${query}`
}

/** Opens a page. @param {string} href */
export function open(href) {
  history.pushState(null, '', href)
  address.value = read()
  opened.value++
  scrollTo(0, 0)
}

/** Changes the query of the page: filters are part of its address, but no page of their own. */
export function setQuery(/** @type {Query} */ values) {
  try {
    history.replaceState(null, '', location.pathname + queryOf(values))
  } catch {
    // Browsers limit how often, and how long: the filter works without being part of the address.
  }
  address.value = read()
}

addEventListener('popstate', () => {
  address.value = read()
  opened.value++
})

/** Links of the console open without loading it again. */
document.addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const link = event.target instanceof Element ? event.target.closest('a') : null
  if (link === null || link.target !== '' || link.hasAttribute('download')) return
  if (link.origin !== location.origin || !link.pathname.startsWith(HOME)) return
  event.preventDefault()
  open(link.href)
})
