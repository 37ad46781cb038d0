/** Signing in: by an API key, or at the identity provider of the tenant. */

import { useEffect, useState } from 'preact/hooks'
import { HOME, hrefOf } from './address.js'
import { leave, remember, remembered, signedIn, signIn } from './credentials.js'
import { Dialog } from './dialogs.js'
import { Field, spaceFault } from './fields.js'
import {
  call,
  callOnce,
  callSignIn,
  OTHER_SESSION,
  otherSession,
  Refused,
  signInAgain,
} from './gateway-calls.js'
import { refusalOf, useAction } from './loading.js'
import { html } from './markup.js'
import { Icon } from './pieces.js'
import { Loading, Notice, Refusal } from './states.js'

/** Windows of the console tell each other that a sign-in at the provider is done. */
const CHANNEL = 'seatgate.console.signed-in'

/**
 * Asks who the credential is, and whether it can do anything in the space: by the first Seat. Callers without the right to list
 * Seats are signed in too.
 *
 * @param {string} key '' for the session cookie
 * @param {string} wanted '' for the admin space of the tenant
 * @param {import('./credentials.js').Remembered} [before] the space is one of its tenant
 * @returns {Promise<import('./credentials.js').SignedIn>} rejects with a Refused, also where a reload would continue in another tenant
 */
async function identified(key, wanted, before) {
  const me = await callSignIn('GET', '/auth/oidc/me', undefined, key)
  const isOther = before !== undefined && before.tenant !== me.tenant
  if (isOther && before.isOfTab) throw otherSession(me)
  const space = wanted === '' || isOther ? me.admin_space : wanted
  await tried(callOnce('GET', '/v1/seats', FIRST, { key, space }))
  const { admin_space: adminSpace, tenant: found, user, email } = me
  return { by: key === '' ? 'session' : 'key', space, adminSpace, tenant: found, user, email }
}

/** This page, as the gateway accepts it: not every address that a user may type. */
function returnPath() {
  const escaped = (/** @type {string} */ character) => `%${character.charCodeAt(0).toString(16)}`
  const path = location.pathname + location.search.replace(/[\^`{|}]/g, escaped)
  return path.length <= MAX_RETURN_PATH ? path : location.pathname
}

/** Characters. */
const MAX_RETURN_PATH = 2048

const FIRST = { query: { limit: '1' } }

/** Rejects with a Refused where the user can do nothing. @param {string} space */
export function trySpace(space) {
  return tried(call('GET', '/v1/seats', { ...FIRST, space }))
}

/** @param {Promise<unknown>} reading of Seats */
async function tried(reading) {
  await reading.catch((cause) => {
    if (refusalOf(cause).code !== 'permission_denied') throw cause
  })
}

/** Continues the session that the browser has a cookie of, where the latest sign-in was one. */
export function SignInPage() {
  const [known] = useState(remembered)
  const [resuming, setResuming] = useState(known?.by === 'session' && !known.isOver)
  const [refusal, setRefusal] = useState(/** @type {Refused | null} */ (null))
  useEffect(() => {
    document.title = 'Sign in · Seatgate'
    if (known === null || !resuming) return
    identified('', known.space, known)
      .then(signIn, (cause) => {
        const refused = refusalOf(cause)
        const isOver = refused.status === 401
        if (isOver) leave()
        // That a session has ended is no news to a tab that had none.
        if (!isOver || known.isOfTab) setRefusal(refused)
      })
      .finally(() => setResuming(false))
  }, [])
  return html`<main class="sign-in">
    <div class="brand"><${Icon} name="gate" />Seatgate</div>
    <h1>Sign in</h1>
    ${
      resuming
        ? html`<${Loading} what="Continuing your session" />`
        : html`<${SignInForm}
            by=${known?.by}
            tenant=${known?.tenant}
            space=${known?.by === 'session' ? known.space : ''}
            before=${refusal}
          />`
    }
  </main>`
}

/** A 401 in the middle of work: the page behind stays as it is. */
export function SignInDialog() {
  const asked = signInAgain.value
  if (asked === null) return null
  const { refusal } = asked
  const again = () => {
    // What waits is about another tenant, or another space: it is not sent there. The page begins anew.
    const isSame = signedIn.value?.tenant === before?.tenant && signedIn.value?.space === before?.space
    if (isSame) asked.again()
    else asked.cancel()
  }
  const { value: before } = signedIn
  return html`<${Dialog} title="Sign in again" onClose=${asked.cancel}>
    <p>
      ${refusal.code === OTHER_SESSION ? null : 'The gateway no longer accepts your sign-in: '}<bdi>${refusal.detail || refusal.title}</bdi>${' '}
      What you typed is kept. In another tenant or space, it is not sent.
    </p>
    <${SignInForm}
      again=${again}
      by=${signedIn.value?.by}
      tenant=${signedIn.value?.tenant}
      space=${signedIn.value?.space}
    />
  <//>`
}

/**
 * @param {object} props
 * @param {() => void} [props.again] a page waits behind the form, for a sign-in that is made by then
 * @param {'key' | 'session'} [props.by]
 * @param {string} [props.tenant]
 * @param {string} [props.space]
 * @param {Refused | null} [props.before] of the session that the browser has
 */
function SignInForm({ again, before = null, ...known }) {
  const [by, setBy] = useState(known.by ?? 'key')
  const [tenant, setTenant] = useState(known.tenant ?? '')
  const [space, setSpace] = useState(known.space ?? '')
  const [elsewhere, setElsewhere] = useState('')

  /** The key is in the field until then, not in the state of the form, which may stay in memory after a sign-out. */
  const withKey = async (/** @type {HTMLFormElement} */ form) => {
    const field = /** @type {HTMLInputElement} */ (form.elements.namedItem('key'))
    const key = field.value.trim()
    // Another character would not even be sent, and without any, the session would be asked.
    if (!/^[!-~]+$/.test(key)) throw new Refused(NO_KEY)
    const who = await identified(key, space)
    field.value = ''
    signIn(who, key)
    again?.()
  }
  const withProvider = async () => {
    // A window that opens only after an answer is one that browsers block.
    const other = again === undefined ? null : window.open('about:blank', '_blank')
    try {
      const returnTo = again === undefined ? returnPath() : hrefOf(['signed-in'])
      const { authorization_url: url } = await callSignIn('POST', '/auth/oidc/login', {
        tenant: tenant.trim(),
        return_to: returnTo,
      })
      const to = elsewhereOf(url) ?? url
      if (again === undefined) {
        remember({ by: 'session', tenant: tenant.trim(), space })
        location.assign(to)
        return
      }
      if (other !== null) {
        // Pages of the provider have no business with this one.
        other.opener = null
        other.location.href = to
      }
      setElsewhere(to)
    } catch (cause) {
      other?.close()
      throw cause
    }
  }
  const { busy, refusal, setRefusal, run } = useAction(
    (/** @type {HTMLFormElement} */ form) => (by === 'key' ? withKey(form) : withProvider()),
    before,
  )
  const submit = (/** @type {SubmitEvent & { currentTarget: HTMLFormElement }} */ event) => {
    event.preventDefault()
    if (!busy && spaceFault(space) === null) void run(event.currentTarget)
  }
  useEffect(() => {
    if (elsewhere === '') return
    const channel = new BroadcastChannel(CHANNEL)
    channel.onmessage = () => {
      identified('', space).then(
        (who) => {
          signIn(who)
          again?.()
        },
        (cause) => setRefusal(refusalOf(cause)),
      )
    }
    return () => channel.close()
  }, [elsewhere])

  return html`<form onSubmit=${submit} class="stack">
    <fieldset class="choice">
      <legend>Sign in with</legend>
      ${[
        ['key', 'API key'],
        ['session', 'Identity provider'],
      ].map(
        ([value, text]) =>
          html`<label key=${value}>
            <input
              type="radio"
              name="by"
              checked=${by === value}
              onChange=${() => setBy(value === 'key' ? 'key' : 'session')}
            />${text}
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

const NO_KEY = {
  status: -1,
  code: 'input_invalid',
  title: 'This is no API key',
  detail: 'A key has letters and digits after sk_, and nothing else. Copy it again.',
}

/** Where a sign-in in a window of its own ends. */
export function SignedInPage() {
  useEffect(() => {
    const channel = new BroadcastChannel(CHANNEL)
    channel.postMessage('done')
    channel.close()
  }, [])
  return html`<main class="sign-in">
    <div class="brand"><${Icon} name="gate" />Seatgate</div>
    <h1>You are signed in</h1>
    <p>
      The window that asked for it continues. You can close this one, or${' '}
      <a href=${HOME}>open the console here</a>.
    </p>
  </main>`
}

/**
 * The cookies of a sign-in belong to the host of its redirect URI: opened under another name, the console goes there first.
 *
 * @param {string} authorizationUrl
 * @returns {string | null} null: the console is there already
 */
function elsewhereOf(authorizationUrl) {
  const redirect = URL.parse(URL.parse(authorizationUrl)?.searchParams.get('redirect_uri') ?? '')
  if (redirect === null || redirect.origin === location.origin) return null
  return redirect.origin + location.pathname + location.search
}
