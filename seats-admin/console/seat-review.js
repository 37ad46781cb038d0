/**
 * The review of a change of a Seat: what it affects, and what a colleague has changed since the form was
 * opened.
 */

import { useState } from 'preact/hooks'
import { newInAdminSpace } from './admin-space.js'
import { signedIn } from './credentials.js'
import { Changes, Differences, differencesOf } from './differences.js'
import { Dialog, DialogButtons } from './dialogs.js'
import { call, callForTag, Refused } from './gateway-calls.js'
import { impactOf, ImpactView } from './impact.js'
import { useAction, useLoaded } from './loading.js'
import { html } from './markup.js'
import { Who } from './names.js'
import { Facts, Tags, Time } from './pieces.js'
import { Loading, Notice, Refusal } from './states.js'

/** @typedef {{ name: string, spaces: string[], permissions: string[] }} Draft */
/** @typedef {import('./answers.d.ts').Seat} Seat */
/** @typedef {import('./answers.d.ts').CreatedSeat | import('./answers.d.ts').UpdatedSeat} Saved */
/** @typedef {{ seat: Seat, etag: string | null }} Read */

/**
 * @param {Seat} seat
 * @returns {Draft}
 */
export function draftOf({ name, spaces, permissions }) {
  return { name, spaces, permissions }
}

/**
 * @param {string} id
 * @param {AbortSignal} [signal]
 * @returns {Promise<Read>}
 */
export async function readSeat(id, signal) {
  const { body, etag } = await callForTag('GET', `/v1/seats/${encodeURIComponent(id)}`, { signal })
  return { seat: body, etag }
}

/**
 * What the change affects, before it is sent.
 *
 * @param {object} props
 * @param {Read | null} props.base
 * @param {Draft} props.draft
 * @param {() => void} props.onClose
 * @param {(seat: Saved) => void} props.onDone
 * @param {(read: Read) => void} props.onRebase the change is then one of this version
 * @param {(seat: Seat) => void} props.onTake the form then has this version
 */
export function Review({ base, draft, onClose, onDone, onRebase, onTake }) {
  const [newer, setNewer] = useState(/** @type {Read | null} */ (null))
  const { name, spaces, permissions } = draft
  const was = base === null || base.seat.name === name ? {} : { was: base.seat.name }
  const impact = useLoaded(() => impactOf({ [name]: { spaces, permissions, ...was } }), [])
  // The plan compares with the Seat as it is now: what a colleague has changed since would look like a change
  // of one's own.
  const now = useLoaded(
    (signal) => (base === null ? Promise.resolve(null) : readSeat(base.seat.id, signal)),
    [],
  )
  const changed = base !== null && now.value !== null && now.value.etag !== base.etag ? now.value : null
  const { busy, refusal, run } = useAction(async () => {
    try {
      onDone(await save(base, draft))
    } catch (cause) {
      const isStale = cause instanceof Refused && cause.status === 412
      if (!isStale || base === null) throw cause
      setNewer(await readSeat(base.seat.id))
    }
  })
  if (newer !== null)
    return html`<${Versions}
      draft=${draft}
      newer=${newer}
      onClose=${onClose}
      onMine=${() => {
        onRebase(newer)
        setNewer(null)
      }}
      onTheirs=${() => {
        onRebase(newer)
        onTake(newer.seat)
      }}
    />`
  // A plan is a read: without the right to it, the change may still be allowed.
  const isTaken =
    base === null
      ? impact.value !== null && impact.value.plan.changes[0]?.action !== 'create'
      : impact.refusal?.errors.some(({ path }) => path.endsWith('/was')) === true
  const mayGoOn = isTaken ? false : impact.value !== null || impact.refusal?.code === 'permission_denied'
  return html`<${Dialog}
    title=${base === null ? `Create ${name}?` : `Change ${base.seat.name}?`}
    onClose=${onClose}
    busy=${busy}
    wide
  >
    ${impact.refusal && html`<${Refusal} refusal=${impact.refusal} again=${impact.again} what="Whom it touches is not known" />`}
    ${
      isTaken &&
      html`<${Notice} title="There is a Seat of this name already.">
        <p>Choose another name, or edit that Seat.</p>
      <//>`
    }
    ${changed && base && html`<${ChangedMeanwhile} base=${base.seat} now=${changed.seat} onCompare=${() => setNewer(changed)} />`}
    <${InAdminSpace} base=${base} draft=${draft} />
    ${impact.value ? (isTaken ? null : html`<${ImpactView} of=${impact.value} />`) : impact.refusal ? null : html`<${Loading} what="Asking whom it touches" />`}
    ${refusal && html`<${Refusal} refusal=${refusal} what="Not saved" />`}
    <${DialogButtons}
      busy=${busy}
      onClose=${onClose}
      onRun=${run}
      text=${base === null ? 'Create the Seat' : 'Save the change'}
      busyText="Saving everywhere…"
      disabled=${!mayGoOn}
      leave="Back to the form"
    />
  <//>`
}

/** @param {{ base: Seat, now: Seat, onCompare: () => void }} props */
function ChangedMeanwhile({ base, now, onCompare }) {
  return html`<${Notice} title="A colleague has changed the Seat since you opened it.">
    <p><${Who} id=${now.updated_by ?? now.created_by} /> changed it <${Time} at=${now.updated_at} />:</p>
    <${Differences} of=${differencesOf({ ...draftOf(base) }, { ...draftOf(now) })} />
    <p>
      What follows compares yours with the Seat as it is now: it also takes this back, and is not saved before
      you have decided.
    </p>
    <button type="button" class="button" onClick=${onCompare}>Compare both versions</button>
  <//>`
}

/** @param {{ base: Read | null, draft: Draft }} props */
function InAdminSpace({ base, draft }) {
  const adminSpace = signedIn.peek()?.adminSpace ?? ''
  const granted = newInAdminSpace(base?.seat ?? null, draft, adminSpace)
  if (granted.length === 0) return null
  const all = granted.includes('*')
  return html`<${Notice}
    title=${all ? 'Its holders become administrators of the whole tenant.' : 'Its holders get rights over the whole tenant.'}
  >
    <p>
      <code>${adminSpace}</code> is the admin space, where a permission counts for the Seats, keys and users
      of all spaces:${' '} <${Tags} of=${granted} most=${5} />. A service needs the spaces of its requests
      alone.
    </p>
  <//>`
}

/**
 * @param {Read | null} base
 * @param {Draft} draft
 * @returns {Promise<Saved>}
 */
function save(base, draft) {
  return base === null
    ? call('POST', '/v1/seats', { body: draft })
    : call('PUT', `/v1/seats/${base.seat.id}`, { body: draft, ifMatch: base.etag })
}

/**
 * The Seat was changed in between: both versions, and the choice.
 *
 * @param {object} props
 * @param {Draft} props.draft
 * @param {Read} props.newer
 * @param {() => void} props.onClose
 * @param {() => void} props.onMine
 * @param {() => void} props.onTheirs
 */
function Versions({ draft, newer: { seat }, onClose, onMine, onTheirs }) {
  return html`<${Dialog} title="The Seat was changed meanwhile" onClose=${onClose} wide>
    <p>
      <${Who} id=${seat.updated_by ?? seat.created_by} /> changed it <${Time} at=${seat.updated_at} />.
      Nothing of yours was saved.
    </p>
    <div class="side-by-side">
      <section>
        <h3>It is now</h3>
        <${Version} of=${seat} other=${draft} />
      </section>
      <section>
        <h3>You wanted</h3>
        <${Version} of=${draft} other=${seat} />
      </section>
    </div>
    <div class="buttons">
      <button type="button" class="button" autofocus onClick=${onTheirs}>
        Start again from the current version
      </button>
      <button type="button" class="button primary" onClick=${onMine}>
        Review mine against the current version
      </button>
    </div>
  <//>`
}

/** What the other version lacks is marked. @param {{ of: Draft, other: Draft }} props */
function Version({ of, other }) {
  const rows = /** @type {const} */ ([
    ['Name', [of.name], [other.name]],
    ['Spaces', of.spaces, other.spaces],
    ['Permissions', of.permissions, other.permissions],
  ])
  return html`<${Facts}
    rows=${rows.map(([term, own, others]) => [
      term,
      html`<${Changes} added=${own.filter((each) => !others.includes(each))} removed=${[]} />
        <ul class="changes">
          ${own.filter((each) => others.includes(each)).map((each) => html`<li key=${each}><bdi>${each}</bdi></li>`)}
        </ul>`,
    ])}
  />`
}
