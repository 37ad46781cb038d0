/** A user: Seats, sessions, and the block that refuses every token and session. */

import { useState } from 'preact/hooks'
import { address, hrefOf } from '../address.js'
import { signedIn } from '../credentials.js'
import { Dialog, DialogButtons } from '../dialogs.js'
import { Choice, Field } from '../fields.js'
import { call, Refused } from '../gateway-calls.js'
import { planOf } from '../impact.js'
import { readList, useAction, useList, useLoaded, useReadAgain } from '../loading.js'
import { html } from '../markup.js'
import { Who } from '../names.js'
import { Facts, Name, Table, Time } from '../pieces.js'
import { ListEnd, Notice, PageHeading, Refusal, Warnings, whenLoaded } from '../states.js'

/** @typedef {import('../answers.d.ts').User} User */
/** @typedef {import('../answers.d.ts').Block} Block */

const NO_SUCH_USER = {
  status: 404,
  code: 'user_not_found',
  title: 'No such user',
  detail: 'No user with this id has signed in, as far as you may see.',
}

export function UserPage() {
  const sub = address.value.query.get('sub') ?? ''
  const user = useLoaded(
    async (signal) => {
      // Not by the path: an id may hold any character.
      const { data } = await call('GET', '/v1/users', { query: { sub }, signal })
      const [value] = data
      if (value === undefined) throw new Refused(NO_SUCH_USER)
      return value
    },
    [sub],
  )
  // A colleague may block the user, or end the block.
  const old = useReadAgain(user)
  const { value } = user
  return html`
    <${PageHeading} title=${value?.email ?? sub} back=${{ href: hrefOf(['users']), text: 'Users' }} />
    ${whenLoaded(user, 'User', (value) => html`<${Details} user=${value} again=${user.again} />`, old !== null)}
  `
}

/** @param {{ user: User, again: () => void }} props */
function Details({ user, again }) {
  return html`
    <div class="columns">
      <section>
        <h2>User</h2>
        <${Facts}
          rows=${[
            ['Id', html`<code><bdi>${user.sub}</bdi></code>`],
            [
              'E-mail',
              user.email === null ? 'not given by the provider' : html`<${Name} of=${user.email} />`,
            ],
            ['Latest sign-in', html`<${Time} at=${user.last_sign_in} none="before it was recorded" />`],
          ]}
        />
        <p class="links">
          <a href=${hrefOf(['audit'], { actor: user.sub })}>What they changed</a>
          <a href=${hrefOf(['explain'], { by: 'user', who: user.sub })}>Explain a request of theirs</a>
        </p>
      </section>
      <section>
        <h2>Seats</h2>
        ${user.seats.length === 0 && html`<p class="quiet">The latest sign-in carried none.</p>`}
        <ul class="names">
          ${user.seats.map(
            (seat) =>
              html`<li key=${seat}>
                <a href=${hrefOf(['seats'], { name: seat })}><${Name} of=${seat} /></a>
              </li>`,
          )}
        </ul>
      </section>
      <${Blocking} user=${user} again=${again} />
    </div>
    <${Sessions} user=${user} />
  `
}

/** @param {{ user: User, again: () => void }} props */
function Blocking({ user, again }) {
  const [dialog, setDialog] = useState(false)
  const [warnings, setWarnings] = useState(
    /** @type {import('../answers.d.ts').Warning[] | undefined} */ ([]),
  )
  const block = useLoaded(
    async (signal) => {
      if (!user.blocked) return null
      const isOf = (/** @type {Block} */ each) => each.user === user.sub
      const { items } = await readList('/v1/blocks', { isEnough: (found) => found.some(isOf), signal })
      return items.find(isOf) ?? null
    },
    [user.sub, user.blocked],
  )
  const { busy, refusal, run } = useAction(async (/** @type {Block} */ { id }) => {
    await call('DELETE', `/v1/blocks/${encodeURIComponent(id)}`)
    again()
  })
  const { value } = block
  return html`<section>
    <h2>Block</h2>
    ${
      user.blocked
        ? html`<${Notice} title="Blocked: every token and session is refused.">
              ${
                value &&
                html`<p>
                    By <${Who} id=${value.created_by} /> since <${Time} at=${value.created_at} />, until${' '}
                    <${Time} at=${value.until} none="it is ended" />.
                  </p>
                  ${value.reason && html`<p>Reason: <bdi>${value.reason}</bdi></p>`}`
              }
            <//>
            ${value && html`<button type="button" class="button" disabled=${busy} onClick=${() => run(value)}>${busy ? 'Ending everywhere…' : 'End the block'}</button>`}
            ${block.refusal && html`<${Refusal} refusal=${block.refusal} again=${block.again} what="The block" />`}`
        : html`<p>A block refuses every token and session of the user, and closes what is open.</p>
            <button type="button" class="button danger" onClick=${() => setDialog(true)}>Block…</button>`
    }
    ${refusal && html`<${Refusal} refusal=${refusal} what="The block was not ended" />`}
    <${Warnings} warnings=${warnings} />
    ${
      dialog &&
      html`<${BlockDialog}
        user=${user}
        onClose=${() => setDialog(false)}
        onDone=${(/** @type {import('../answers.d.ts').Warning[] | undefined} */ warningsOfBlock) => {
          setDialog(false)
          setWarnings(warningsOfBlock)
          again()
        }}
      />`
    }
  </section>`
}

/** Whether it is the user of this page. @param {User} user */
function isSelf({ sub }) {
  return signedIn.value?.by === 'session' && signedIn.value.user === sub
}

const ENDS = /** @type {const} */ ([
  ['', 'until it is ended'],
  ['1', 'in an hour'],
  ['24', 'in a day'],
  ['168', 'in a week'],
  ['at', 'at a time…'],
])
const HOUR = 60 * 60_000

/**
 * @param
 *   {{ user: User, onClose: () => void, onDone: (warnings: import('../answers.d.ts').Warning[] | undefined) => void }}
 *   props
 */
function BlockDialog({ user, onClose, onDone }) {
  const [reason, setReason] = useState('')
  const [end, setEnd] = useState('')
  const [at, setAt] = useState('')
  const plan = useLoaded(() => planOf({ seats: {}, block: [user.sub] }), [user.sub])
  const { busy, refusal, run } = useAction(async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const time = end === 'at' ? Date.parse(at) : Date.now() + Number(end) * HOUR
    const { warnings } = await call('POST', '/v1/blocks', {
      body: {
        user: user.sub,
        ...(end === '' ? {} : { until: new Date(time).toISOString() }),
        ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
      },
    })
    onDone(warnings)
  })
  return html`<${Dialog} title=${`Block ${user.email ?? user.sub}?`} onClose=${onClose} busy=${busy}>
    <form onSubmit=${run} class="stack">
      <p>
        Every token and session of the user is refused at once, on every instance. What is open is closed.
      </p>
      ${isSelf(user) && html`<${Notice} title="This is you: afterwards you are refused too, and cannot end the block by this session." />`}
      <${Field}
        label="Reason"
        value=${reason}
        onInput=${setReason}
        focus
        hint="For people to read, here and in the audit."
      />
      <${Choice} label="Ends" value=${end} options=${ENDS} onInput=${setEnd} />
      ${end === 'at' && html`<${Field} label="Until, in your time zone" type="datetime-local" value=${at} onInput=${setAt} required />`}
      <${Warnings} warnings=${plan.value?.warnings} />
      ${refusal && html`<${Refusal} refusal=${refusal} what="Not blocked" />`}
      <${DialogButtons}
        busy=${busy}
        onClose=${onClose}
        text="Block the user"
        busyText="Blocking everywhere…"
        kind="danger"
      />
    </form>
  <//>`
}

/** @param {{ user: User }} props */
function Sessions({ user }) {
  const sessions = useList('/v1/sessions', { query: { user: user.sub }, deps: [user.blocked] })
  const [ending, setEnding] = useState('')
  const { busy, refusal, run } = useAction(async (/** @type {string} */ id) => {
    setEnding(id)
    await call('DELETE', `/v1/sessions/${encodeURIComponent(id)}`)
    sessions.again()
  })
  const isEnding = (/** @type {string} */ id) => busy && ending === id
  return html`<section>
    <h2>Sessions</h2>
    ${isSelf(user) && html`<p class="quiet">These are yours. To end the one that you use here signs you out.</p>`}
    ${refusal && html`<${Refusal} refusal=${refusal} what="The session was not ended" />`}
    <${Table}
      label="Sessions"
      columns=${[['Began'], ['With'], ['Expires'], [html`<span class="unseen">Actions</span>`, 'action']]}
      rows=${sessions.items.map(
        ({ id, kind, created_at: began, expires_at: expires }) =>
          html`<tr key=${id}>
            <th scope="row"><${Time} at=${began} none="before it was recorded" /></th>
            <td>${kind === 'browser' ? 'a browser' : 'a program'}</td>
            <td><${Time} at=${expires} /></td>
            <td class="action">
              <button type="button" class="button" disabled=${isEnding(id)} onClick=${() => run(id)}>
                ${isEnding(id) ? 'Ending…' : 'End the session'}
              </button>
            </td>
          </tr>`,
      )}
    />
    <${ListEnd} of=${sessions} what="Sessions" none=${html`<p class="quiet">No session that lasts.</p>`} />
  </section>`
}
