/** A user: Seats, sessions, owned API keys, the block that refuses every credential, and the revocations. */

import { useState } from 'preact/hooks'
import { address, hrefOf } from '../address.js'
import { useBlockEnd } from '../block-end.js'
import { signedIn } from '../credentials.js'
import { Dialog, DialogButtons } from '../dialogs.js'
import { Field } from '../fields.js'
import { call, Refused } from '../gateway-calls.js'
import { planOf } from '../impact.js'
import { keyState } from '../key-state.js'
import { readList, useAction, useList, useLoaded, useReadAgain } from '../loading.js'
import { html } from '../markup.js'
import { Who } from '../names.js'
import { Facts, Name, Table, Time } from '../pieces.js'
import { Revocations } from '../revocation-list.js'
import { RevokeDialog } from '../revoke-dialog.js'
import { givenBy } from '../seat-sources.js'
import { ListEnd, Notice, PageHeading, Refusal, Warnings, whenLoaded } from '../states.js'

/** @typedef {import('../answers.d.ts').User} User */
/** @typedef {import('../answers.d.ts').Block} Block */

const NO_SUCH_USER = {
  status: 404,
  code: 'user_not_found',
  title: 'No such user',
  detail:
    'No user with this id is known, as far as you may see. Tokens of other issuers leave no record of their users: what such a user has can be revoked nevertheless.',
}

export function UserPage() {
  const sub = address.value.query.get('sub') ?? ''
  const [revoking, setRevoking] = useState(false)
  const [version, setVersion] = useState(0)
  const user = useLoaded(
    async (signal) => {
      // Not by the path: an id may hold any character.
      const { data } = await call('GET', '/v1/users', { query: { sub }, signal })
      const [value] = data
      if (value === undefined) throw new Refused(NO_SUCH_USER)
      return value
    },
    [sub, version],
  )
  // A colleague may block the user, or end the block. A caller that has revoked itself reads the answer first.
  const old = useReadAgain(user, revoking)
  const owned = useList('/v1/api-keys', { query: { owner: sub }, whole: true, deps: [version] })
  const { value } = user
  const name = value?.email ?? sub
  return html`
    <${PageHeading} title=${name} back=${{ href: hrefOf(['users']), text: 'Users' }}>
      <button type="button" class="button danger" onClick=${() => setRevoking(true)}>Revoke…</button>
    <//>
    ${whenLoaded(user, 'User', (value) => html`<${Details} user=${value} version=${version} again=${user.again} />`, old !== null)}
    <${OwnedKeys} of=${owned} />
    <${Revocations} subject=${{ user: sub }} version=${version} />
    ${
      revoking &&
      html`<${RevokeDialog}
        subject=${{ user: sub }}
        name=${name}
        self=${selfOf(sub, owned.items)}
        onClose=${(/** @type {boolean} */ changed) => {
          setRevoking(false)
          if (changed) setVersion(version + 1)
        }}
      />`
    }
  `
}

/**
 * @param {string} sub
 * @param {readonly import('../answers.d.ts').ApiKey[]} owned
 * @returns {import('../revoke-dialog.js').Self} the credential of the caller, if it is one of the user's
 */
function selfOf(sub, owned) {
  const { value: who } = signedIn
  if (who?.by === 'session') return who.user === sub ? 'session' : null
  return owned.some(({ id }) => id === who?.user) ? 'key' : null
}

/** @param {{ of: import('../loading.js').Listed<import('../answers.d.ts').ApiKey> }} props */
function OwnedKeys({ of }) {
  return html`<section>
    <h2>API keys that they own</h2>
    <ul class="names">
      ${of.items.map(
        (key) =>
          html`<li key=${key.id}>
            <a href=${hrefOf(['api-keys', key.id])}><${Name} of=${key.name} /></a>${' '}
            <span class=${`badge ${keyState(key)}`}>${keyState(key)}</span>
          </li>`,
      )}
    </ul>
    <${ListEnd} of=${of} what="API keys" none=${html`<p class="quiet">None.</p>`} />
  </section>`
}

/** @param {{ user: User, version: number, again: () => void }} props */
function Details({ user, version, again }) {
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
            ['Latest sign-in', html`<${Time} at=${user.last_sign_in} none="none recorded" />`],
          ]}
        />
        <p class="links">
          <a href=${hrefOf(['audit'], { actor: user.sub })}>What they changed</a>
          <a href=${hrefOf(['explain'], { by: 'user', who: user.sub })}>Explain a request of theirs</a>
        </p>
      </section>
      <section>
        <h2>Seats</h2>
        ${user.seats.length === 0 && html`<p class="quiet">${givenBy('noSeat')}</p>`}
        <ul class="names">
          ${user.seats.map(
            (seat) =>
              html`<li key=${seat}>
                <a href=${hrefOf(['seats'], { name: seat })}><${Name} of=${seat} /></a>
              </li>`,
          )}
          ${user.grants?.map(
            ({ id, seat, until }) =>
              html`<li key=${id}>
                <a href=${hrefOf(['seats'], { name: seat })}><${Name} of=${seat} /></a> by a${' '}<a
                  href=${hrefOf(['grants'], { user: user.sub })}
                  >grant</a
                >
                ${' '}until <${Time} at=${until} />
              </li>`,
          )}
        </ul>
      </section>
      <${Blocking} user=${user} again=${again} />
    </div>
    <${Sessions} user=${user} version=${version} />
  `
}

/** @param {{ user: User, again: () => void }} props */
function Blocking({ user, again }) {
  const [dialog, setDialog] = useState(false)
  const [warnings, setWarnings] = useState(
    /** @type {import('../answers.d.ts').Warning[] | undefined} */ ([]),
  )
  const blocks = useLoaded(
    async (signal) => {
      if (!user.blocked) return []
      const { items } = await readList('/v1/blocks', { signal })
      return items.filter((each) => each.user === user.sub)
    },
    // With each reading of the user: of several blocks, one may have ended.
    [user],
  )
  const { busy, refusal, run } = useAction(async (/** @type {Block} */ { id }) => {
    await call('DELETE', `/v1/blocks/${encodeURIComponent(id)}`)
    again()
  })
  const all = blocks.value ?? []
  const isLast = all.length === 1
  return html`<section>
    <h2>Block</h2>
    ${
      user.blocked
        ? html`<${Notice} title="Blocked: every token, session and owned API key is refused.">
              ${all.map((block) => html`<${BlockTerms} key=${block.id} block=${block} />`)}
            <//>
            ${all.map(
              (block) =>
                html`<button
                  key=${block.id}
                  type="button"
                  class="button"
                  disabled=${busy}
                  onClick=${() => run(block)}
                >
                  ${busy ? 'Ending everywhere…' : isLast ? 'End the block' : END_TEXTS[block.origin]}
                </button>`,
            )}
            ${blocks.refusal && html`<${Refusal} refusal=${blocks.refusal} again=${blocks.again} what="The block" />`}`
        : html`<p>
            A block refuses every token, session and owned API key, later ones too, and closes what is open.
          </p>`
    }
    ${
      // Beside a block of the provider, which the provider may end.
      (!user.blocked || (blocks.value !== null && all.every(({ origin }) => origin !== 'admin'))) &&
      html`<button type="button" class="button danger" onClick=${() => setDialog(true)}>Block…</button>`
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

/** The text of the button, if there are several blocks. @type {Record<Block['origin'], string>} */
const END_TEXTS = {
  admin: 'End the block of administrators',
  events: 'End the block by an event',
  scim: 'End the block by SCIM',
}

/** @type {Record<Block['origin'], string>} */
const ORIGIN_TEXTS = { admin: '', events: 'an event of ', scim: 'SCIM of ' }

/** @param {{ block: Block }} props */
function BlockTerms({ block }) {
  return html`<p>
      By ${ORIGIN_TEXTS[block.origin]}<${Who} id=${block.created_by} /> since${' '}<${Time}
        at=${block.created_at}
      />, until${' '}<${Time} at=${block.until} none="it is ended" />.
    </p>
    ${block.reason && html`<p>Reason: <bdi>${block.reason}</bdi></p>`}`
}

/** Whether it is the user of this page. @param {User} user */
function isSelf({ sub }) {
  return signedIn.value?.by === 'session' && signedIn.value.user === sub
}

/**
 * @param
 *   {{ user: User, onClose: () => void, onDone: (warnings: import('../answers.d.ts').Warning[] | undefined) => void }}
 *   props
 */
function BlockDialog({ user, onClose, onDone }) {
  const [reason, setReason] = useState('')
  const end = useBlockEnd('Ends')
  const plan = useLoaded(() => planOf({ seats: {}, block: [user.sub] }), [user.sub])
  const { busy, refusal, run } = useAction(async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const { warnings } = await call('POST', '/v1/blocks', {
      body: {
        user: user.sub,
        ...end.read(),
        ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
      },
    })
    onDone(warnings)
  })
  return html`<${Dialog} title=${`Block ${user.email ?? user.sub}?`} onClose=${onClose} busy=${busy}>
    <form onSubmit=${run} class="stack">
      <p>
        Every token and session of the user, and every API key that they own, is refused at once, on every
        instance. What is open is closed.
      </p>
      ${isSelf(user) && html`<${Notice} title="This is you: afterwards you are refused too, and cannot end the block by this session." />`}
      <${Field}
        label="Reason"
        value=${reason}
        onInput=${setReason}
        focus
        hint="For people to read, here and in the audit."
      />
      ${end.fields}
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

/** @param {{ user: User, version: number }} props */
function Sessions({ user, version }) {
  const sessions = useList('/v1/sessions', { query: { user: user.sub }, deps: [user.blocked, version] })
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
