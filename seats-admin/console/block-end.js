/** The end of a block: the fields of a form, and the time that they mean. */

import { useState } from 'preact/hooks'
import { Choice, Field } from './fields.js'
import { html } from './markup.js'

const ENDS = /** @type {const} */ ([
  ['', 'until it is ended'],
  ['1', 'in an hour'],
  ['24', 'in a day'],
  ['168', 'in a week'],
  ['at', 'at a time…'],
])
const HOUR = 60 * 60_000

/**
 * @param {string} label
 * @returns {{ fields: any, read: () => { until?: string } }} `read` is called when the form is sent: a
 *   duration counts from then
 */
export function useBlockEnd(label) {
  const [end, setEnd] = useState('')
  const [at, setAt] = useState('')
  const fields = html`<${Choice} label=${label} value=${end} options=${ENDS} onInput=${setEnd} />
    ${end === 'at' && html`<${Field} label="Until, in your time zone" type="datetime-local" value=${at} onInput=${setAt} required />`}`
  const read = () => {
    if (end === '') return {}
    const time = end === 'at' ? Date.parse(at) : Date.now() + Number(end) * HOUR
    return { until: new Date(time).toISOString() }
  }
  return { fields, read }
}
