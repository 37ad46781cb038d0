/** Signing in: by an API key, or at the identity provider of the tenant. */

import { useEffect, useState } from 'preact/hooks'
import { HOME } from './address.js'
import { leave, remembered, signedIn, signIn } from './credentials.js'
import { Dialog } from './dialogs.js'
import { OTHER_SESSION, signInAgain } from './gateway-calls.js'
import { identified } from './identity.js'
import { refusalOf } from './loading.js'
import { html } from './markup.js'
import { Icon } from './pieces.js'
import { CHANNEL, SignInForm } from './sign-in-form.js'
import { Loading } from './states.js'

/** @typedef {import('./gateway-calls.js').Refused} Refused */

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
