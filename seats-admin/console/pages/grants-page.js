/** Grants with an end: who has which Seat until when, and who gave it; give one, and end one. */

import { useEffect, useState } from 'preact/hooks'
import { hrefOf } from '../address.js'
import { Dialog, DialogButtons } from '../dialogs.js'
import { Choice, Field } from '../fields.js'
import { contains, FilterField, useShownFilter } from '../filters.js'
import { call } from '../gateway-calls.js'
import { termText } from '../grant-times.js'
import { useAction, useList } from '../loading.js'
import { html } from '../markup.js'
import { Who } from '../names.js'
import { Facts, Icon, Name, Table, Tags, Time } from '../pieces.js'
import { Empty, ListEnd, Notice, PageHeading, Refusal } from '../states.js'

/** @typedef {import('../answers.d.ts').Grant} Grant */

export function GrantsPage() {
  const grants = useList('/v1/grants', { whole: true })
  const { filter, setFilter, isFiltered, shown, count, more } = useShownFilter(
    grants,
    'grant',
    ['user', 'seat'],
    (grant, { user = '', seat = '' }) => contains(grant.user, user) && contains(grant.seat, seat),
  )
  const [creating, setCreating] = useState(false)
  const [ending, setEnding] = useState(/** @type {Grant | null} */ (null))
  const now = useNow()
  return html`
    <${PageHeading} title="Grants">
      <button type="button" class="button primary" onClick=${() => setCreating(true)}>
        <${Icon} name="plus" />New grant
      </button>
    <//>
    <p class="lead">A grant gives a user a Seat until a time, besides those that the user has otherwise.</p>
    <search class="filters">
      <${FilterField} label="User" name="user" of=${filter} onInput=${setFilter} />
      <${FilterField} label="Seat" name="seat" of=${filter} onInput=${setFilter} />
      ${count}
    </search>
    <${Table}
      label="Grants"
      columns=${[
        ['User'],
        ['Seat'],
        ['Term'],
        ['Given by', 'wide-only'],
        ['Reason', 'wide-only'],
        [html`<span class="unseen">Actions</span>`, 'action'],
      ]}
      rows=${shown.map(
        (grant) => html`<${Row} key=${grant.id} of=${grant} now=${now} onEnd=${() => setEnding(grant)} />`,
      )}
    />
    ${more}
    <${ListEnd}
      of=${grants}
      what="Grants"
      shown=${shown}
      none=${html`<${Empty}><p>${isFiltered ? 'No grant matches.' : 'No grants are in force or begin later.'}</p><//>`}
    />
    ${creating && html`<${CreateDialog} onClose=${() => setCreating(false)} onCreated=${grants.again} />`}
    ${ending && html`<${EndDialog} of=${ending} onClose=${() => setEnding(null)} onEnded=${grants.again} />`}
  `
}

/** Milliseconds after which what is left of a grant is said again. */
const EVERY = 10_000

function useNow() {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), EVERY)
    return () => clearInterval(timer)
  }, [])
  return now
}

/** @param {{ of: Grant, now: number, onEnd: () => void }} props */
function Row({ of: grant, now, onEnd }) {
  const term = termText(grant, now)
  return html`<tr class=${term === 'ended' ? 'faded' : ''}>
    <th scope="row">
      <a href=${hrefOf(['users'], { sub: grant.user })}><${Name} of=${grant.user} /></a>
    </th>
    <td>
      <a href=${hrefOf(['seats', grant.seat_id])}><${Name} of=${grant.seat} /></a>
    </td>
    <td>
      ${term}<br /><span class="small"
        ><${Time} at=${term.startsWith('begins') ? grant.from : grant.until}
      /></span>
    </td>
    <td class="wide-only"><${Who} id=${grant.created_by} /></td>
    <td class="wide-only">
      ${grant.reason ? html`<${Name} of=${grant.reason} />` : html`<span class="quiet">–</span>`}
    </td>
    <td class="action">
      <button
        type="button"
        class="button"
        aria-label=${`End the grant of ${grant.seat} to ${grant.user}…`}
        onClick=${onEnd}
      >
        End…
      </button>
    </td>
  </tr>`
}

const HOUR = 60 * 60_000
const TERMS = /** @type {const} */ ([
  ['1', 'in an hour'],
  ['4', 'in four hours'],
  ['24', 'in a day'],
  ['168', 'in a week'],
  ['at', 'at a time…'],
])

/** @param {{ onClose: () => void, onCreated: () => void }} props */
function CreateDialog({ onClose, onCreated }) {
  const [user, setUser] = useState('')
  const [seat, setSeat] = useState('')
  const [term, setTerm] = useState('4')
  const [at, setAt] = useState('')
  const [reason, setReason] = useState('')
  const seats = useList('/v1/seats', { whole: true })
  const { busy, refusal, run } = useAction(async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const end = term === 'at' ? Date.parse(at) : Date.now() + Number(term) * HOUR
    const said = reason.trim() === '' ? {} : { reason: reason.trim() }
    const body = { user: user.trim(), seat: seat.trim(), until: new Date(end).toISOString(), ...said }
    await call('POST', '/v1/grants', { body })
    onCreated()
    onClose()
  })
  return html`<${Dialog} title="New grant" onClose=${onClose} busy=${busy}>
    <form onSubmit=${run} class="stack">
      <${Field}
        label="User"
        value=${user}
        onInput=${setUser}
        required
        focus
        hint="The id of the user, as tokens have it."
      />
      <${Field}
        label="Seat"
        value=${seat}
        onInput=${setSeat}
        required
        suggestions=${seats.items.map(({ name }) => name)}
        hint="The user has it in all of its spaces."
      />
      <${Choice} label="Ends" value=${term} options=${TERMS} onInput=${setTerm} />
      ${term === 'at' && html`<${Field} label="Until, in your time zone" type="datetime-local" value=${at} onInput=${setAt} required />`}
      <${Field}
        label="Reason"
        value=${reason}
        onInput=${setReason}
        hint="Optional. It appears in the audit."
      />
      ${refusal && html`<${Refusal} refusal=${refusal} what="Not granted" />`}
      <${DialogButtons}
        busy=${busy}
        onClose=${onClose}
        text="Grant the Seat"
        busyText="Granting everywhere…"
      />
    </form>
  <//>`
}

/** @param {{ of: Grant, onClose: () => void, onEnded: () => void }} props */
function EndDialog({ of: grant, onClose, onEnded }) {
  const { busy, refusal, run } = useAction(async () => {
    await call('DELETE', `/v1/grants/${encodeURIComponent(grant.id)}`)
    onEnded()
    onClose()
  })
  return html`<${Dialog} title="End the grant?" onClose=${onClose} busy=${busy}>
    <${Notice} title="If the user has the Seat otherwise too, or by another grant, it stays." />
    <${Facts}
      rows=${[
        ['User', html`<${Name} of=${grant.user} />`],
        ['Seat', html`<${Tags} of=${[grant.seat]} />`],
        ['Until', html`<${Time} at=${grant.until} />`],
        ['Reason', html`<${Name} of=${grant.reason ?? '–'} />`],
      ]}
    />
    ${refusal && html`<${Refusal} refusal=${refusal} what="Not ended" />`}
    <${DialogButtons}
      busy=${busy}
      onClose=${onClose}
      onRun=${run}
      text="End the grant"
      busyText="Ending everywhere…"
      kind="danger"
    />
  <//>`
}
