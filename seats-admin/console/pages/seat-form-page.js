/** Creating and editing a Seat: first the form, then what the change affects, then the change. */

import { effect } from '@preact/signals'
import { useLayoutEffect, useState } from 'preact/hooks'
import { hrefOf, open } from '../address.js'
import { signedIn } from '../credentials.js'
import { Field, permissionFault, spaceFault } from '../fields.js'
import { useIsShown, useLoaded } from '../loading.js'
import { html } from '../markup.js'
import { draftOf, readSeat, Review } from '../seat-review.js'
import { SetField } from '../set-field.js'
import { Notice, PageHeading, Warnings, whenLoaded } from '../states.js'
import { spacesOf, useRoutePermissions, useKnownSeats } from '../suggestions.js'

/** @typedef {import('../seat-review.js').Draft} Draft */
/** @typedef {import('../seat-review.js').Saved} Saved */
/** @typedef {import('../answers.d.ts').Seat} Seat */
/** @typedef {import('../seat-review.js').Read} Read */

/**
 * What was typed and not saved, by form: it is there again when its page is opened again. In memory alone,
 * until the sign-out.
 *
 * @type {Map<string, { base: Read | null, draft: Draft }>}
 */
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

/**
 * @param {string} form
 * @param {{ base: Read | null, draft: Draft } | null} typed null: there is nothing to keep any more
 */
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

/**
 * @param {Draft} a
 * @param {Draft} b
 */
function isSame(a, b) {
  const same = (/** @type {string[]} */ x, /** @type {string[]} */ y) =>
    x.length === y.length && x.every((each) => y.includes(each))
  return a.name === b.name && same(a.spaces, b.spaces) && same(a.permissions, b.permissions)
}

/**
 * What is typed, and the version that it changes. Back, or a link of the navigation, loses nothing.
 *
 * @param {string} form
 * @param {Read | null} firstBase null for a new Seat
 * @param {Draft} first
 */
function useDraft(form, firstBase, first) {
  const [before] = useState(() => kept.get(keyOf(form)))
  const [base, setBase] = useState(before?.base ?? firstBase)
  const [draft, setDraft] = useState(before?.draft ?? first)
  const [isKept, setKept] = useState(before !== undefined)
  const [saved, setSaved] = useState(/** @type {Saved | null} */ (null))
  const isChanged = !isSame(draft, base === null ? first : draftOf(base.seat))
  useLayoutEffect(
    () => keepDraft(form, isChanged && saved === null ? { base, draft } : null),
    [base, draft, saved],
  )
  const startAgain = () => {
    setBase(firstBase)
    setDraft(first)
    setKept(false)
  }
  return { base, setBase, draft, setDraft, isChanged, isKept, startAgain, saved, setSaved }
}

/**
 * @param {{ name: string, base: Read | null, first: Draft }} props name: of the form; base: null for a new
 *   Seat
 */
function Form({ name: form, base: firstBase, first }) {
  const { base, setBase, draft, setDraft, isChanged, isKept, startAgain, saved, setSaved } = useDraft(
    form,
    firstBase,
    first,
  )
  const [reviewing, setReviewing] = useState(false)
  const isShown = useIsShown()
  const isDone = (/** @type {Saved} */ seat) => {
    // Where the form was left and opened again in the meantime, what is typed there is another draft.
    if (kept.get(keyOf(form))?.draft === draft) keepDraft(form, null)
    // The user may have gone elsewhere.
    if (!isShown.current) return
    setSaved(seat)
    // With something to read first, the page stays.
    if (!seat.warnings?.length) open(hrefOf(['seats', seat.id]))
    else setReviewing(false)
  }
  if (saved !== null && !reviewing) return html`<${SavedNotice} seat=${saved} />`
  return html`
    ${
      isKept &&
      html`<${Notice}>
        <p>This is what you typed here and did not save.</p>
        <button type="button" class="button" onClick=${startAgain}>Start anew</button>
      <//>`
    }
    <${DraftForm} draft=${draft} onInput=${setDraft} onSubmit=${() => setReviewing(true)}>
      <button type="submit" class="button primary" disabled=${!isChanged}>Review the change…</button>
      <a
        class="button"
        href=${hrefOf(base === null ? ['seats'] : ['seats', base.seat.id])}
        onClick=${() => keepDraft(form, null)}
        >Cancel</a
      >
      ${isChanged ? null : html`<span class="quiet">${base === null ? '' : 'Nothing is changed yet.'}</span>`}
    <//>
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

/** @param {{ seat: Saved }} props */
function SavedNotice({ seat }) {
  return html`<${Notice} kind="done" title="Saved. It holds everywhere now." />
    <${Warnings} warnings=${seat.warnings} />
    <p><a class="button primary" href=${hrefOf(['seats', seat.id])}>Show the Seat</a></p>`
}

/**
 * @param {{ draft: Draft, onInput: (draft: Draft) => void, onSubmit: () => void, children?: any }} props
 *   children: its buttons
 */
function DraftForm({ draft, onInput, onSubmit, children }) {
  const [fault, setFault] = useState(/** @type {string | null} */ (null))
  const seats = useKnownSeats()
  const permissions = useRoutePermissions()
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const wrong = draft.name.trim() === '' ? 'A Seat needs a name.' : null
    setFault(wrong)
    if (wrong === null) onSubmit()
  }
  return html`<form onSubmit=${submit} class="stack form">
    <${Field}
      label="Name"
      value=${draft.name}
      onInput=${(/** @type {string} */ name) => onInput({ ...draft, name })}
      required
      focus
      fault=${fault}
      hint="Unique in the tenant. Tokens name their Seats by it, so a rename takes the Seat from the tokens that were issued before."
    />
    <${SetField}
      label="Spaces"
      one="space"
      values=${draft.spaces}
      onInput=${(/** @type {string[]} */ spaces) => onInput({ ...draft, spaces })}
      check=${spaceFault}
      suggestions=${spacesOf(seats)}
      hint="In each of them the Seat grants all of its permissions. Enter or a comma adds one."
    />
    <${SetField}
      label="Permissions"
      one="permission"
      values=${draft.permissions}
      onInput=${(/** @type {string[]} */ permissions) => onInput({ ...draft, permissions })}
      check=${permissionFault}
      suggestions=${permissions}
      hint="resource:operation, such as trainings:read, or * for all. A list can be pasted."
    />
    <div class="buttons start">${children}</div>
  </form>`
}
