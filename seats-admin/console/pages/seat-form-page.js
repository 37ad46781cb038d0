/** Creating and editing a Seat: first the form, then whom the change touches, then the change. */

import { effect } from '@preact/signals'
import { useLayoutEffect, useState } from 'preact/hooks'
import { hrefOf, open } from '../address.js'
import { newInAdminSpace } from '../admin-space.js'
import { signedIn } from '../credentials.js'
import { Changes, Differences, differencesOf } from '../differences.js'
import { Dialog } from '../dialogs.js'
import { Field, permissionFault, SetField, spaceFault } from '../fields.js'
import { call, Refused } from '../gateway-calls.js'
import { impactOf, ImpactView } from '../impact.js'
import { useAction, useIsShown, useLoaded } from '../loading.js'
import { html } from '../markup.js'
import { Who } from '../names.js'
import { Facts, Tags, Time } from '../pieces.js'
import { Loading, Notice, PageHeading, Refusal, Warnings, whenLoaded } from '../states.js'
import { spacesOf, useAskedPermissions, useKnownSeats } from '../suggestions.js'
import { readSeat } from './seat-page.js'

/** @typedef {{ name: string, spaces: string[], permissions: string[] }} Draft */
/** @typedef {import('../answers.d.ts').Seat} Seat */
/** @typedef {import('../answers.d.ts').CreatedSeat | import('../answers.d.ts').UpdatedSeat} Saved */
/** @typedef {{ seat: Seat, etag: string | null }} Read */

/** What was typed and not saved, by form: it is there again when its page is opened again. In memory alone, until the sign-out. @type {Map<string, { base: Read | null, draft: Draft }>} */
const kept = new Map()

effect(() => {
  if (signedIn.value === null) kept.clear()
})

addEventListener('beforeunload', (event) => {
  if (kept.size > 0) event.preventDefault()
})

/** @param {string} form names it in its tenant and space */
function keyOf(form) {
  const { tenant = '', space = '' } = signedIn.peek() ?? {}
  return JSON.stringify([tenant, space, form])
}

/** @param {string} form @param {{ base: Read | null, draft: Draft } | null} typed null: there is nothing to keep any more */
function keepDraft(form, typed) {
  if (typed === null) kept.delete(keyOf(form))
  else kept.set(keyOf(form), typed)
}

/** Without a space: each is chosen, above all the admin space. @type {Draft} */
const EMPTY = { name: '', spaces: [], permissions: [] }

export function NewSeatPage() {
  return html`<${PageHeading} title="New Seat" back=${{ href: hrefOf(['seats']), text: 'Seats' }} />
    <${Form} name="new" base=${null} first=${EMPTY} />`
}

/** @param {{ rest: string[] }} props */
export function EditSeatPage({ rest: [id = ''] }) {
  const read = useLoaded((signal) => readSeat(id, signal), [id])
  return html`
    <${PageHeading}
      title=${read.value ? `Edit ${read.value.seat.name}` : 'Edit Seat'}
      back=${{ href: hrefOf(['seats', id]), text: 'Seat' }}
    />
    ${whenLoaded(read, 'Seat', (value) => html`<${Form} name=${id} base=${value} first=${draftOf(value.seat)} />`)}
  `
}

/** @param {Seat} seat @returns {Draft} */
function draftOf({ name, spaces, permissions }) {
  return { name, spaces, permissions }
}

/** @param {Draft} a @param {Draft} b */
function isSame(a, b) {
  const same = (/** @type {string[]} */ x, /** @type {string[]} */ y) =>
    x.length === y.length && x.every((each) => y.includes(each))
  return a.name === b.name && same(a.spaces, b.spaces) && same(a.permissions, b.permissions)
}

/** @param {{ name: string, base: Read | null, first: Draft }} props name: of the form; base: null for a new Seat */
function Form({ name: form, base: firstBase, first }) {
  const [found] = useState(() => kept.get(keyOf(form)))
  const [base, setBase] = useState(found?.base ?? firstBase)
  const [draft, setDraft] = useState(found?.draft ?? first)
  const [isFound, setFound] = useState(found !== undefined)
  const [reviewing, setReviewing] = useState(false)
  const [saved, setSaved] = useState(/** @type {Saved | null} */ (null))
  const [fault, setFault] = useState(/** @type {string | null} */ (null))
  const known = useKnownSeats()
  const asked = useAskedPermissions()
  const isChanged = !isSame(draft, base === null ? first : draftOf(base.seat))
  // Back, or a link of the navigation, loses nothing.
  useLayoutEffect(
    () => keepDraft(form, isChanged && saved === null ? { base, draft } : null),
    [base, draft, saved],
  )
  const isShown = useIsShown()
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const wrong = draft.name.trim() === '' ? 'A Seat needs a name.' : null
    setFault(wrong)
    if (wrong === null) setReviewing(true)
  }
  const isDone = (/** @type {Saved} */ seat) => {
    // Where the form was left and opened again meanwhile, what is typed there is another draft.
    if (kept.get(keyOf(form))?.draft === draft) keepDraft(form, null)
    // The user has gone elsewhere meanwhile.
    if (!isShown.current) return
    setSaved(seat)
    // With something to read first, the page stays.
    if (!seat.warnings?.length) open(hrefOf(['seats', seat.id]))
    else setReviewing(false)
  }
  if (saved !== null && !reviewing)
    return html`<${Notice} kind="done" title="Saved. It holds everywhere now." />
      <${Warnings} warnings=${saved.warnings} />
      <p><a class="button primary" href=${hrefOf(['seats', saved.id])}>Show the Seat</a></p>`
  const startAnew = () => {
    setBase(firstBase)
    setDraft(first)
    setFound(false)
  }
  return html`
    ${
      isFound &&
      html`<${Notice}>
        <p>This is what you typed here and did not save.</p>
        <button type="button" class="button" onClick=${startAnew}>Start anew</button>
      <//>`
    }
    <form onSubmit=${submit} class="stack form">
      <${Field}
        label="Name"
        value=${draft.name}
        onInput=${(/** @type {string} */ name) => setDraft({ ...draft, name })}
        required
        focus
        fault=${fault}
        hint="Unique in the tenant. Tokens name their Seats by it, so a rename takes the Seat from the tokens that were issued before."
      />
      <${SetField}
        label="Spaces"
        one="space"
        values=${draft.spaces}
        onInput=${(/** @type {string[]} */ spaces) => setDraft({ ...draft, spaces })}
        check=${spaceFault}
        suggestions=${spacesOf(known)}
        hint="In each of them the Seat grants all of its permissions. Enter or a comma adds one."
      />
      <${SetField}
        label="Permissions"
        one="permission"
        values=${draft.permissions}
        onInput=${(/** @type {string[]} */ permissions) => setDraft({ ...draft, permissions })}
        check=${permissionFault}
        suggestions=${asked}
        hint="resource:operation, such as trainings:read, or * for all. A list can be pasted."
      />
      <div class="buttons start">
        <button type="submit" class="button primary" disabled=${!isChanged}>Review the change…</button>
        <a
          class="button"
          href=${hrefOf(base === null ? ['seats'] : ['seats', base.seat.id])}
          onClick=${() => keepDraft(form, null)}
          >Cancel</a
        >
        ${isChanged ? null : html`<span class="quiet">${base === null ? '' : 'Nothing is changed yet.'}</span>`}
      </div>
    </form>
    ${
      reviewing &&
      html`<${Review}
        key=${base?.etag}
        base=${base}
        draft=${{ ...draft, name: draft.name.trim() }}
        onClose=${() => setReviewing(false)}
        onDone=${isDone}
        onRebase=${setBase}
        onTake=${(/** @type {Seat} */ seat) => {
          setDraft(draftOf(seat))
          setReviewing(false)
        }}
      />`
    }
  `
}

/**
 * Whom the change touches, before it is sent.
 *
 * @param {object} props
 * @param {Read | null} props.base
 * @param {Draft} props.draft
 * @param {() => void} props.onClose
 * @param {(seat: Saved) => void} props.onDone
 * @param {(read: Read) => void} props.onRebase the change is then one of this version
 * @param {(seat: Seat) => void} props.onTake the form then has this version
 */
function Review({ base, draft, onClose, onDone, onRebase, onTake }) {
  const [newer, setNewer] = useState(/** @type {Read | null} */ (null))
  const { name, spaces, permissions } = draft
  const was = base === null || base.seat.name === name ? {} : { was: base.seat.name }
  const impact = useLoaded(() => impactOf({ [name]: { spaces, permissions, ...was } }), [])
  // The plan compares with the Seat as it is now: what a colleague has changed since would look like a change of one's own.
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
    <div class="buttons">
      <button type="button" class="button" autofocus disabled=${busy} onClick=${onClose}>
        Back to the form
      </button>
      <button type="button" class="button primary" disabled=${busy || !mayGoOn} onClick=${run}>
        ${busy ? 'Saving everywhere…' : base === null ? 'Create the Seat' : 'Save the change'}
      </button>
    </div>
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

/** @param {Read | null} base @param {Draft} draft @returns {Promise<Saved>} */
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
