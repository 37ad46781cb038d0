/** What surrounds every page: navigation, who is signed in, and the sign-in that a 401 brings back. */

import { useErrorBoundary, useState } from 'preact/hooks'
import { address, hrefOf, opened } from './address.js'
import { forget, signedIn, useSpace } from './credentials.js'
import { Dialog } from './dialogs.js'
import { Field, spaceFault } from './fields.js'
import { signOut } from './gateway-calls.js'
import { trySpace } from './identity.js'
import { refusalOf, useAction } from './loading.js'
import { html } from './markup.js'
import { PAGES } from './pages.js'
import { Icon, Name } from './pieces.js'
import { SignedInPage, SignInDialog, SignInPage } from './sign-in.js'
import { Empty, PageHeading, Refusal } from './states.js'

export function Console() {
  const [farewell, setFarewell] = useState(/** @type {{ url: string | null } | null} */ (null))
  const { segments } = address.value
  if (segments[0] === 'signed-in') return html`<${SignedInPage} />`
  if (signedIn.value === null)
    return html`<${SignInPage} />${farewell && html`<${Farewell} url=${farewell.url} />`}`
  return html`<${Frame} onLeave=${setFarewell} /><${SignInDialog} />`
}

/** @param {{ url: string | null }} props where the provider ends its own session */
function Farewell({ url }) {
  return html`<p class="farewell" role="status">
    You have signed out.${' '}
    ${url && html`Your session at the provider is still there: <a href=${url} rel="noreferrer">sign out there too</a>.`}
  </p>`
}

/** @param {{ onLeave: (farewell: { url: string | null }) => void }} props */
function Frame({ onLeave }) {
  const { segments } = address.value
  const [first = '', ...rest] = segments
  const page = PAGES.find(({ name }) => name === first)
  const View = page?.viewOf(rest) ?? NotFound
  const { value: user } = signedIn
  // Another page, or the same page in another space, starts from the beginning; a filter does not.
  const key = [user?.tenant, user?.space, ...segments, address.value.query.get('sub') ?? ''].join(' ')
  return html`
    <a class="skip" href="#content" onClick=${skip}>Skip to the content</a>
    <header class="top">
      <a class="brand" href=${hrefOf([])}><${Icon} name="gate" />Seatgate</a>
      <${Account} onLeave=${onLeave} />
    </header>
    <nav class="pages" aria-label="Pages">
      ${PAGES.filter(({ isListed }) => user === null || (isListed?.(user) ?? true)).map(
        ({ name, text, icon }) =>
          html`<a
            href=${hrefOf(name === '' ? [] : [name])}
            key=${name}
            aria-current=${name === first ? 'page' : undefined}
          >
            <${Icon} name=${icon} />${text}
          </a>`,
      )}
    </nav>
    <main id="content" tabindex="-1">
      <${Guarded} key=${`${key} ${opened.value}`} view=${View} rest=${rest} />
    </main>
  `
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault()
  document.querySelector('main')?.focus()
}

/**
 * A page that fails says so, and the others go on.
 *
 * @param {{ view: (props: { rest: string[] }) => any, rest: string[] }} props
 */
function Guarded({ view: View, rest }) {
  const [fault, again] = useErrorBoundary()
  if (fault)
    return html`<${PageHeading} title="This page failed" /><${Refusal}
        refusal=${refusalOf(fault)}
        again=${again}
      />`
  return html`<${View} rest=${rest} />`
}

function NotFound() {
  return html`<${PageHeading} title="No such page" />
    <${Empty}
      ><p>The console has no page at this address. <a href=${hrefOf([])}>Go to the overview</a>.</p><//
    >`
}

/** @param {{ onLeave: (farewell: { url: string | null }) => void }} props */
function Account({ onLeave }) {
  const [changing, setChanging] = useState(false)
  const { busy, refusal, setRefusal, run: leave } = useAction(async () => onLeave({ url: await signOut() }))
  const { value: user } = signedIn
  if (user === null) return null
  return html`<div class="account">
    <button type="button" class="button" onClick=${() => setChanging(true)} title=${user.email ?? user.user}>
      ${user.tenant && html`<${Name} of=${user.tenant} /> / `}<b><${Name} of=${user.space} /></b
      ><span class="unseen">: change the space</span>
    </button>
    <button type="button" class="button" disabled=${busy} onClick=${leave}>
      <${Icon} name="out" />Sign out
    </button>
    ${changing && html`<${SpaceDialog} now=${user.space} onClose=${() => setChanging(false)} />`}
    ${
      refusal &&
      html`<${Dialog} title="Not signed out" onClose=${() => setRefusal(null)}
        ><${Refusal} refusal=${refusal} again=${leave}
      /><//>`
    }
  </div>`
}

/** @param {{ now: string, onClose: () => void }} props */
function SpaceDialog({ now, onClose }) {
  const [space, setSpace] = useState(now)
  const { busy, refusal, run } = useAction(async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    if (spaceFault(space) !== null) return
    const reads = await trySpace(space)
    onClose()
    useSpace(space, reads)
  })
  return html`<${Dialog} title="Change the space" onClose=${onClose} busy=${busy}>
    <form onSubmit=${run} class="stack">
      <${Field}
        label="Space"
        value=${space}
        onInput=${setSpace}
        required
        focus
        fault=${spaceFault(space)}
        hint="Every page then shows what you may see and do in that space."
      />
      ${refusal && html`<${Refusal} refusal=${refusal} />`}
      <div class="buttons">
        <button type="button" class="button" disabled=${busy} onClick=${forget}>
          Sign in otherwise in this tab
        </button>
        <button type="button" class="button" disabled=${busy} onClick=${onClose}>Cancel</button>
        <button type="submit" class="button primary" disabled=${busy}>Change</button>
      </div>
    </form>
  <//>`
}
