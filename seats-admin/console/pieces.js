/** Small parts that every page uses. */

import { useState } from 'preact/hooks'
import { html } from './markup.js'

const PATHS = {
  overview: 'M3 12h4l3 8 4-16 3 8h4',
  routes: 'M4 6h9a4 4 0 0 1 0 8h-2a4 4 0 0 0 0 8h9M4 6l3-3M4 6l3 3',
  tables: 'M4 5h16v14H4zM4 10h16M4 14.500h16M10 10v9',
  seats: 'M7 11V5a2 2 0 0 1 2-2h6a2 2 0 0 1 2 2v6M5 11h14v5H5zM7 16v5M17 16v5',
  keys: 'M14 10a4 4 0 1 0-4 4l1 0 2 2h2v2h2v2h4v-3l-7-7',
  users: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0',
  groups:
    'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2.500 20a6.500 6.500 0 0 1 13 0M16 4.500a3.500 3.500 0 0 1 0 6.500M18 14a6.500 6.500 0 0 1 3.500 6',
  grants: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 3',
  audit: 'M6 3h9l4 4v14H6zM9 12h7M9 16h7M9 8h3',
  explain:
    'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM9.500 9a2.500 2.500 0 1 1 3.500 2.300c-.7.3-1 .8-1 1.700M12 16.500v.5',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  warning: 'M12 4L2.500 20h19zM12 10v4M12 17v.5',
  check: 'M5 13l4 4L19 7',
  out: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  back: 'M15 5l-7 7 7 7',
  gate: 'M5 21V11a7 7 0 0 1 14 0v10M3 21h18M12 13v8',
}

/** Decorative: the text beside it says the same. @param {{ name: keyof typeof PATHS }} props */
export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d=${PATHS[name]} />
  </svg>`
}

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/**
 * In the reader's zone; UTC on hover.
 *
 * @param {{ at: string | null | undefined, short?: boolean, none?: string }} props short: the day
 */
export function Time({ at, short = false, none = '–' }) {
  if (!at) return html`<span class="quiet">${none}</span>`
  const date = new Date(at)
  // A text that only looks like a time, such as the name of a Seat in the audit.
  if (Number.isNaN(date.getTime())) return html`<bdi>${at}</bdi>`
  return html`<time datetime=${at} title=${`${at.replace('T', ' ').replace('Z', '')} UTC`}>
    ${(short ? day : moment).format(date)}
  </time>`
}

/** A text that people chose: of any length, in any script and direction. @param {{ of: string }} props */
export function Name({ of }) {
  return html`<bdi class="name">${of}</bdi>`
}

/** Some of many, and how many more. @param {{ of: readonly string[], most?: number, none?: string }} props */
export function Tags({ of, most = 3, none = 'none' }) {
  if (of.length === 0) return html`<span class="quiet">${none}</span>`
  const shown = of.slice(0, most)
  return html`<span class="tags">
    ${shown.map((each) => html`<span class="tag" key=${each}><bdi>${each}</bdi></span>`)}
    ${of.length > most && html`<span class="quiet nowrap">+ ${number(of.length - most)} more</span>`}
  </span>`
}

const numbers = new Intl.NumberFormat()

/** @param {number} of */
export function number(of) {
  return numbers.format(of)
}

const fractions = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

/** Small times say more with a decimal. @param {number} of */
export function rounded(of) {
  return of < 10 ? fractions.format(of) : number(Math.round(of))
}

/** @param {number} ms */
export function ageText(ms) {
  return ms < 10_000 ? `${number(Math.round(ms))} ms` : `${number(Math.floor(ms / 1000))} s`
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function countText(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`
}

/** @param {{ text: string, label?: string, onCopied?: () => void }} props */
export function Copy({ text, label = 'Copy', onCopied }) {
  const [state, setState] = useState('')
  const copy = () => {
    // Without TLS, browsers have no clipboard for pages of other machines.
    const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))
    copied.then(
      () => {
        setState('Copied')
        onCopied?.()
      },
      () => setState('The browser forbids copying: select the text'),
    )
  }
  return html`<span class="row">
    <button type="button" class="button" onClick=${copy}><${Icon} name="copy" />${label}</button>
    <span role="status" class="quiet">${state}</span>
  </span>`
}

/** @param {{ rows: readonly (readonly [string, unknown])[]}} props a term and its value */
export function Facts({ rows }) {
  return html`<dl class="facts">
    ${rows.map(
      ([term, value]) =>
        html`<div key=${term}>
          <dt>${term}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}

/**
 * Where there are rows. It may be wider than the window, and scrolls by keyboard too.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {readonly (readonly [unknown, string?])[]} props.columns the heading of each, and its class
 * @param {readonly unknown[]} props.rows
 */
export function Table({ label, columns, rows }) {
  if (rows.length === 0) return null
  return html`<div class="table-box" role="region" aria-label=${label} tabindex="0">
    <table>
      <thead>
        <tr>
          ${columns.map(([heading, kind]) => html`<th scope="col" class=${kind}>${heading}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`
}
