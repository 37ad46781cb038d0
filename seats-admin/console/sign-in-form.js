/** The form of the sign-in: by an API key, or at the identity provider of the tenant. */

import { useEffect, useState } from 'preact/hooks'
import { hrefOf } from './address.js'
import { remember, signIn } from './credentials.js'
import { Field, spaceFault } from './fields.js'
import { callSignIn, Refused } from './gateway-calls.js'
import { identified } from './identity.js'
import { refusalOf, useAction } from './loading.js'
import { html } from './markup.js'
import { Notice, Refusal } from './states.js'

/** Windows of the console tell each other that a sign-in at the provider is done. */
export const CHANNEL = 'seatgate.console.signed-in'

const WAYS = /** @type {const} */ ([
  ['key', 'API key'],
  ['session', 'Identity provider'],
])

/**
 * @param {object} props
 * @param {() => void} [props.again] a page waits for a sign-in, which is made before the call
 * @param {'key' | 'session'} [props.by]
 * @param {string} [props.tenant]
 * @param {string} [props.space]
 * @param {Refused | null} [props.before] of the session that the browser has
 */
export function SignInForm({ again, before = null, ...first }) {
  const [by, setBy] = useState(first.by ?? 'key')
  const [tenant, setTenant] = useState(first.tenant ?? '')
  const [space, setSpace] = useState(first.space ?? '')
  const [elsewhere, setElsewhere] = useState('')
  const { busy, refusal, setRefusal, run } = useAction(async (/** @type {HTMLFormElement} */ form) => {
    if (by === 'session') return setElsewhere(await openProvider(tenant.trim(), space, again !== undefined))
    await signInWithKey(form, space)
    again?.()
  }, before)
  const submit = (/** @type {SubmitEvent & { currentTarget: HTMLFormElement }} */ event) => {
    event.preventDefault()
    if (!busy && spaceFault(space) === null) void run(event.currentTarget)
  }
  useSignInElsewhere(elsewhere, space, again, setRefusal)
  return html`<form onSubmit=${submit} class="stack">
    <fieldset class="choice">
      <legend>Sign in with</legend>
      ${WAYS.map(
        ([value, text]) =>
          html`<label key=${value}>
            <input type="radio" name="by" checked=${by === value} onChange=${() => setBy(value)} />${text}
          </label>`,
      )}
    </fieldset>
    ${
      by === 'key'
        ? html`<${Field}
            key="key"
            label="API key"
            type="password"
            name="key"
            required
            focus
            hint="It stays in the memory of this page. A reload forgets it."
          />`
        : html`<${Field} key="tenant" label="Tenant" value=${tenant} onInput=${setTenant} required focus />`
    }
    <${Field}
      label="Space"
      value=${space}
      onInput=${setSpace}
      fault=${spaceFault(space)}
      hint="Leave it empty for the admin space, which manages the whole tenant. Without rights there, enter the space that you manage."
    />
    ${refusal && html`<${Refusal} refusal=${refusal} />`}
    ${
      elsewhere &&
      html`<${Notice}
        ><p>Sign in at the provider in the window that was opened. This page continues by itself.</p>
        <p><a href=${elsewhere} target="_blank" rel="noopener noreferrer">No window? Open it here</a>.</p><//
      >`
    }
    <button type="submit" class="button primary" disabled=${busy}>
      ${busy ? 'Asking the gateway…' : by === 'key' ? 'Sign in' : 'Continue to the provider'}
    </button>
  </form>`
}

/**
 * The key is in the field until then, not in the state of the form, which may stay in memory after a
 * sign-out.
 *
 * @param {HTMLFormElement} form
 * @param {string} space
 */
async function signInWithKey(form, space) {
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('key'))
  const key = field.value.trim()
  // Another character would not even be sent, and without any, the session would be asked.
  if (!/^[!-~]+$/.test(key)) throw new Refused(NO_KEY)
  const who = await identified(key, space)
  field.value = ''
  signIn(who, key)
}

const NO_KEY = {
  status: -1,
  code: 'input_invalid',
  title: 'This is no API key',
  detail: 'A key has letters and digits after sk_, and nothing else. Copy it again.',
}

/**
 * @param {string} tenant
 * @param {string} space
 * @param {boolean} inWindow the page stays, and the provider opens in a window of its own
 * @returns {Promise<string>} the address of that window; '' without one
 */
async function openProvider(tenant, space, inWindow) {
  // A window that opens only after an answer is one that browsers block.
  const other = inWindow ? window.open('about:blank', '_blank') : null
  try {
    const body = { tenant, return_to: inWindow ? hrefOf(['signed-in']) : returnPath() }
    const { authorization_url: url } = await callSignIn('POST', '/auth/oidc/login', body)
    const to = elsewhereOf(url) ?? url
    if (!inWindow) {
      remember({ by: 'session', tenant, space })
      location.assign(to)
      return ''
    }
    if (other !== null) {
      // Pages of the provider have no business with this one.
      other.opener = null
      other.location.href = to
    }
    return to
  } catch (cause) {
    other?.close()
    throw cause
  }
}

/**
 * Continues once the window of the provider tells that the sign-in is done.
 *
 * @param {string} elsewhere '' without a window
 * @param {string} space
 * @param {(() => void) | undefined} again
 * @param {(refusal: Refused) => void} onRefused
 */
function useSignInElsewhere(elsewhere, space, again, onRefused) {
  useEffect(() => {
    if (elsewhere === '') return
    const channel = new BroadcastChannel(CHANNEL)
    channel.onmessage = () => {
      identified('', space).then(
        (who) => {
          signIn(who)
          again?.()
        },
        (cause) => onRefused(refusalOf(cause)),
      )
    }
    return () => channel.close()
  }, [elsewhere])
}

/** This page, as the gateway accepts it: not every address that a user may type. */
function returnPath() {
  const escaped = (/** @type {string} */ character) => `%${character.charCodeAt(0).toString(16)}`
  const path = location.pathname + location.search.replace(/[\^`{|}]/g, escaped)
  return path.length <= MAX_RETURN_PATH ? path : location.pathname
}

/** Characters. */
const MAX_RETURN_PATH = 2048

/**
 * The cookies of a sign-in belong to the host of its redirect URI: opened under another name, the console
 * goes there first.
 *
 * @param {string} authorizationUrl
 * @returns {string | null} null: the console is there already
 */
function elsewhereOf(authorizationUrl) {
  const redirect = URL.parse(URL.parse(authorizationUrl)?.searchParams.get('redirect_uri') ?? '')
  if (redirect === null || redirect.origin === location.origin) return null
  return redirect.origin + location.pathname + location.search
}
