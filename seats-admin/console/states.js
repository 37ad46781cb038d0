/** The states of a page that are not its content, in words: loading, empty, refused, failed. */

import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { opened } from './address.js'
import { signedIn } from './credentials.js'
import { html } from './markup.js'
import { mayPass } from './loading.js'
import { Icon, Time } from './pieces.js'
import { namesSpaces, placeText, toYou } from './wording.js'

/** The heading takes the focus when its page is opened, so that a screen reader says where one is. */
export function PageHeading(
  /** @type {{ title: string, children?: any, back?: { href: string, text: string } }} */ props,
) {
  const { title, children, back } = props
  const heading = useRef(/** @type {HTMLElement | null} */ (null))
  useEffect(() => {
    document.title = `${title} · Seatgate`
  }, [title])
  // Before the first field of the page takes it, and before the user does.
  useLayoutEffect(() => {
    if (opened.peek() > 0) heading.current?.focus({ preventScroll: true })
  }, [])
  return html`<div class="page-heading">
    ${back && html`<a class="back" href=${back.href}><${Icon} name="back" />${back.text}</a>`}
    <div class="title-row">
      <h1 ref=${heading} tabindex="-1"><bdi>${title}</bdi></h1>
      <div class="actions">${children}</div>
    </div>
  </div>`
}

export function Loading(/** @type {{ what?: string }} */ { what = 'Loading' }) {
  return html`<p class="loading" role="status">${what}…</p>`
}

export function Empty(/** @type {{ children?: any }} */ { children }) {
  return html`<div class="empty">${children}</div>`
}

/**
 * A refusal or a failure: what happened, why, and the id by which the log has the request.
 *
 * @param {{ refusal: import('./gateway-calls.js').Refused, again?: () => void, what?: string }} props
 */
export function Refusal({ refusal, again, what }) {
  const { code, requestId, errors, isInDoubt } = refusal
  const detail = errors.length > 0 && code === 'input_invalid' ? '' : toYou(refusal.detail)
  const lacksRight = code === 'permission_denied' || code === 'no_seat_in_space'
  return html`<div class=${`notice ${lacksRight ? '' : 'refusal'}`} role="alert">
    <${Icon} name="warning" />
    <div>
      <p class="strong">${what ? `${what}: ` : ''}${headlineOf(refusal)}</p>
      ${detail && html`<p><bdi>${detail}</bdi></p>`} ${lacksRight && html`<${InSpace} detail=${detail} />`}
      ${isInDoubt && html`<p>The change may have been made: look at the current state before you repeat it.</p>`}
      ${
        errors.length > 0 &&
        html`<ul>
          ${errors.map(
            ({ path, message }) =>
              html`<li key=${path + message}>
                ${
                  path &&
                  html`<b><bdi>${placeText(path, refusal.sent)}</bdi></b
                    >: `
                }<bdi>${message}</bdi>
              </li>`,
          )}
        </ul>`
      }
      <p class="quiet">
        <code>${code}</code
        >${errors.map(({ path }) => path && html` · <code>${path}</code>`)}${requestId && html` · request <code>${requestId}</code>`}
      </p>
      ${
        again &&
        html`<button type="button" class="button" onClick=${again}>
          ${mayPass(refusal) ? 'Try again' : 'Ask again'}
        </button>`
      }
    </div>
  </div>`
}

/** Where it was asked, and where it may be allowed. @param {{ detail: string }} props */
function InSpace({ detail }) {
  const { value: user } = signedIn
  if (user === null) return null
  const isNamed = namesSpaces(detail)
  const isAdmin = user.space === user.adminSpace
  return html`<p>
    You ask in the space <b><bdi>${user.space}</bdi></b
    >${isAdmin ? ', the admin space' : ''}.${' '}
    ${isNamed ? '' : 'The gateway names no other space in which you have this right. '}
    ${isNamed || !isAdmin ? 'The button at the top right changes the space.' : 'An administrator of the tenant can give it to one of your Seats; if you manage another space, the button at the top right changes to it.'}
  </p>`
}

/** @param {import('./gateway-calls.js').Refused} refusal */
function headlineOf({ status, title, isInDoubt }) {
  if (status === 403) return `Refused. ${title}`
  if (status === 503 && !isInDoubt) return `${title}. Nothing was changed`
  return title
}

/** @param {{ kind?: 'warning' | 'done', title?: string, children?: any }} props */
export function Notice({ kind = 'warning', title, children }) {
  return html`<div class=${`notice ${kind}`} role="status">
    <${Icon} name=${kind === 'done' ? 'check' : 'warning'} />
    <div>${title && html`<p class="strong">${title}</p>`}${children}</div>
  </div>`
}

/** @param {{ warnings: readonly import('./answers.d.ts').Warning[] | undefined }} props */
export function Warnings({ warnings = [] }) {
  if (warnings.length === 0) return null
  const title = warnings.length === 1 ? 'The gateway warns' : `${warnings.length} warnings of the gateway`
  return html`<${Notice} title=${title}>
    <ul>
      ${warnings.map(({ path, code, message }) => html`<li key=${path + code}><bdi>${message}</bdi> <code>${code}</code></li>`)}
    </ul>
  <//>`
}

/**
 * The states of something loaded, and its content once there is one.
 *
 * @template T
 * @param {import('./loading.js').Loaded<T>} of
 * @param {string} what
 * @param {(value: T) => any} show
 * @param {boolean} [isOld] a later reading has no answer
 */
export function whenLoaded({ value, at, refusal, again }, what, show, isOld = false) {
  return html`
    ${refusal && html`<${Refusal} refusal=${refusal} again=${again} what=${what} />`}
    ${(refusal || isOld) && value !== null && html`<p class="quiet">What follows was read at <${Time} at=${at} />, and may have changed since.</p>`}
    ${value !== null ? show(value) : refusal ? null : html`<${Loading} what=${`Loading ${what.toLowerCase()}`} />`}
  `
}

/**
 * Below a list: what is missing, and how to get it.
 *
 * @param {object} props
 * @param {import('./loading.js').Listed<any>} props.of
 * @param {string} props.what
 * @param {any} props.none where nothing is shown of it
 * @param {readonly unknown[]} [props.shown] of its items
 */
export function ListEnd({
  of: { items, hasMore, refusal, loading, more, again },
  what,
  none,
  shown = items,
}) {
  if (refusal)
    return html`<${Refusal} refusal=${refusal} again=${items.length > 0 ? more : again} what=${what} />`
  if (loading) return html`<${Loading} what=${`Loading ${what.toLowerCase()}`} />`
  return html`${shown.length === 0 && none}
  ${hasMore && html`<p><button type="button" class="button" onClick=${more}>Show more</button></p>`}`
}
