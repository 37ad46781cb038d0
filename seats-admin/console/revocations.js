/** Revocations: their requests to the gateway. */

import { call } from './gateway-calls.js'
import { subjectText } from './revocation-texts.js'

/** @typedef {import('./answers.d.ts').CreatedRevocation} CreatedRevocation */
/** @typedef {import('./answers.d.ts').Revocation} Revocation */
/** @typedef {import('./answers.d.ts').RevocationSubject} Subject */

/**
 * @typedef {object} Order what a form asks for
 * @property {Subject} subject
 * @property {CreatedRevocation['what']} what
 * @property {string} [until]
 * @property {string} [reason]
 */

/**
 * What would end. Nothing is changed.
 *
 * @param {Order} order
 * @param {AbortSignal} [signal]
 * @returns {Promise<CreatedRevocation>} rejects with a Refused
 */
export function preview(order, signal) {
  return call('POST', '/v1/revocations', { body: { ...order, dry_run: true }, signal })
}

/**
 * @param {Order} order
 * @returns {Promise<CreatedRevocation>} rejects with a Refused
 */
export function revoke(order) {
  return call('POST', '/v1/revocations', { body: order })
}

/**
 * @param {Subject} subject
 * @param {AbortSignal} [signal]
 * @returns {Promise<Revocation[]>} the newest ones of the subject, the newest first; rejects with a Refused
 */
export async function newestOf(subject, signal) {
  const query = { subject: subjectText(subject) }
  const { data } = await call('GET', '/v1/revocations', { query, signal })
  return data
}

/**
 * The revocations of a subject before another one is sent: if its answer is lost, it is known by its id.
 *
 * @param {Subject} subject
 * @returns {Promise<ReadonlySet<string> | null>} their ids; null: the caller may not list them
 */
export async function idsBefore(subject) {
  const newest = await newestOf(subject).catch(() => null)
  return newest && new Set(newest.map(({ id }) => id))
}
