/** The owner of an API key: the `sub` of a user, which the field compares with the users that the gateway has. */

import { useState } from 'preact/hooks'
import { Field } from './fields.js'
import { call } from './gateway-calls.js'
import { useLoaded } from './loading.js'
import { html } from './markup.js'
import { Name } from './pieces.js'

/** @typedef {import('./answers.d.ts').User} User */

/** Users that are suggested. */
const MOST = 5

/**
 * A `sub` that names no user would be an owner that no block and no revocation ever concerns: it is said
 * before, and users whose id or e-mail address has the text are suggested.
 *
 * @param {{ value: string, onInput: (sub: string) => void }} props
 */
export function OwnerField({ value, onInput }) {
  const [text, setText] = useState('')
  const users = useLoaded((signal) => usersLike(text, signal), [text])
  const { exact, others } = users.value?.text === value ? users.value : { exact: null, others: [] }
  const isUnknown = users.value?.text === value && value !== '' && exact === null
  return html`<div onFocusout=${() => setText(value)} class="stack">
    <${Field}
      label="Owner"
      value=${value}
      onInput=${(/** @type {string} */ typed) => onInput(typed.trim())}
      hint="Optional: the id of a user. A block of the owner refuses the key, and a revocation of the owner revokes it."
    />
    ${exact && html`<p class="hint" role="status">This is <${Name} of=${exact.email ?? exact.sub} />.</p>`}
    ${
      isUnknown &&
      html`<div class="hint" role="status">
        <p>No user with this id has signed in${others.length > 0 ? '. Perhaps:' : ': is it right?'}</p>
        <div class="row">
          ${others.map(
            ({ sub, email }) =>
              html`<button
                type="button"
                class="button"
                key=${sub}
                onClick=${() => (onInput(sub), setText(sub))}
              >
                <${Name} of=${email ?? sub} />
              </button>`,
          )}
        </div>
      </div>`
    }
  </div>`
}

/**
 * @param {string} text
 * @param {AbortSignal} signal
 * @returns {Promise<{ text: string, exact: User | null, others: User[] }>} rejects with a Refused
 */
async function usersLike(text, signal) {
  if (text === '') return { text, exact: null, others: [] }
  const [{ data: exact }, { data: others }] = await Promise.all([
    call('GET', '/v1/users', { query: { sub: text }, signal }),
    call('GET', '/v1/users', { query: { q: text, limit: String(MOST) }, signal }),
  ])
  return { text, exact: exact[0] ?? null, others }
}
