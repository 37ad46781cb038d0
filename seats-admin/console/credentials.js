/**
 * Who uses the console. An API key is in the memory of this module alone: never in storage, a cookie, an address or the log. A
 * session of the tenant's provider is a cookie that no script can read.
 */

import { signal } from '@preact/signals'

/**
 * @typedef {object} SignedIn
 * @property {'key' | 'session'} by
 * @property {string} space of the requests
 * @property {string} adminSpace of the tenant
 * @property {string} tenant
 * @property {string} user the `sub`, or the id of the API key
 * @property {string | null} email
 */

/** Of a session: the next page of the console asks in the same space. Nothing secret. */
const REMEMBERED = 'seatgate.console'

/** The session cookie is that of all tabs: each tells the others when it may have changed. */
const sessions = new BroadcastChannel('seatgate.console.session')

/** @type {import('@preact/signals').Signal<SignedIn | null>} */
export const signedIn = signal(null)

let key = ''

/** @param {SignedIn} who @param {string} [text] of the API key */
export function signIn(who, text = '') {
  key = text
  remember(who.by === 'session' ? { tenant: who.tenant, space: who.space } : null)
  signedIn.value = who
  if (who.by === 'session') sessions.postMessage('changed')
}

/** @param {() => void} listener is called when another tab has changed the session */
export function onSessionChanged(listener) {
  sessions.onmessage = listener
}

/** @param {string} space */
export function useSpace(space) {
  if (signedIn.value !== null) signIn({ ...signedIn.value, space }, key)
}

export function forget() {
  const wasSession = signedIn.value?.by === 'session'
  key = ''
  remember(null)
  signedIn.value = null
  if (wasSession) sessions.postMessage('changed')
}

/**
 * A credential that is not the user's yet, at sign-in.
 *
 * @typedef {object} Credential
 * @property {string} key '' for the session cookie
 * @property {string} space
 */

/** @returns {Credential} of the user */
export function credential() {
  return { key, space: signedIn.value?.space ?? '' }
}

/** The text of an API key, alone or within other text. */
const KEY = /\bsk_[0-9A-Za-z]{40,}/

/** What is typed may become part of an address, of the log or of the audit, where no key may be. @param {string} text */
export function hasKey(text) {
  return KEY.test(text)
}

/** @param {{ tenant: string, space: string } | null} what */
export function remember(what) {
  try {
    if (what === null) sessionStorage.removeItem(REMEMBERED)
    else sessionStorage.setItem(REMEMBERED, JSON.stringify(what))
  } catch {
    // The browser may forbid storage: then the space is asked for again.
  }
}

/** @returns {{ tenant: string, space: string } | null} */
export function remembered() {
  try {
    const { tenant, space } = JSON.parse(sessionStorage.getItem(REMEMBERED) ?? 'null') ?? {}
    return typeof tenant === 'string' && typeof space === 'string' ? { tenant, space } : null
  } catch {
    return null
  }
}
