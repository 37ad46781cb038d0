/** Charts as SVG and lists: their numbers are there as text too. */

import { html } from './markup.js'
import { number, rounded } from './pieces.js'

/** @param {{ label: string, rows: readonly { name: string, count: number, isGood: boolean }[] }} props */
export function Bars({ label, rows }) {
  const most = Math.max(1, ...rows.map(({ count }) => count))
  return html`<figure class="bars">
    <figcaption>${label}</figcaption>
    <ul>
      ${rows.map(
        ({ name, count, isGood }) =>
          html`<li key=${name}>
            <code>${name}</code>
            <svg
              viewBox="0 0 100 10"
              preserveAspectRatio="none"
              aria-hidden="true"
              class=${isGood ? 'good' : 'bad'}
            >
              <rect width=${(100 * count) / most} height="10" rx="1" />
            </svg>
            <span class="number">${number(count)}</span>
          </li>`,
      )}
    </ul>
  </figure>`
}

/** A number beside it says the same. @param {{ value: number, most: number }} props more than most is a fault */
export function Meter({ value, most }) {
  return html`<svg
    viewBox="0 0 100 4"
    preserveAspectRatio="none"
    aria-hidden="true"
    class=${`meter ${value > most ? 'bad' : 'good'}`}
  >
    <rect width=${Math.min(100, (100 * value) / most)} height="4" />
  </svg>`
}

/** @param {{ label: string, values: readonly number[], unit: string }} props oldest first */
export function Line({ label, values, unit }) {
  if (values.length < 2) return null
  const most = Math.max(0.1, ...values)
  const x = (/** @type {number} */ at) => (300 * at) / (values.length - 1)
  const points = values.map((value, at) => `${x(at).toFixed(1)},${(58 - (54 * value) / most).toFixed(1)}`)
  return html`<figure class="line">
    <figcaption>
      ${label}: at most <b>${rounded(most)} ${unit}</b>, the last
      one${` ${rounded(values.at(-1) ?? 0)} ${unit}`}
    </figcaption>
    <svg viewBox="0 0 300 60" preserveAspectRatio="none" aria-hidden="true">
      <polyline points=${points.join(' ')} />
    </svg>
  </figure>`
}
