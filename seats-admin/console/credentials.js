/**
 * Who uses the console. An API key is in the memory of this module alone: never in storage, a cookie, an address or the log. A
 * session of the tenant's provider is a cookie that no script can read.
 */

import { signal } from '@preact/signals'

/**
 * @typedef {object} SignedIn
 * @property {'key' | 'session'} by
 * @property {string} space of the requests
 * @property {string} tenant
 * @property {string} user the `sub`, or the id of the API key
 * @property {string | null} email
 */

/** Of a session: the next page of the console asks in the same space. Nothing secret. */
const REMEMBERED = 'seatgate.console'

/** @type {import('@preact/signals').Signal<SignedIn | null>} */
export const signedIn = signal(null)

let key = ''

/** @param {SignedIn} who @param {string} [text] of the API key */
export function signIn(who, text = '') {
  key = text
  remember(who.by === 'session' ? { tenant: who.tenant, space: who.space } : null)
  signedIn.value = who
}

/** @param {string} space */
export function useSpace(space) {
  if (signedIn.value !== null) signIn({ ...signedIn.value, space }, key)
}

export function forget() {
  key = ''
  remember(null)
  signedIn.value = null
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
