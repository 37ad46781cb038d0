/** A revocation in words. */

/** @typedef {import('./answers.d.ts').Revocation} Answered */
/** @typedef {import('./answers.d.ts').CreatedRevocation} Revocation just made, or a preview */

/** @param {import('./answers.d.ts').RevocationSubject} subject @returns {string} as lists take it, such as `user:alice` */
export function subjectText(subject) {
  const [[kind = '', value] = []] = Object.entries(subject)
  return kind === 'tenant' ? kind : `${kind}:${value}`
}

/**
 * What the gateway cannot reach, by its name in the answer. A version after this one may name more.
 *
 * @type {Readonly<Record<string, string>>}
 */
const UNREACHED = {
  signed_identity: 'signed identity that upstreams have received before',
  decision_listener: 'connections that another proxy has opened after a decision of this gateway',
  forwarded_authorization: 'what upstreams do with the Authorization that they were sent',
}

/** @param {string} what */
export function unreachedText(what) {
  return Object.hasOwn(UNREACHED, what) ? UNREACHED[what] : what.replaceAll('_', ' ')
}

/** @typedef {Revocation['instances'][number]} Reached */

/**
 * How an instance was reached.
 *
 * @param {Pick<Reached, 'how' | 'cut'>} instance
 */
export function howText({ how, cut }) {
  if (how === null) return 'not answered yet'
  if (how === 'lease_ended') return 'does not answer, and its lease has ended'
  return cut === null
    ? 'has not said what it cut: it is slow, or of an older version, which may accept what is void'
    : 'decides by it'
}

/**
 * Whether something may still be open at an instance.
 *
 * @param {Pick<Reached, 'how' | 'cut'>} instance of a revocation, not of a preview
 */
export function isLeft({ how, cut }) {
  return how !== 'acknowledged' || cut === null
}

const ENDED = /** @type {const} */ ([
  ['sessions', 'session'],
  ['api_keys', 'API key'],
  ['websockets', 'WebSocket'],
  ['streams', 'stream'],
  ['requests', 'request under way', 'requests under way'],
])

/**
 * What has ended, or would end.
 *
 * @param {Revocation['ended']} ended
 * @returns {{ count: number, one: string, many: string }[]} without what there is none of
 */
export function endedOf(ended) {
  return ENDED.map(([name, one, many = `${one}s`]) => ({ count: ended[name], one, many })).filter(
    ({ count }) => count > 0,
  )
}

/** @param {Pick<Revocation, 'what'>} revocation */
export function scopeText({ what }) {
  if (what === 'tokens') return 'tokens that were issued before'
  return what === 'existing' ? 'what was issued before' : 'what was issued before, and a block'
}
