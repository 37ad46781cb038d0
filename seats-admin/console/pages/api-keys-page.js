/** API keys: create one, shown once; see which are used; revoke. */

import { useEffect, useState } from 'preact/hooks'
import { hrefOf } from '../address.js'
import { signedIn } from '../credentials.js'
import { Dialog, DialogButtons } from '../dialogs.js'
import { Choice, Field } from '../fields.js'
import { contains, FilterField, useShownFilter } from '../filters.js'
import { call } from '../gateway-calls.js'
import { planOf } from '../impact.js'
import { keyState } from '../key-state.js'
import { useAction, useList, useLoaded } from '../loading.js'
import { html } from '../markup.js'
import { Who } from '../names.js'
import { OwnerField } from '../owner-field.js'
import { Copy, Facts, Icon, Name, Table, Tags, Time } from '../pieces.js'
import { SetField } from '../set-field.js'
import { Empty, ListEnd, Notice, PageHeading, Refusal, Warnings } from '../states.js'

/** @typedef {import('../answers.d.ts').ApiKey} ApiKey */

const STATES = /** @type {const} */ ([
  ['', 'all'],
  ['valid', 'valid'],
  ['expired', 'expired'],
  ['revoked', 'revoked'],
])

export function ApiKeysPage() {
  const keys = useList('/v1/api-keys', { whole: true })
  const { filter, setFilter, isFiltered, shown, count, more } = useShownFilter(
    keys,
    'API key',
    ['name', 'seat', 'owner', 'state'],
    isMatch,
  )
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState(/** @type {ApiKey | null} */ (null))
  return html`
    <${PageHeading} title="API keys">
      <button type="button" class="button primary" onClick=${() => setCreating(true)}>
        <${Icon} name="plus" />New API key
      </button>
    <//>
    <p class="lead">A key acts through its Seats as they are now. The gateway keeps only its hash.</p>
    <search class="filters">
      <${FilterField} label="Name or id" name="name" of=${filter} onInput=${setFilter} />
      <${FilterField} label="Seat" name="seat" of=${filter} onInput=${setFilter} />
      <${FilterField} label="Owner" name="owner" of=${filter} onInput=${setFilter} />
      <${Choice}
        label="State"
        value=${filter.state ?? ''}
        options=${STATES}
        onInput=${(/** @type {string} */ state) => setFilter({ state })}
      />
      ${count}
    </search>
    <${Table}
      label="API keys"
      columns=${[
        ['Name'],
        ['Seats'],
        ['Owner', 'wide-only'],
        ['State'],
        ['Last used', 'wide-only'],
        ['Created', 'wide-only'],
        [html`<span class="unseen">Actions</span>`, 'action'],
      ]}
      rows=${shown.map((key) => html`<${Row} key=${key.id} of=${key} onRevoke=${() => setRevoking(key)} />`)}
    />
    ${more}
    <${ListEnd}
      of=${keys}
      what="API keys"
      shown=${shown}
      none=${html`<${Empty}><p>${isFiltered ? 'No API key matches.' : 'No API keys here yet.'}</p><//>`}
    />
    ${creating && html`<${CreateDialog} onClose=${() => setCreating(false)} onCreated=${keys.again} />`}
    ${revoking && html`<${RevokeDialog} of=${revoking} onClose=${() => setRevoking(null)} onRevoked=${keys.again} />`}
  `
}

/**
 * @param {ApiKey} key
 * @param {Readonly<Record<string, string>>} filter
 */
function isMatch(key, { name = '', seat = '', owner = '', state = '' }) {
  return (
    (contains(key.name, name) || key.id === name.toUpperCase()) &&
    (seat === '' || key.seats.some((each) => contains(each, seat))) &&
    contains(key.owner ?? '', owner) &&
    (state === '' || keyState(key) === state)
  )
}

/** @param {{ of: ApiKey, onRevoke: () => void }} props */
function Row({ of: key, onRevoke }) {
  const state = keyState(key)
  return html`<tr class=${state === 'valid' ? '' : 'faded'}>
    <th scope="row">
      <a href=${hrefOf(['api-keys', key.id])}><${Name} of=${key.name} /></a>
      <code class="small quiet wide-only">${key.id}</code>
    </th>
    <td><${Tags} of=${key.seats} most=${2} /></td>
    <td class="wide-only">
      ${key.owner === undefined ? html`<span class="quiet">–</span>` : html`<${Who} id=${key.owner} />`}
    </td>
    <td>
      <span class=${`badge ${state}`}>${state}</span>
      ${state === 'revoked' && html`<br /><span class="small"><${Time} at=${key.revoked_at} short /></span>`}
      ${state !== 'revoked' && key.expires_at && html`<br /><span class="small">${state === 'expired' ? '' : 'until '}<${Time} at=${key.expires_at} short /></span>`}
    </td>
    <td class="wide-only"><${Time} at=${key.last_used_at} none="no use recorded" /></td>
    <td class="wide-only"><${Time} at=${key.created_at} short /></td>
    <td class="action">
      ${state === 'revoked' ? null : html`<button type="button" class="button" aria-label=${`Revoke ${key.name}…`} onClick=${onRevoke}>Revoke…</button>`}
    </td>
  </tr>`
}

const LIFETIMES = /** @type {const} */ ([
  ['30', 'in 30 days'],
  ['90', 'in 90 days'],
  ['365', 'in a year'],
  ['', 'never'],
])
const DAY = 24 * 60 * 60_000

/** @typedef {import('../answers.d.ts').CreatedApiKey} CreatedApiKey */

/** @param {{ onClose: () => void, onCreated: () => void }} props */
function CreateDialog({ onClose, onCreated }) {
  const [name, setName] = useState('')
  const [seats, setSeats] = useState(/** @type {string[]} */ ([]))
  const [owner, setOwner] = useState('')
  const [days, setDays] = useState('90')
  const [created, setCreated] = useState(/** @type {CreatedApiKey | null} */ (null))
  const seatList = useList('/v1/seats', { whole: true })
  const { busy, refusal, run } = useAction(async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const expiry = days === '' ? {} : { expires_at: new Date(Date.now() + Number(days) * DAY).toISOString() }
    const owned = owner === '' ? {} : { owner }
    setCreated(
      await call('POST', '/v1/api-keys', { body: { name: name.trim(), seats, ...owned, ...expiry } }),
    )
    onCreated()
  })
  if (created !== null) return html`<${CreatedDialog} of=${created} onClose=${onClose} />`
  return html`<${Dialog} title="New API key" onClose=${onClose} busy=${busy}>
    <form onSubmit=${run} class="stack">
      <${Field}
        label="Name"
        value=${name}
        onInput=${setName}
        required
        focus
        hint="What it is for. It does not have to be unique."
      />
      <${SetField}
        label="Seats"
        one="Seat"
        values=${seats}
        onInput=${setSeats}
        separators=${/[,\n]+/}
        suggestions=${seatList.items.map((seat) => seat.name)}
        hint="The names of existing Seats. The key follows their renames."
      />
      <${OwnerField} value=${owner} onInput=${setOwner} />
      <${Choice} label="Expires" value=${days} options=${LIFETIMES} onInput=${setDays} />
      ${refusal && html`<${Refusal} refusal=${refusal} what="Not created" />`}
      <${DialogButtons} busy=${busy} onClose=${onClose} text="Create the key" busyText="Creating…" />
    </form>
  <//>`
}

/**
 * The only time that the key is shown: it is left only after a copy, or a second time.
 *
 * @param {{ of: CreatedApiKey, onClose: () => void }} props
 */
function CreatedDialog({ of: created, onClose }) {
  const [isCopied, setCopied] = useState(false)
  const [isLeaving, setLeaving] = useState(false)
  useEffect(() => {
    if (isCopied) return
    const warn = (/** @type {BeforeUnloadEvent} */ event) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isCopied])
  return html`<${Dialog}
    title="The new API key"
    onClose=${() => (isCopied || isLeaving ? onClose() : setLeaving(true))}
    wide
  >
    <${Notice} title="This is the only time that the key is shown.">
      <p>Copy it to where it is used, such as a secret store.</p>
    <//>
    <p class="secret"><code>${created.key}</code></p>
    <${Copy} text=${created.key} label="Copy the key" onCopied=${() => setCopied(true)} />
    ${isLeaving && !isCopied && html`<${Notice} title="The key is not copied yet. Close once more to leave it: it can't be shown again, only revoked." />`}
    <${Facts}
      rows=${[
        ['Name', html`<${Name} of=${created.name} />`],
        ['Id', html`<code>${created.id}</code>`],
        ['Seats', html`<${Tags} of=${created.seats} most=${10} />`],
        ['Expires', html`<${Time} at=${created.expires_at} none="never" />`],
      ]}
    />
    <${Warnings} warnings=${created.warnings} />
    <div class="buttons">
      <button type="button" class="button primary" onClick=${onClose}>I have copied it</button>
    </div>
  <//>`
}

/** @param {{ of: ApiKey, onClose: () => void, onRevoked: () => void }} props */
function RevokeDialog({ of: key, onClose, onRevoked }) {
  const { value: user } = signedIn
  const isOwn = user?.by === 'key' && user.user === key.id
  // The answer to a revocation has no body: whether the tenant still has an administrator is asked before.
  const plan = useLoaded(() => planOf({ seats: {}, revoke: [key.id] }), [key.id])
  const { busy, refusal, run } = useAction(async () => {
    await call('DELETE', `/v1/api-keys/${encodeURIComponent(key.id)}`)
    onRevoked()
    onClose()
  })
  return html`<${Dialog} title=${`Revoke ${key.name}?`} onClose=${onClose} busy=${busy}>
    ${
      isOwn &&
      html`<${Notice} title="This is the key that you are signed in with.">
        <p>Once it is revoked, this page is refused too: sign in with another key or at the provider.</p>
      <//>`
    }
    <p>Every request with the key is refused from then on, on every instance. This cannot be undone.</p>
    <${Facts}
      rows=${[
        ['Id', html`<code>${key.id}</code>`],
        ['Seats', html`<${Tags} of=${key.seats} most=${10} />`],
        ['Last used', html`<${Time} at=${key.last_used_at} none="no use recorded" />`],
      ]}
    />
    <${Warnings} warnings=${plan.value?.warnings} />
    ${refusal && html`<${Refusal} refusal=${refusal} what="Not revoked" />`}
    <${DialogButtons}
      busy=${busy}
      onClose=${onClose}
      onRun=${run}
      text="Revoke the key"
      busyText="Revoking everywhere…"
      kind="danger"
    />
  <//>`
}
