/**
 * The dialog that revokes what a subject was given: what would end, the question, and the answer of each
 * instance. If the answer is lost, it looks for the revocation itself.
 */

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useBlockEnd } from './block-end.js'
import { Dialog, DialogButtons } from './dialogs.js'
import { Choice, Field } from './fields.js'
import { mayPass, useAction, useLoaded, useReadAgain } from './loading.js'
import { html } from './markup.js'
import { Time } from './pieces.js'
import { Ended, Instances, NotCovered, RevocationView } from './revocation-view.js'
import { idsBefore, newestOf, preview as previewOf, revoke } from './revocations.js'
import { Loading, Notice, Refusal, Warnings } from './states.js'

/** @typedef {import('./revocations.js').CreatedRevocation} CreatedRevocation */
/** @typedef {import('./revocations.js').Revocation} Revocation */
/** @typedef {import('./revocations.js').Subject} Subject */

/**
 * The caller among those who lose: `session` may sign in again, a `key` is revoked.
 *
 * @typedef {'session' | 'key' | null} Self
 */

const SCOPES = /** @type {const} */ ([
  ['existing', 'what was given before now; a new sign-in passes'],
  ['all', 'that, and the user is blocked'],
])

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {string} props.name of the subject, for people
 * @param {Self} props.self
 * @param {(changed: boolean) => void} props.onClose changed: a revocation was made, or may have been
 */
export function RevokeDialog({ subject, name, self, onClose }) {
  const [done, setDone] = useState(/** @type {CreatedRevocation | null} */ (null))
  const [before, setBefore] = useState(/** @type {ReadonlySet<string> | null} */ (null))
  const { busy, refusal, setRefusal, run } = useAction(
    async (/** @type {import('./revocations.js').Order} */ order) => {
      setBefore(await idsBefore(subject))
      setDone(await revoke(order))
    },
  )
  const isInDoubt = refusal?.isInDoubt === true
  const question = `Revoke ${'user' in subject ? 'everything of ' : ''}${name}?`
  const close = () => onClose(done !== null || isInDoubt)
  return html`<${Dialog}
    title=${done === null ? question : `Revoked: ${name}`}
    onClose=${close}
    busy=${busy}
    wide
  >
    ${done && html`<${Done} of=${done} self=${self} onClose=${close} />`}
    ${isInDoubt && html`<${InDoubt} subject=${subject} refusal=${refusal} before=${before} onAgain=${() => setRefusal(null)} onClose=${close} />`}
    <div hidden=${done !== null || isInDoubt}>
      <${Order}
        subject=${subject}
        self=${self}
        busy=${busy}
        refusal=${refusal}
        onRun=${run}
        onClose=${close}
      />
    </div>
  <//>`
}

/**
 * @param {object} props
 * @param {Subject} props.subject
 * @param {Self} props.self
 * @param {boolean} props.busy
 * @param {import('./gateway-calls.js').Refused | null} props.refusal
 * @param {(order: import('./revocations.js').Order) => void} props.onRun
 * @param {() => void} props.onClose
 */
function Order({ subject, self, busy, refusal, onRun, onClose }) {
  const [what, setWhat] = useState(/** @type {'existing' | 'all'} */ ('existing'))
  const [reason, setReason] = useState('')
  const end = useBlockEnd('The block ends')
  const preview = useLoaded((signal) => previewOf({ subject, what }, signal), [what])
  const isUser = 'user' in subject
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const text = reason.trim()
    onRun({ subject, what, ...(what === 'all' ? end.read() : {}), ...(text === '' ? {} : { reason: text }) })
  }
  return html`<form onSubmit=${submit} class="stack">
    <p>
      ${isUser ? 'Sessions, tokens and the API keys that the user owns are refused' : 'Requests with the key are refused'}
      ${' '}at once, on every instance, and what is open is closed. This cannot be undone.
    </p>
    <${SelfNotice} self=${self} what=${what} />
    ${isUser && html`<${Choice} label="What ends" value=${what} options=${SCOPES} onInput=${setWhat} />`}
    ${what === 'all' && end.fields}
    <${Field}
      label="Reason"
      value=${reason}
      onInput=${setReason}
      focus
      hint="For people to read, here and in the audit."
    />
    <${Preview} of=${preview} isWaiting=${busy} />
    ${refusal && html`<${Refusal} refusal=${refusal} what="Not revoked" />`}
    <${DialogButtons}
      busy=${busy}
      onClose=${onClose}
      text="Revoke"
      busyText="Revoking everywhere…"
      kind="danger"
      disabled=${preview.loading || (preview.refusal !== null && !mayPass(preview.refusal))}
    />
  </form>`
}

/** @param {{ self: Self, what: 'existing' | 'all' }} props */
function SelfNotice({ self, what }) {
  if (self === null) return null
  const title = self === 'session' ? 'This is you.' : 'The key that you are signed in with is among them.'
  return html`<${Notice} title=${title}>
    <p>
      The answer still arrives here, with the receipt. Afterwards this page asks for a new
      sign-in${
        self === 'session' && what === 'all' ? ', which the block refuses: someone else has to end it' : ''
      }.
    </p>
  <//>`
}

/** @param {{ of: import('./loading.js').Loaded<CreatedRevocation>, isWaiting: boolean }} props */
function Preview({ of: { value, refusal, loading, again }, isWaiting }) {
  if (refusal)
    return mayPass(refusal)
      ? html`<${Refusal} refusal=${refusal} again=${again} what="What would end is not known" />
          <p>You can revoke nevertheless.</p>`
      : html`<${Refusal} refusal=${refusal} what="You cannot revoke here" />`
  if (loading || value === null) return html`<${Loading} what="Asking every instance what would end" />`
  return html`<div class="impact">
    <${Ended} of=${value.ended} heading="What would end" />
    ${value.state === 'partial' && html`<${Notice} title="Not every instance has answered: there may be more." />`}
    ${
      isWaiting &&
      html`<p class="unseen" role="status">Waiting for the instances</p>
        <${Instances} of=${value.instances} />`
    }
    <${NotCovered} of=${value.not_covered} />
    <${Warnings} warnings=${value.warnings} />
  </div>`
}

/** @param {{ of: CreatedRevocation, self: Self, onClose: () => void }} props */
function Done({ of, self, onClose }) {
  const answer = useFocus()
  return html`<div ref=${answer} tabindex="-1" role="group" aria-label="The answer" class="stack">
    <${RevocationView} of=${of} />
    ${self !== null && html`<p>Your own sign-in has ended with it: download the receipt before you close this.</p>`}
    <div class="buttons">
      <button type="button" class="button primary" onClick=${onClose}>Close</button>
    </div>
  </div>`
}

/** Moves the focus to an answer, from its beginning: the form that had it is hidden. */
function useFocus() {
  const element = useRef(/** @type {HTMLElement | null} */ (null))
  useLayoutEffect(() => {
    element.current?.focus({ preventScroll: true })
    element.current?.closest('dialog')?.scrollTo(0, 0)
  }, [])
  return element
}

/**
 * No answer came, or one that leaves it unknown. The list of revocations says whether it was made, and what
 * it has reached.
 *
 * @param {object} props
 * @param {Subject} props.subject
 * @param {import('./gateway-calls.js').Refused} props.refusal
 * @param {ReadonlySet<string> | null} props.before ids of the revocations before it
 * @param {() => void} props.onAgain
 * @param {() => void} props.onClose
 */
function InDoubt({ subject, refusal, before, onAgain, onClose }) {
  const heading = useFocus()
  const newest = useLoaded((signal) => newestOf(subject, signal), [])
  useReadAgain(newest)
  const isNew = (/** @type {Revocation} */ { id }) => before !== null && !before.has(id)
  const match = newest.value?.find(isNew) ?? null
  return html`<div ref=${heading} tabindex="-1" role="group" aria-label="The answer" class="stack">
    ${
      match === null
        ? html`<${Refusal} refusal=${refusal} what="It is not known whether it was revoked" />
            <${Looking} of=${newest} isComparable=${before !== null} />`
        : html`<${Notice}
              title="Its answer was lost. The gateway has a revocation that is newer than your request:"
            />
            <${RevocationView} key=${match.id} of=${match} />`
    }
    <div class="buttons">
      <button type="button" class="button" onClick=${onClose}>Close</button>
      <button type="button" class="button" onClick=${onAgain}>Back to the form, to revoke again</button>
    </div>
  </div>`
}

/** @param {{ of: import('./loading.js').Loaded<Revocation[]>, isComparable: boolean }} props */
function Looking({ of: { at, refusal, again }, isComparable }) {
  if (refusal)
    return html`<${Refusal} refusal=${refusal} again=${again} what="The revocations could not be read" />`
  if (at === null) return html`<${Loading} what="Looking for it in the list of revocations" />`
  return html`<p role="status">
    ${
      isComparable
        ? html`As of <${Time} at=${at} />, the list of revocations does not have it. This page looks again
            every five seconds.`
        : 'The revocations before it could not be read: compare their times in the list on the page.'
    }
    ${' '}To revoke again is harmless.
  </p>`
}
