/**
 * Who uses the console. An API key is in the memory of this module alone: never in storage, a cookie, an
 * address or the log. A session of the tenant's provider is a cookie that no script can read.
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
 * @property {boolean} byGroups SCIM groups give the users of the tenant their Seats
 * @property {boolean} readsGroups the user may read the SCIM groups of the tenant, which has some
 * @property {boolean} readsTables the user may read the route tables, which are in the store
 *
 * @typedef {Pick<SignedIn, 'readsGroups' | 'readsTables'>} Reads what can be read in a space
 */

/**
 * The latest sign-in, of this tab and for new ones: nothing secret.
 *
 * @typedef {object} Remembered
 * @property {'key' | 'session'} by
 * @property {string} tenant of the latest session; '': there was none
 * @property {string} space likewise
 * @property {boolean} isOver the user has left it in this tab, or it was refused
 * @property {boolean} isOfTab not of another tab
 */

const REMEMBERED = 'seatgate.console'

/** All tabs share the session cookie: each tells the others when it may have changed. */
const sessions = new BroadcastChannel('seatgate.console.session')

/** @type {import('@preact/signals').Signal<SignedIn | null>} */
export const signedIn = signal(null)

let key = ''

/**
 * @param {SignedIn} who
 * @param {string} [text] of the API key
 */
export function signIn(who, text = '') {
  key = text
  remember(who)
  signedIn.value = who
  if (who.by === 'session') sessions.postMessage('changed')
}

/** @param {() => void} listener is called when another tab has changed the session */
export function onSessionChanged(listener) {
  sessions.onmessage = listener
}

/**
 * @param {string} space
 * @param {Reads} reads
 */
export function useSpace(space, reads) {
  if (signedIn.value !== null) signIn({ ...signedIn.value, space, ...reads }, key)
}

export function forget() {
  const wasSession = signedIn.value?.by === 'session'
  key = ''
  leave()
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

/**
 * What is typed may become part of an address, of the log or of the audit, where no key may be.
 *
 * @param {string} text
 */
export function hasKey(text) {
  return KEY.test(text)
}

/**
 * A reload of this tab continues the session, and so does a new tab.
 *
 * @param {Pick<Remembered, 'by' | 'tenant' | 'space'>} signIn
 */
export function remember({ by, tenant, space }) {
  const before = remembered()
  const session = by === 'session' ? { tenant, space } : { tenant: before?.tenant, space: before?.space }
  const text = JSON.stringify({ by, ...session })
  write(() => sessionStorage, text)
  write(() => localStorage, text)
}

/** This tab does not continue the session. Others do, where there is one. */
export function leave() {
  const before = remembered()
  if (before !== null) write(() => sessionStorage, JSON.stringify({ ...before, isOver: true }))
}

/**
 * @param {() => Storage} storage
 * @param {string} text
 */
function write(storage, text) {
  try {
    storage().setItem(REMEMBERED, text)
  } catch {
    // The browser may forbid storage: then it is asked for again.
  }
}

/** @returns {Remembered | null} */
export function remembered() {
  try {
    const own = sessionStorage.getItem(REMEMBERED)
    const { by, tenant = '', space = '', isOver } = JSON.parse(own ?? localStorage.getItem(REMEMBERED) ?? '')
    if ((by !== 'key' && by !== 'session') || typeof tenant !== 'string' || typeof space !== 'string')
      return null
    return { by, tenant, space, isOver: isOver === true, isOfTab: own !== null }
  } catch {
    return null
  }
}
