/**
 * The search of the manual, in the browser. It indexes the sections when the reader turns to the search for
 * the first time.
 */

import MiniSearch from 'minisearch'

/** @typedef {{ id: string, page: string, heading: string, text: string }} Entry */

/** The most sections that are listed. */
const MOST = 20
/** The characters of an excerpt before and after its first word. */
const BEFORE = 50
const AFTER = 130

const search = element('.search')
const input = /** @type {HTMLInputElement} */ (element('.search input'))
const results = element('.results')
const list = element('.results ol')
const status = element('.results [role=status]')
/** @type {Promise<MiniSearch<Entry>> | null} */
let index = null

search.hidden = false
input.addEventListener('focus', () => void load())
input.addEventListener('input', () => void show())
search.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') close()
  else if (event.key === 'Enter' && event.target === input) list.querySelector('a')?.click()
  else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event)
})
document.addEventListener('click', (event) => {
  if (!(event.target instanceof Node) || !search.contains(event.target)) results.hidden = true
  // A link to another section of this page leaves it open.
  else if (event.target instanceof Element && event.target.closest('a') !== null) close()
})
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  input.focus()
})

/** @param {string} selector */
function element(selector) {
  const match = document.querySelector(selector)
  if (!(match instanceof HTMLElement)) throw new Error(selector)
  return match
}

/** The data is a script, as a page of a file may load nothing else. */
function load() {
  index ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = 'search-data.js'
    script.addEventListener('load', () => {
      const entries = /** @type {{ SEARCH?: Entry[] }} */ (globalThis).SEARCH ?? []
      /** @type {MiniSearch<Entry>} */
      const built = new MiniSearch({
        fields: ['heading', 'page', 'text'],
        // Words have letters and digits alone: `permission_denied` is found by each of its two words.
        tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u),
        // `rotate` also finds `rotating` and `rotation`, as a query matches the beginnings of words.
        processTerm: (term) => term.toLowerCase().replace(/(?<=....)(?:ing|ed|es|e|s)$/, '') || null,
        storeFields: ['page', 'heading', 'text'],
      })
      built.addAll(entries)
      resolve(built)
    })
    script.addEventListener('error', () => reject(new Error(script.src)))
    document.head.append(script)
  })
  return index
}

async function show() {
  const built = await load()
  const query = input.value.trim()
  const matches = built.search(query, {
    combineWith: 'AND',
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    boost: { heading: 4 },
  })
  status.textContent = matches.length === 0 ? 'No section has these words.' : `${matches.length} sections`
  list.replaceChildren(...matches.slice(0, MOST).map(itemOf))
  results.hidden = query === ''
}

/** @param {import('minisearch').SearchResult} match */
function itemOf({ id, page, heading, text, terms }) {
  const item = document.createElement('li')
  const link = document.createElement('a')
  link.href = String(id)
  const title = document.createElement('strong')
  title.textContent = heading
  const place = document.createElement('small')
  place.textContent = page === heading ? '' : page
  const excerpt = document.createElement('span')
  excerpt.append(...excerptOf(text, terms))
  link.append(title, ' ', place, excerpt)
  item.append(link)
  return item
}

/**
 * The text around a word that matches, with the words marked.
 *
 * @param {string} text
 * @param {string[]} terms
 */
function excerptOf(text, terms) {
  const words = new RegExp(`(${terms.join('|')})`, 'giu')
  // The longest word says the most about the place.
  const longest = terms.reduce((one, other) => (other.length > one.length ? other : one), '')
  const at = Math.max(text.toLowerCase().indexOf(longest), 0)
  const from = at <= BEFORE ? 0 : text.indexOf(' ', at - BEFORE) + 1
  const cut = text.slice(from, at + AFTER)
  const shown = (from === 0 ? '' : '… ') + cut + (at + AFTER < text.length ? ' …' : '')
  return shown.split(words).map((part, place) => {
    if (place % 2 === 0) return part
    const mark = document.createElement('mark')
    mark.textContent = part
    return mark
  })
}

/** @param {KeyboardEvent} event */
function move(event) {
  const stops = [input, ...list.querySelectorAll('a')]
  const at = stops.findIndex((stop) => stop === document.activeElement)
  const next = stops[at + (event.key === 'ArrowDown' ? 1 : -1)]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
}

function close() {
  results.hidden = true
  input.value = ''
  input.blur()
}
