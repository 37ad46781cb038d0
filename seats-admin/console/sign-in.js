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
  const [before] = useState(remembered)
  const [resuming, setResuming] = useState(before?.by === 'session' && !before.isOver)
  const [refusal, setRefusal] = useState(/** @type {Refused | null} */ (null))
  useEffect(() => {
    document.title = 'Sign in · Seatgate'
    if (before === null || !resuming) return
    identified('', before.space, before)
      .then(signIn, (cause) => {
        const refused = refusalOf(cause)
        const isOver = refused.status === 401
        if (isOver) leave()
        // That a session has ended is no news to a tab that had none.
        if (!isOver || before.isOfTab) setRefusal(refused)
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
            by=${before?.by}
            tenant=${before?.tenant}
            space=${before?.by === 'session' ? before.space : ''}
            before=${refusal}
          />`
    }
  </main>`
}

/** A 401 in the middle of work: the page below the dialog stays as it is. */
export function SignInDialog() {
  const waiting = signInAgain.value
  if (waiting === null) return null
  const { refusal } = waiting
  const again = () => {
    // What waits is about another tenant, or another space: it is not sent there. The page starts from the
    // beginning.
    const isSame = signedIn.value?.tenant === before?.tenant && signedIn.value?.space === before?.space
    if (isSame) waiting.again()
    else waiting.cancel()
  }
  const { value: before } = signedIn
  return html`<${Dialog} title="Sign in again" onClose=${waiting.cancel}>
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
